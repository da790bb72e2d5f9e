"""Reads gzip as Java's GZIPInputStream does, whose verdict on what follows a member is its own.

It looks for another member if it has read more bytes than one can have, or not all that there are;
what it then finds is a member if it has a right header, and otherwise ignored.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from kwire.errors import BatchError

_MAGIC = b"\x1f\x8b\x08"
_HEADER = 10
_HEADER_CRC, _EXTRA, _NAME, _COMMENT = 0x02, 0x04, 0x08, 0x10
_TRAILER = struct.Struct("<II")
_IN, _OUT = 1 << 14, 1 << 20
_BUFFER = 8 * 1024
"""Bytes that Kafka has Java read at once (GzipCompression)."""
_LEAST = 26
"""Java looks for another member if it has read more bytes than these, this one's trailer included,
or has not read all (GZIPInputStream.readTrailer)."""


class GzipStream:
    """Members as Java's GZIPInputStream finds them, with the buffer that Kafka gives it.

    _buffered: the end of what Java has read from the batch so far.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = self._buffered = _header_end(data, 0)

    def parts(self) -> Iterator[bytes]:
        """Yield what the members unpack to, 1 MiB at the most at once. Raises BatchError."""
        yield from self._member()
        while self._find_member():
            yield from self._member()

    def _member(self) -> Iterator[bytes]:
        member, view = zlib.decompressobj(-zlib.MAX_WBITS), memoryview(self._data)
        crc = size = 0
        while not member.eof:
            # In pieces: what is behind a member is copied, and there may be thousands of them.
            piece = view[self._position : self._position + _IN]
            try:
                part = member.decompress(piece, _OUT)
            except zlib.error as error:
                raise BatchError(f"gzip: {error}") from None
            if not (piece or part or member.eof):
                raise BatchError("gzip: the data are cut off")
            self._position += len(piece) - len(member.unused_data or member.unconsumed_tail)
            crc, size = zlib.crc32(part, crc), size + len(part)
            yield part
        trailer = self._data[self._position : self._position + _TRAILER.size]
        if trailer != _TRAILER.pack(crc, size & 0xFFFF_FFFF):
            raise BatchError("gzip: the checksum or the size of a member is wrong")

    def _find_member(self) -> bool:
        """Go on to the next member; return False if Java ignores what follows this one."""
        missing = max(0, self._position - self._buffered)
        filled = self._buffered + -(-missing // _BUFFER) * _BUFFER
        self._buffered = min(filled, len(self._data))
        left = self._buffered - self._position
        position = self._position + _TRAILER.size
        if left <= _LEAST and max(self._buffered, position) == len(self._data):
            return False
        try:
            self._position = _header_end(self._data, position)
        except BatchError:
            return False
        self._buffered = max(self._buffered, self._position)
        return True


def _header_end(data: bytes, start: int) -> int:
    """Return the end of a member's header; reserved flags mean nothing. Raises BatchError."""
    flags, end = data[start + 3 : start + 4], start + _HEADER
    is_right = data.startswith(_MAGIC, start) and end <= len(data)
    if is_right and flags[0] & _EXTRA:
        end += 2 + int.from_bytes(data[end : end + 2], "little")
    for text in (_NAME, _COMMENT) if is_right else ():
        if flags[0] & text:
            zero = data.find(0, end)
            is_right, end = is_right and zero >= 0, zero + 1
    if is_right and flags[0] & _HEADER_CRC:
        crc = zlib.crc32(memoryview(data)[start:end]) & 0xFFFF
        is_right = data[end : end + 2] == crc.to_bytes(2, "little")
        end += 2
    if not is_right or end > len(data):
        raise BatchError("gzip: no member begins here")
    return end
