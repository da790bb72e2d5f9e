"""Batches with unusual compressed data, and which of them Kafka 4.3.1 refuses.

tests/batches/test_batches_java.py asks Kafka's own classes for that; the others hold kwire to it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from random import Random

from crc32c import crc32c

from kwire.batches import Compression, Record, build_batch
from kwire.batches.compression import _xxh32, compress

_HEADER = 61
_JAVA_BUFFER = 8192


def batch(packed: bytes, compression: Compression, count: int = 3) -> bytes:
    """Return a batch that claims so many records, and has these bytes as them."""
    head = bytearray(build_batch([Record(b"v", offset=number) for number in range(count)]))
    head[8:12] = (_HEADER - 12 + len(packed)).to_bytes(4, "big")
    head[21:23] = compression.to_bytes(2, "big")
    checked = bytes(head[21:_HEADER]) + packed
    return bytes(head[:17]) + crc32c(checked).to_bytes(4, "big") + checked


def records(count: int, size: int = 1) -> bytes:
    """Return records as a batch has them, without its header; their values do not compress."""
    values = Random(size)
    made = [Record(values.randbytes(size), offset=number) for number in range(count)]
    return build_batch(made)[_HEADER:]


def member(data: bytes, *, level: int = 6, flags: int = 0, fields: bytes = b"") -> bytes:
    """Return a gzip member. fields: of the header, as the flags say."""
    deflate = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflate.compress(data) + deflate.flush()
    trailer = struct.pack("<II", zlib.crc32(data), len(data))
    return b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + fields + packed + trailer


THREE = records(3)
GZIP, NOTHING = member(THREE), member(b"")
HEADER_CRC = struct.pack("<H", zlib.crc32(b"\x1f\x8b\x08\x02" + bytes(6)) & 0xFFFF)


def gzip_cases() -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of three records."""
    yield "alone", GZIP
    for size in (1, 8, 18, 19, 26, 27, 40):
        yield f"{size} zeros behind", GZIP + bytes(size)
    for size in range(1, len(NOTHING) + 1):
        yield f"{size} bytes of an empty member behind", GZIP + NOTHING[:size]
    yield "an empty member and zeros behind", GZIP + NOTHING + bytes(30)
    yield "two members", member(THREE[:10]) + member(THREE[10:])
    yield "three members, an empty one", member(THREE[:5]) + NOTHING + member(THREE[5:])
    yield "more records behind", GZIP + member(THREE)
    yield "a wrong header checksum behind", GZIP + member(b"x" * 20, flags=2, fields=b"\1\2")
    yield "a name without end behind", GZIP + member(b"", flags=8, fields=b"a" * 30)[:-10]
    yield "reserved flags behind", GZIP + member(b"", flags=0xE0) + bytes(10)
    yield "another method behind", GZIP + b"\x1f\x8b\x09" + bytes(40)
    yield "a header and zeros behind", GZIP + NOTHING[:10] + bytes(100)
    yield "reserved flags", member(THREE, flags=0xE0)
    yield "extra, name and comment", member(THREE, flags=0x1C, fields=b"\2\0xxname\0comment\0")
    yield "a header checksum", member(THREE, flags=2, fields=HEADER_CRC)
    yield "a wrong header checksum", member(THREE, flags=2, fields=b"\1\2")
    yield "a cut trailer", GZIP[:-1]
    yield "a wrong checksum", GZIP[:-5] + b"\1" + GZIP[-4:]
    yield "a wrong size", GZIP[:-1] + b"\1"
    yield "no bytes", b""


def buffer_cases() -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of one record, of members that end about where Java's buffer does."""
    for before in (-2, 0, 1, 2, 7, 8, 9, 18):
        end = _JAVA_BUFFER - before
        packed = next(
            packed
            for size in range(end - 60, end)
            if len(packed := member(records(1, size), level=0)) == end
        )
        for size in (12, 18, 19, len(NOTHING)):
            yield f"{size} bytes behind {before} before the buffer's end", packed + NOTHING[:size]


def lz4(flags: int, *, size: bytes = b"", checksums: bytes = b"", end: bytes = bytes(4)) -> bytes:
    """Return a frame of one block that is not compressed, with a right descriptor checksum."""
    descriptor = bytes([flags, 0x40]) + size
    block = (len(THREE) | 1 << 31).to_bytes(4, "little") + THREE
    checksum = bytes([_xxh32(descriptor) >> 8 & 0xFF])
    return b"\x04\x22\x4d\x18" + descriptor + checksum + block + checksums + end


NO_BLOCK = (1 << 31).to_bytes(4, "little")
"""The size of a block of no bytes, which are not compressed."""


def lz4_cases() -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of three records."""
    frame, other = (compress(data, Compression.LZ4) for data in (THREE, b"other"))
    yield "alone", frame
    yield "another frame behind", frame + other
    yield "garbage behind", frame + b"garbage"
    yield "two frames", compress(THREE[:9], Compression.LZ4) + compress(THREE[9:], Compression.LZ4)
    yield "no end", frame[:-4]
    yield "half an end", frame[:-2]
    yield "not compressed", lz4(0x60)
    yield "linked blocks", lz4(0x40)
    yield "a wrong content checksum", lz4(0x64, end=bytes(4) + b"\1\2\3\4")
    yield "no content checksum", lz4(0x64)
    yield "half a content checksum", lz4(0x64, end=bytes(4) + b"\1\2")
    yield "a wrong block checksum", lz4(0x70, checksums=b"\1\2\3\4")
    yield "the right size", lz4(0x68, size=len(THREE).to_bytes(8, "little"))
    yield "a wrong size", lz4(0x68, size=(1 << 40).to_bytes(8, "little"))
    yield "a wrong descriptor checksum", frame[:6] + bytes([frame[6] ^ 1]) + frame[7:]
    yield "a reserved flag", lz4(0x62)
    yield "another version", lz4(0xA0)
    yield "an empty frame before", compress(b"", Compression.LZ4) + frame
    yield "an end that is not compressed", lz4(0x60, end=NO_BLOCK)
    yield "an end that is not compressed, and a checksum", lz4(0x64, end=NO_BLOCK + bytes(4))
    yield "no bytes", b""


def snappy_cases() -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of three records."""
    blocks = compress(THREE, Compression.SNAPPY)
    yield "blocks", blocks
    for size in range(1, 6):
        yield f"{size} zeros behind", blocks + bytes(size)
    yield "another header behind", blocks + blocks[:16]
    yield "half a header behind", blocks + blocks[:8]
    yield "a cut block", blocks[:-1]
    yield "no blocks", blocks[:16]
    yield "no bytes", b""


CASES = {
    **{f"gzip: {name}": batch(data, Compression.GZIP) for name, data in gzip_cases()},
    **{f"gzip: {name}": batch(data, Compression.GZIP, 1) for name, data in buffer_cases()},
    **{f"lz4: {name}": batch(data, Compression.LZ4) for name, data in lz4_cases()},
    **{f"snappy: {name}": batch(data, Compression.SNAPPY) for name, data in snappy_cases()},
}

REFUSED = {
    "gzip: 19 bytes of an empty member behind",
    "gzip: more records behind",
    "gzip: a header and zeros behind",
    "gzip: a wrong header checksum",
    "gzip: a cut trailer",
    "gzip: a wrong checksum",
    "gzip: a wrong size",
    "gzip: no bytes",
    "lz4: two frames",
    "lz4: no end",
    "lz4: half an end",
    "lz4: linked blocks",
    "lz4: no content checksum",
    "lz4: half a content checksum",
    "lz4: a wrong block checksum",
    "lz4: a wrong descriptor checksum",
    "lz4: a reserved flag",
    "lz4: another version",
    "lz4: an empty frame before",
    "lz4: no bytes",
    "snappy: 4 zeros behind",
    "snappy: 5 zeros behind",
    "snappy: half a header behind",
    "snappy: a cut block",
    "snappy: no blocks",
    "snappy: no bytes",
    *(
        f"gzip: {size} bytes behind {before} before the buffer's end"
        for size, least in ((12, 1), (18, 7), (19, 18))
        for before in (-2, 0, 1, 2, 7, 8, 9, 18)
        if before <= least
    ),
}
"""The names of those that Kafka does not read to their end."""
