"""The reference engine: construct itself, imported when it is first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.errors import DecodeError

if TYPE_CHECKING:
    from kwire.codec.constructs import Record
    from kwire.codec.declaration import MessageType


class Reference:
    """Decodes and encodes one version of one message by interpreting its construct tree."""

    __slots__ = ("cls", "version")

    def __init__(self, cls: MessageType, version: int) -> None:
        self.cls = cls
        self.version = version

    @property
    def message(self) -> str:
        """The name of the message."""
        return self.cls.__name__

    @property
    def struct(self) -> Record:
        """The construct tree."""
        return self.cls.at(self.version)

    def decode(self, data: bytes | bytearray | memoryview, offset: int = 0, /) -> tuple[Any, int]:
        """Return the object at `offset` and the offset behind it."""
        from kwire.codec import interpreter

        return interpreter.decode(self.message, self.version, self.struct, data, offset)

    def encode(self, obj: Any, /) -> bytes:
        """Return the bytes of an object."""
        from kwire.codec import interpreter

        return interpreter.encode(self.message, self.version, self.struct, obj)

    def left_over(self, count: int, end: int) -> DecodeError:
        """Return the error of a message that ends before its bytes do."""
        reason = f"{count} bytes left over"
        return DecodeError(reason, message=self.message, version=self.version, offset=end)
