"""The codecs of record batches, framed as Kafka frames them, with a bound on what they unpack to.

cramjam does the compressing, zlib unpacks gzip (`gzip_stream`). Kafka's own are the block framing
of snappy (that of xerial's snappy-java) and the descriptor checksum of lz4, which message format 0
computes over the wrong bytes (KAFKA-3160).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum
from types import ModuleType
from typing import Any, Self

import cramjam

from kwire.batches.gzip_stream import GzipStream
from kwire.errors import BatchError, TooLarge


class Compression(IntEnum):
    """The lowest three bits of a batch's attributes; zstd needs format 2 (KIP-110)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def known(value: int) -> int:
    """Return the Compression of this number, or the number where Kafka does not know it either."""
    return Compression(value) if value <= max(Compression) else value


MOST_MEBIBYTES = 2047
"""MiB of the largest limit: what a batch unpacks to is less than 2 GiB, as Java's arrays are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Bytes that one batch may unpack to.

    size: bytes at the most; ratio: times its compressed size, as soon as it is more than `free`. A
    few hundred equal records compress a thousandfold, so small batches are not held to the ratio.
    advice: what allows more; {} in it becomes a number of MiB. "" where nothing does.
    """

    size: int = 64 * 1024 * 1024
    ratio: int = 100
    free: int = 1024 * 1024
    advice: str = ""

    @classmethod
    def by_size(cls, mebibytes: int, option: str) -> Self:
        """Return the limit of a command: a size, whatever it was before it was compressed.

        option: the command's own, which allows more; "" where none does.
        """
        advice = f"if you trust the sender, {option} {{}} allows more" if option else ""
        return cls(size=mebibytes << 20, free=mebibytes << 20, advice=advice)

    def of(self, compressed: int) -> int:
        """Return the most bytes that `compressed` bytes may become."""
        return min(self.size, max(self.free, self.ratio * compressed))

    def exceeded(self, most: int) -> TooLarge:
        """Return the error of a batch that would become more than it may."""
        allowed = min(MOST_MEBIBYTES, max(1, 2 * most >> 20))
        has_advice = self.advice and allowed << 20 > most
        advice = f"; {self.advice.format(allowed)}" if has_advice else ""
        return TooLarge(f"unpacks to more than {most} bytes{advice}")


LIMIT = Limit()
"""64 MiB and a hundredfold."""

XERIAL = b"\x82SNAPPY\0"
XERIAL_BLOCK = 32 * 1024
"""Bytes before compression in one block of snappy-java."""

LZ4_MAGIC = b"\x04\x22\x4d\x18"
_XERIAL_VERSIONS = struct.pack(">ii", 1, 1)
_XERIAL_HEADER = len(XERIAL) + len(_XERIAL_VERSIONS)
_INT32 = struct.Struct(">i")
_LZ4_INDEPENDENT, _LZ4_BLOCK_CHECKSUM, _LZ4_SIZED, _LZ4_CONTENT_CHECKSUM = 0x20, 0x10, 0x08, 0x04


def compress(data: bytes, compression: Compression, *, magic: int = 2) -> bytes:
    """Return `data` in the frame that a batch of this format carries."""
    match compression:
        case Compression.GZIP:
            return bytes(cramjam.gzip.compress(data))
        case Compression.SNAPPY:
            return _pack_snappy(data)
        case Compression.LZ4:
            return _pack_lz4(data, magic)
        case Compression.ZSTD:
            return bytes(cramjam.zstd.compress(data))
    return data


LIMIT_IN_USE: ContextVar[Limit] = ContextVar("LIMIT_IN_USE", default=LIMIT)
"""The limit where a call gives none. A command that reads trusted batches may set another."""


def decompress(
    data: bytes, compression: int, *, magic: int = 2, limit: Limit | None = None
) -> bytes:
    """Return the unpacked data.

    limit: by default that of `LIMIT_IN_USE`. Raises TooLarge before more than that is made, else
    BatchError.
    """
    limit = limit or LIMIT_IN_USE.get()
    match compression:
        case Compression.NONE:
            return data
        case Compression.GZIP:
            return _unpack_gzip(data, limit)
        case Compression.SNAPPY:
            return _unpack_snappy(data, limit)
        case Compression.LZ4:
            return _unpack(cramjam.lz4, _checked_lz4(data, magic), limit)
        case Compression.ZSTD:
            return _unpack(cramjam.zstd, data, limit)
    raise BatchError(f"compression {compression} is unknown")


def _unpack(codec: ModuleType, data: bytes, limit: Limit) -> bytes:
    """Unpack into anonymous memory of the limit's size; the system allocates only pages in use.

    One byte more than the limit tells output that just fits from output that does not.
    """
    # cramjam has no streaming limit: the size of its output buffer is one. Pages of anonymous
    # memory that nobody writes to cost nothing.
    most = limit.of(len(data))
    with mmap.mmap(-1, most + 1) as room:
        try:
            size: int = codec.decompress_into(data, room)
        except cramjam.DecompressionError as error:
            if "whole buffer" in str(error):
                raise limit.exceeded(most) from None
            raise _corrupt(codec, error) from None
        if size > most:
            raise limit.exceeded(most)
        return room[:size]


def _unpack_gzip(data: bytes, limit: Limit) -> bytes:
    most, size = limit.of(len(data)), 0
    parts: list[bytes] = []
    for part in GzipStream(data).parts():
        size += len(part)
        if size > most:
            raise limit.exceeded(most)
        parts.append(part)
    return b"".join(parts)


def _pack_snappy(data: bytes) -> bytes:
    parts = [XERIAL, _XERIAL_VERSIONS]
    for start in range(0, len(data), XERIAL_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + XERIAL_BLOCK]))
        parts += [_INT32.pack(len(block)), block]
    return b"".join(parts)


def _unpack_snappy(data: bytes, limit: Limit) -> bytes:
    """xerial's blocks, or one bare snappy block, which other clients write and Kafka reads."""
    most = limit.of(len(data))
    blocks = _xerial_blocks(data) if data.startswith(XERIAL) else iter([data])
    parts: list[bytes] = []
    size = 0
    for block in blocks:
        size += _claimed_size(block)
        if size > most:
            raise limit.exceeded(most)
        parts.append(_unpack_block(block))
    return b"".join(parts)


def _xerial_blocks(data: bytes) -> Iterator[bytes]:
    """Yield the blocks after xerial's header; the header may begin again between two of them."""
    position = _XERIAL_HEADER
    while position < len(data):
        if data.startswith(XERIAL, position):
            position += _XERIAL_HEADER
            if position > len(data):
                raise BatchError("snappy: a header is cut off")
            continue
        if position + 4 > len(data):
            return  # fewer bytes than a block's size has: Kafka ignores them
        (size,) = _INT32.unpack_from(data, position)
        position += 4
        if not 0 <= size <= len(data) - position:
            raise BatchError(f"snappy: a block of {size} bytes, {len(data) - position} left")
        yield data[position : position + size]
        position += size


def _claimed_size(block: bytes) -> int:
    """Return the size that a bare snappy block claims, to be checked before memory is allocated."""
    try:
        return int(cramjam.snappy.decompress_raw_len(block))
    except cramjam.DecompressionError as error:
        raise _corrupt(cramjam.snappy, error) from None


def _unpack_block(block: bytes) -> bytes:
    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise _corrupt(cramjam.snappy, error) from None


def _pack_lz4(data: bytes, magic: int) -> bytes:
    """Independent blocks of 64 KiB and no content checksum: the only frames that Kafka reads."""
    packer: Any = cramjam.lz4.Compressor(content_checksum=False, block_linked=False)
    packer.compress(data)
    frame = bytes(packer.finish())
    # Kafka computes the descriptor's checksum of format 0 over the magic bytes too (KAFKA-3160).
    if magic == 0:
        return frame[:6] + _descriptor_checksum(frame[:6]) + frame[7:]
    return frame


def _checked_lz4(data: bytes, magic: int) -> bytes:
    """Return the first frame, as Kafka reads no other, without what Kafka does not check in it.

    Those are the size and the checksum of the content, and in format 0 the descriptor's checksum.
    Raises BatchError.
    """
    if len(data) < 7 or not data.startswith(LZ4_MAGIC):
        raise BatchError("lz4: no frame begins here")
    flags = data[4]
    if not flags & _LZ4_INDEPENDENT:
        raise BatchError("lz4: blocks that depend on each other are not allowed in Kafka")
    end = 14 if flags & _LZ4_SIZED else 6
    if magic and data[end : end + 1] != _descriptor_checksum(data[4:end]):
        raise BatchError("lz4: the checksum of the descriptor is wrong")
    mark = _lz4_end_mark(data, end + 1)
    if flags & _LZ4_CONTENT_CHECKSUM and mark + 8 > len(data):
        raise BatchError("lz4: the checksum of the content is cut off")
    descriptor = bytes([flags & ~(_LZ4_SIZED | _LZ4_CONTENT_CHECKSUM), data[5]])
    head = LZ4_MAGIC + descriptor + _descriptor_checksum(descriptor)
    return head + data[end + 1 : mark] + bytes(4 if mark < len(data) else 0)


def _lz4_end_mark(data: bytes, position: int) -> int:
    """Return where the end mark of a frame is, whose first block is at `position`, or the data end.

    Kafka takes any block without bytes for it, also one that says that it is not compressed.
    """
    flags = data[4]
    while position + 4 <= len(data):
        size = int.from_bytes(data[position : position + 4], "little") & 0x7FFF_FFFF
        if not size:
            return position
        position += 4 + size + (4 if flags & _LZ4_BLOCK_CHECKSUM else 0)
    return len(data)


def _descriptor_checksum(descriptor: bytes) -> bytes:
    return bytes([_xxh32(descriptor) >> 8 & 0xFF])


def _xxh32(data: bytes) -> int:
    """xxHash32 with seed 0 of fewer than 16 bytes, all that a frame descriptor has."""
    value = (0x165667B1 + len(data)) & 0xFFFF_FFFF
    striped_length = len(data) - len(data) % 4
    for (word,) in struct.iter_unpack("<I", data[:striped_length]):
        value = _rotated(value + word * 0xC2B2AE3D, 17) * 0x27D4EB2F & 0xFFFF_FFFF
    for byte in data[striped_length:]:
        value = _rotated(value + byte * 0x165667B1, 11) * 0x9E3779B1 & 0xFFFF_FFFF
    value = (value ^ value >> 15) * 0x85EBCA77 & 0xFFFF_FFFF
    value = (value ^ value >> 13) * 0xC2B2AE3D & 0xFFFF_FFFF
    return value ^ value >> 16


def _rotated(value: int, bits: int) -> int:
    value &= 0xFFFF_FFFF
    return (value << bits | value >> 32 - bits) & 0xFFFF_FFFF


def _corrupt(codec: ModuleType, error: Exception) -> BatchError:
    name = codec.__name__.rpartition(".")[2]
    return BatchError(f"{name}: {str(error).removeprefix(f'{name}: ')}")
