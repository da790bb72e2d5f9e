"""Reads captures, damaged ones too: a range that cannot be read is a Damage among the records."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO

from kwire.capture.avro import block_head, reader
from kwire.capture.encoding import BadRecord, RecordDecoder
from kwire.capture.file import hidden
from kwire.capture.record import CaptureRecord
from kwire.capture.schema import (
    HEADER,
    MAGIC,
    SECRETS_KEY,
    SECRETS_SHOWN,
    SYNC_SIZE,
    VERSION,
    VERSION_KEY,
)
from kwire.errors import FileError, InvalidValue
from kwire.text.untrusted import cut_repr

BLOCK_LIMIT = 128 * 1024 * 1024
"""Longest block that is believed to be one, in bytes: a frame may have 100 MiB."""

_HEAD_SIZE = 20
_HEADER_LIMIT = 1024 * 1024
_FIRST_CHUNK, _CHUNK = 4096, 1024 * 1024  # the next marker is near where there are many
_PACKETS = tuple(map(bytes.fromhex, ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a")))
"""Beginnings of pcap, in both orders and with either unit of time, and of pcapng."""


class NewerCapture(FileError):
    """A capture of a newer version: what is in it can be read, but not by this kwire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Bytes of a capture that cannot be read. torn: the file ends there, as after a crash.

    size: 0 where it is not known.
    """

    file: Path | str
    offset: int
    size: int
    reason: str
    torn: bool = False

    def __str__(self) -> str:
        lost = f" ({self.size} bytes are lost)" if self.size else ""
        return f"{self.file}, byte {self.offset}: {self.reason}{lost}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureInfo:
    """The facts of a file's header.

    start: offset of the first block, in bytes. shows_secrets: secrets are not masked.
    """

    version: int
    sync: bytes
    start: int
    shows_secrets: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A whole block: its records are data[0:], `count` of them. offset, end: where it stands."""

    offset: int
    end: int
    count: int
    data: bytes


def captures_at(paths: Iterable[Path]) -> list[Path]:
    """Return the capture files that paths stand for: a directory for all that are whole in it."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(file for file in path.glob("*.avro") if not file.name.startswith("."))
        files += inside if path.is_dir() else [path]
    return files


def capture_info(path: Path) -> CaptureInfo:
    """Return the header of a capture. Raises FileError if it is none, or one of a newer version."""
    with _opened(path) as file:
        return read_info(file, path)


def any_shows_secrets(paths: Iterable[Path]) -> bool:
    """Return True if one of these captures has secrets that are not masked. Raises FileError."""
    return any(capture_info(path).shows_secrets for path in paths)


def read_capture(path: Path) -> Iterator[CaptureRecord | Damage]:
    """Yield every record of a capture in the order of the file, one block in memory at a time.

    Raises FileError where there is no header to read by; all other damage is yielded.
    """
    with _opened(path) as file:
        # Of the file that is open: it may get its name, or be set aside, at this moment.
        yield from read_range(file, path, 0, os.fstat(file.fileno()).st_size)


def _opened(path: Path) -> BinaryIO:
    """Open a capture. Raises InvalidValue if it is still being written."""
    part = hidden(path)
    if part.exists() and not path.exists():
        raise InvalidValue(f"{path} is still being written, or was left over: read {part}")
    return path.open("rb")


def read_range(
    file: BinaryIO, name: Path | str, start: int, stop: int
) -> Iterator[CaptureRecord | Damage]:
    """Yield the records of the blocks that begin in start <= offset < stop, bytes of the file.

    Ranges that follow each other give every record, and every damage, once. Raises as above.
    """
    info = read_info(file, name)
    decoder = RecordDecoder(info.version)
    for block in range_blocks(file, name, info, start, stop):
        if isinstance(block, Damage):
            yield block
        else:
            yield from block_records(block, decoder, name)


def range_blocks(
    file: BinaryIO, name: Path | str, info: CaptureInfo, start: int, stop: int
) -> Iterator[Block | Damage]:
    """Yield the blocks that begin in start <= offset < stop, and what is not whole between them."""
    end = file.seek(0, SEEK_END)
    first: int | None = info.start
    if start > info.start:
        # A block that begins exactly at `start` has its marker in the bytes before; one that began
        # earlier belongs to the range before, as with Spark's splits of Avro files.
        first = _find(file, start - SYNC_SIZE, info.sync, end)
    if first is not None:
        yield from read_blocks(file, name, info.sync, first, min(stop, end), end)


def read_blocks(
    file: BinaryIO, name: Path | str, sync: bytes, offset: int, stop: int, end: int
) -> Iterator[Block | Damage]:
    """Yield the blocks that begin from `offset` to before `stop`, and the damage between them.

    end: bytes of the file.

    1. Read count and size; the block is whole where the sync marker stands after it.
    2. Where it is not, look for the next sync marker: a block begins there.
    3. Where there is none, the file is torn.
    """
    while offset < stop:
        # 1.
        block = _block(file, offset, end, sync)
        if block is not None:
            yield block
            offset = block.end
            continue
        # 2.
        next_block = _find(file, offset, sync, end)
        # 3.
        if next_block is None:
            reason = "the last block is not whole"
            yield Damage(file=name, offset=offset, size=end - offset, reason=reason, torn=True)
            return
        size = next_block - offset
        yield Damage(file=name, offset=offset, size=size, reason="no whole block")
        offset = next_block


def read_info(file: BinaryIO, name: Path | str) -> CaptureInfo:
    """Return the header of a capture, read from its start.

    Raises FileError if it is none, or NewerCapture.
    """
    file.seek(0)
    start = file.read(_HEADER_LIMIT)
    if not start:
        raise FileError("no capture: it is empty", file=name)
    if start.startswith(_PACKETS):
        raise FileError("packets, no capture: `kwire capture import` makes one of them", file=name)
    if not start.startswith(MAGIC):
        raise FileError("no capture: it does not begin as an Avro file does", file=name)
    try:
        header, end = reader(HEADER)(start, 0)
        meta = header["meta"]
        version = int(meta[VERSION_KEY])
        codec = meta.get("avro.codec", b"null").decode()
    except KeyError:
        raise FileError(f"no capture: its header has no {VERSION_KEY}", file=name) from None
    except (ValueError, IndexError) as error:
        raise FileError("the header of the capture is not whole", file=name) from error
    if not 1 <= version <= VERSION:
        reason = f"capture version {version}, this kwire reads 1 to {VERSION}: use a newer kwire"
        raise NewerCapture(reason, file=name)
    if codec != "null":
        raise FileError(f"codec {cut_repr(codec)}: captures are not compressed", file=name)
    return CaptureInfo(
        version=version,
        sync=header["sync"],
        start=end,
        shows_secrets=meta.get(SECRETS_KEY) == SECRETS_SHOWN,
    )


def _block(file: BinaryIO, offset: int, end: int, sync: bytes) -> Block | None:
    file.seek(offset)
    head = file.read(_HEAD_SIZE)
    if (numbers := block_head(head, 0)) is None:
        return None
    count, size, position = numbers
    start = offset + position
    stop = start + size
    # A length that is a lie must not take memory.
    if count < 0 or not 0 <= size <= BLOCK_LIMIT or stop + SYNC_SIZE > end:
        return None
    # The marker first: of a file full of false heads each would have the rest of it read.
    file.seek(stop)
    if file.read(SYNC_SIZE) != sync:
        return None
    file.seek(start)
    return Block(offset=offset, end=stop + SYNC_SIZE, count=count, data=file.read(size))


def _find(file: BinaryIO, offset: int, sync: bytes, end: int) -> int | None:
    """Return the offset after the next sync marker, at which a block begins; None without one.

    end: of the file, as it was: one that is being written has more by now, which is no damage.
    """
    file.seek(offset)
    rest_of_chunk = b""
    size = _FIRST_CHUNK
    while chunk := file.read(max(0, min(size, end - offset - len(rest_of_chunk)))):
        size = min(2 * size, _CHUNK)
        window = rest_of_chunk + chunk
        index = window.find(sync)
        if index >= 0:
            return offset + index + SYNC_SIZE
        # A marker may lie across the edge of two chunks.
        rest_of_chunk = window[-SYNC_SIZE + 1 :]
        offset += len(window) - len(rest_of_chunk)
    return None


def block_records(
    block: Block, decoder: RecordDecoder, name: Path | str
) -> Iterator[CaptureRecord | Damage]:
    """Yield the records of a block, and what of it is none."""
    position = 0
    first = block.end - SYNC_SIZE - len(block.data)
    for _ in range(block.count):
        try:
            record, position = decoder.decode(block.data, position)
        except BadRecord as bad:
            end = len(block.data) if bad.end is None else bad.end
            size = end - position
            yield Damage(file=name, offset=first + position, size=size, reason=str(bad))
            position = end
            if bad.end is None:
                return
        else:
            yield record
    if rest := len(block.data) - position:
        reason = "bytes behind the last record of a block"
        yield Damage(file=name, offset=first + position, size=rest, reason=reason)
