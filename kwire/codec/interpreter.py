"""Decodes and encodes by interpreting a construct tree, with kwire's errors."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from construct import ConstructError, StreamError

from kwire.codec.constructs import ObjectStruct, Source
from kwire.errors import DecodeError, EncodeError


def decode(
    message: str,
    version: int,
    struct: ObjectStruct,
    data: bytes | bytearray | memoryview,
    offset: int,
) -> tuple[Any, int]:
    """Return the object at `offset` and the offset after it; DecodeError names the field."""
    # construct reads streams: bytes are wrapped once, other buffers copied once.
    stream = Source(data if isinstance(data, bytes) else bytes(memoryview(data)))
    stream.seek(offset)
    try:
        return struct._parsereport(stream, None, ""), stream.tell()
    except ConstructError as error:
        raise DecodeError(
            _reason(error),
            message=message,
            version=version,
            path=_path(error),
            offset=getattr(error, "offset", offset),
        ) from None


def encode(message: str, version: int, struct: ObjectStruct, obj: Any) -> bytes:
    """Return the bytes of an object; EncodeError names the field."""
    stream = BytesIO()
    try:
        struct._build(obj, stream, None, "")
    except ConstructError as error:
        raise EncodeError(
            _reason(error), message=message, version=version, path=_path(error)
        ) from None
    # Of the message itself: wrong values of fields have become errors with their path before.
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        reason = f"{type(obj).__name__} is no valid message: {error}"
        raise EncodeError(reason, message=message, version=version) from None
    return stream.getvalue()


def _path(error: ConstructError) -> str:
    path: str = error.path or ""
    return path.removeprefix(" -> ").replace(" -> ", ".")


def _reason(error: ConstructError) -> str:
    """Return the reason; construct puts the path on a line of its own before it."""
    if isinstance(error, StreamError):
        return "the bytes end inside this field"
    return str(error).rpartition("\n")[2]
