"""Batches that no broker sends: compressed bombs, and headers and records that lie."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import cramjam
from crc32c import crc32c

from kwire.batches.building import build_batch
from kwire.batches.compression import XERIAL, XERIAL_BLOCK, Compression
from kwire.batches.record import Record
from kwire.codec.compiler.runtime import uvarint

BOMB = 1 << 30
"""Bytes that a bomb has when it is unpacked."""
_BODY, _CRC, _COUNT = 61, 17, 57
"""Places in a batch: of its records, its CRC, and their number."""


def resealed(batch: bytes, body: bytes, codec: Compression = Compression.NONE) -> bytes:
    """Return a batch with other bytes in place of its records, and the right length and CRC."""
    rest = batch[21:22] + bytes([codec]) + batch[23:_BODY] + body
    head = batch[:8] + (len(rest) + 9).to_bytes(4, "big") + batch[12:_CRC]
    return head + crc32c(rest).to_bytes(4, "big") + rest


def bomb(codec: Compression) -> bytes:
    """Return a batch with one good record, and zeros behind it as far as BOMB."""
    good = build_batch([Record(b"r0", timestamp=0)])
    return resealed(good, _PACKERS[codec](good[_BODY:]), codec)


def _gzip(start: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    first = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    # A full flush forgets what was before: the same bytes mean the same zeros again and again.
    zeros = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + zeros * (BOMB >> 20) + packer.flush()


def _snappy(start: bytes) -> bytes:
    # Snappy makes nothing smaller than a twentieth; but a block tells its size before its bytes.
    block = uvarint(BOMB) + bytes([len(start) - 1 << 2]) + start
    return XERIAL + bytes.fromhex("0000000100000001") + len(block).to_bytes(4, "big") + block


def _lz4(start: bytes) -> bytes:
    size = XERIAL_BLOCK * 2
    zeros = bytes(cramjam.lz4.compress_block(bytes(size), store_size=False))
    block = len(zeros).to_bytes(4, "little") + zeros
    first = (len(start) | 1 << 31).to_bytes(4, "little") + start
    return bytes.fromhex("04224d18604082") + first + block * (BOMB // size) + bytes(4)


def _zstd(start: bytes) -> bytes:
    # Blocks of RFC 8878: one raw, then runs of one byte, 128 KiB each.
    size = 1 << 17
    first = (len(start) << 3).to_bytes(3, "little") + start
    run = (size << 3 | 2).to_bytes(3, "little") + b"\0"
    end = (0 << 3 | 1).to_bytes(3, "little")
    return bytes.fromhex("28b52ffd0058") + first + run * (BOMB // size) + end


_PACKERS: dict[Compression, Callable[[bytes], bytes]] = {
    Compression.GZIP: _gzip,
    Compression.SNAPPY: _snappy,
    Compression.LZ4: _lz4,
    Compression.ZSTD: _zstd,
}


def _field(place: int, number: int) -> Callable[[bytes], bytes]:
    size = number.to_bytes(4, "big", signed=True)
    return lambda batch: batch[:place] + size + batch[place + 4 :]


def _records(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda batch: resealed(batch, change(batch[_BODY:]))


def _count(batch: bytes) -> bytes:
    return resealed(_field(_COUNT, (1 << 31) - 1)(batch), batch[_BODY:])


LIES: dict[str, Callable[[bytes], bytes]] = {
    "a record that its CRC does not fit": lambda batch: batch[:-2] + b"X" + batch[-1:],
    "the unknown magic 9": lambda batch: batch[:16] + b"\x09" + batch[17:],
    "a batch that is longer than the answer": _field(8, (1 << 31) - 1),
    "a batch of length 0": _field(8, 0),
    "a batch of length -1": _field(8, -1),
    "2,147,483,647 records in a batch of one": _count,
    "a record that is longer than its batch": _records(
        lambda body: uvarint((1 << 32) - 2) + body[1:]
    ),
    "a record of length -1": _records(lambda body: b"\x01" + body[1:]),
    "the unknown codec 7": lambda batch: resealed(batch, batch[_BODY:], 7),  # type: ignore[arg-type]
}
"""Functions that spoil a good batch, by what it then has."""
