"""The reference engine: construct itself, imported when it is first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.codec.fields import StructClass
from kwire.errors import DecodeError

if TYPE_CHECKING:
    from kwire.codec.constructs import ObjectStruct


class Reference:
    """Decodes and encodes one version of one message by interpreting its construct tree."""

    __slots__ = ("cls", "flexible", "version")

    def __init__(self, cls: StructClass, version: int, flexible: bool) -> None:
        self.cls = cls
        self.version = version
        self.flexible = flexible

    @property
    def message(self) -> str:
        """The name of the message."""
        return self.cls.__name__

    @property
    def struct(self) -> ObjectStruct:
        """The construct tree."""
        return self.cls.struct_at(self.version, self.flexible)

    def decode(self, data: bytes | bytearray | memoryview, offset: int = 0, /) -> tuple[Any, int]:
        """Return the object at `offset` and the offset after it; raise DecodeError."""
        from kwire.codec import interpreter

        return interpreter.decode(self.message, self.version, self.struct, data, offset)

    def encode(self, obj: Any, /) -> bytes:
        """Return the bytes of an object; raise EncodeError."""
        from kwire.codec import interpreter

        return interpreter.encode(self.message, self.version, self.struct, obj)

    def left_over(self, count: int, end: int) -> DecodeError:
        """Return the error of a message that ends before its bytes do."""
        reason = f"{count} bytes left over"
        return DecodeError(reason, message=self.message, version=self.version, offset=end)
