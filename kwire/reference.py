"""The reference engine: construct itself, with kwire's errors."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from construct import ConstructError, StreamError

from kwire.constructs import Record, Source
from kwire.errors import DecodeError, EncodeError


class Reference:
    """Decodes and encodes one version of one message by interpreting its construct tree."""

    __slots__ = ("message", "struct", "version")

    def __init__(self, message: str, version: int, struct: Record) -> None:
        self.message = message
        self.version = version
        self.struct = struct

    def decode(self, data: bytes | bytearray | memoryview, offset: int = 0, /) -> tuple[Any, int]:
        """The object at `offset` and the offset behind it."""
        stream = Source(data if isinstance(data, bytes) else bytes(memoryview(data)))
        stream.seek(offset)
        try:
            return self.struct._parsereport(stream, None, ""), stream.tell()
        except ConstructError as error:
            raise DecodeError(
                _reason(error),
                message=self.message,
                version=self.version,
                path=_path(error),
                offset=getattr(error, "offset", offset),
            ) from None

    def encode(self, obj: Any, /) -> bytes:
        """The bytes of an object."""
        stream = BytesIO()
        try:
            self.struct._build(obj, stream, None, "")
        except ConstructError as error:
            raise EncodeError(
                _reason(error), message=self.message, version=self.version, path=_path(error)
            ) from None
        except (TypeError, AttributeError, ValueError, OverflowError) as error:
            reason = f"{type(obj).__name__} holds what is no message: {error}"
            raise EncodeError(reason, message=self.message, version=self.version) from None
        return stream.getvalue()

    def left_over(self, count: int, end: int) -> DecodeError:
        """The error of a message that ends before its bytes do."""
        reason = f"{count} bytes left over"
        return DecodeError(reason, message=self.message, version=self.version, offset=end)


def _path(error: ConstructError) -> str:
    path: str = error.path or ""
    return path.removeprefix(" -> ").replace(" -> ", ".")


def _reason(error: ConstructError) -> str:
    """construct puts the path on a line of its own before the reason."""
    if isinstance(error, StreamError):
        return "the bytes end inside this field"
    return str(error).rpartition("\n")[2]
