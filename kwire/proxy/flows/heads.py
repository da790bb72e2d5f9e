"""The few bytes of a frame that the data path reads: size, key, version, correlation id, client id.

Produce alone is read further, up to acks: with acks=0 no response will come.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from kwire.errors import KwireError
from kwire.messages.registry import api_key, request

HEAD_LIMIT = 4096
"""Bytes of a frame that may be waited for before its head is judged by what there is."""

SIZE = Struct(">i")
REQUEST = Struct(">ihhi")
WHOLE = Struct(">ihhih")
"""REQUEST and the length of the client id behind it."""

RESPONSE = Struct(">ii")
_SHORT = Struct(">h")
_PRODUCE = api_key("Produce")
_CONTROLLED_SHUTDOWN = api_key("ControlledShutdown")


class More(Exception):
    """The head goes on behind the bytes at hand; `need` counts from the start of the frame."""

    def __init__(self, need: int) -> None:
        super().__init__(need)
        self.need = need


class RestOfHead(NamedTuple):
    """The rest of a request's head, behind its fixed part.

    client_id: cut at HEAD_LIMIT. acks: of a Produce request, None where it could not be reached.
    problem: what is wrong with the head, empty when nothing is.
    """

    client_id: str | None
    acks: int | None = None
    problem: str = ""


def rest_of_head(
    frame: bytes, start: int, stop: int, size: int, key: int, version: int
) -> RestOfHead:
    """Read on behind REQUEST in frame[start:stop]; `size` is what the frame says it is.

    Raises More where bytes are missing that are worth waiting for.
    """
    if key == _CONTROLLED_SHUTDOWN and version == 0:
        return RestOfHead(None)
    reader = _HeadReader(frame, start, stop, size + SIZE.size, REQUEST.size)
    try:
        length = reader.short()
        client_id = reader.text(length) if length >= 0 else None
    except _EndOfFrame as end:
        return RestOfHead(
            None, problem=f"the client id needs {end.need} bytes, the frame has {size}"
        )
    if key != _PRODUCE:
        return RestOfHead(client_id)
    try:
        return RestOfHead(client_id, acks=_acks(reader, version))
    except _EndOfFrame:
        return RestOfHead(client_id)
    except More:  # ask for all at once, so that bytes that come one by one are not read n times
        raise More(min(size + SIZE.size, HEAD_LIMIT)) from None


def _acks(reader: _HeadReader, version: int) -> int:
    if version >= 9:
        for _ in range(reader.varint()):
            reader.varint()
            reader.skip(reader.varint())
        reader.skip(max(reader.varint() - 1, 0))
    elif version >= 3:
        reader.skip(max(reader.short(), 0))
    return reader.short()


def is_request(chunk: bytes, start: int) -> bool:
    """True if the bytes are the head of a request that exists, in a version that exists."""
    _, key, version, _ = REQUEST.unpack_from(chunk, start)
    try:
        return version in request(key).versions
    except KwireError:
        return False


def describe_size(size: int) -> str:
    """Describe a size that no frame can have."""
    first = size.to_bytes(4, "big", signed=True)
    if first[:2] == b"\x16\x03":
        return "a TLS record where the size of a frame should be"
    if first.isalpha() or first == b"GET ":
        return f"text, {first.decode()!r}, where the size of a frame should be"
    return f"a frame of {size} bytes"


class _EndOfFrame(Exception):
    """The frame, or what is read of it, ends before the field does: `need` bytes from its size."""

    def __init__(self, need: int) -> None:
        super().__init__(need)
        self.need = need


class _HeadReader:
    """A position in a frame of `total` bytes, size included, of which start to stop are here."""

    __slots__ = ("_frame", "_position", "_start", "_stop", "_total")

    def __init__(self, frame: bytes, start: int, stop: int, total: int, position: int) -> None:
        self._frame = frame
        self._start = start
        self._stop = stop
        self._total = total
        self._position = start + position

    def short(self) -> int:
        value: int = _SHORT.unpack_from(self._frame, self._take(2))[0]
        return value

    def varint(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte = self._frame[self._take(1)]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        return value

    def text(self, length: int) -> str:
        self._within_frame(length)
        length_read = min(length, HEAD_LIMIT - REQUEST.size - 2)
        begin = self._take(length_read)
        self._position += length - length_read
        return self._frame[begin : begin + length_read].decode("utf-8", "backslashreplace")

    def skip(self, length: int) -> None:
        self._within_frame(length)
        self._position += length

    def _within_frame(self, length: int) -> None:
        need = self._position - self._start + length
        if need > self._total:
            raise _EndOfFrame(need - SIZE.size)

    def _take(self, length: int) -> int:
        begin = self._position
        end = begin + length
        if end > self._stop:
            need = end - self._start
            if need > min(self._total, HEAD_LIMIT):
                raise _EndOfFrame(need - SIZE.size)
            raise More(need)
        self._position = end
        return begin
