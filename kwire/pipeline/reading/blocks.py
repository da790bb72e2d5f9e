"""Blocks of a capture as rows: what many records share is parsed once, their numbers all at once.

A record begins with what all those of its connection, API and client begin with, and ends in one of
a few ways: both are looked up by their bytes. No encoding in Avro is the beginning of another one,
so that a part stands wherever its bytes do. A block in which anything is odd is left to
`kwire.capture`, which reads it record by record and tells what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
from crc32c import crc32c

from kwire.capture.encoding import read_long
from kwire.capture.reading import Block
from kwire.capture.schema import CONNECTION_FIELDS, CRC_SIZE, EVENT_FIELDS

NUMBERS = ("event", "at", "monotonic_ns", "correlation_id", "size")
"""What every record has for itself; its frame stands behind them."""

PARTS = 4096
"""Beginnings, and endings, that are kept from one batch to the next."""

_ENDING = [field for field in EVENT_FIELDS if field["name"] not in (*NUMBERS, "frame", "crc")]
_LONG = rb"([\x80-\xff]{0,9}[\x00-\x7f])"
_LONG_SIZE = 10
_OWN = re.compile(_LONG * 3 + (rb"(?:\x00|\x02" + _LONG + rb")") * 3)
"""The raw numbers, and that of the frame's bytes; None for null."""


class BlockReader:
    """Reads blocks of the newest version, and gives the rows of many of them at once."""

    def __init__(self, schema: pa.Schema, path: str) -> None:
        self._schema, self._path = schema, path
        self._beginnings, self._endings = _Parts(CONNECTION_FIELDS), _Parts(_ENDING)
        self._rows: list[tuple[int, tuple[bytes | None, ...], bytes | None, int]] = []
        self.size = 0
        """Bytes of the blocks whose rows are waiting."""

    def __len__(self) -> int:
        return len(self._rows)

    def read(self, block: Block) -> bool:
        """Whether every record of the block could be read; if not, none of it was."""
        before = len(self._rows)
        position = 0
        try:
            for _ in range(block.count):
                position = self._record(block.data, position)
            if position != len(block.data):
                raise _OddBlock
        except _OddBlock:
            del self._rows[before:]
            return False
        self.size += len(block.data)
        return True

    def take(self) -> pa.RecordBatch:
        """What was read since the last time."""
        beginnings, own, frames, endings = zip(*self._rows, strict=True)
        numbers = zip(*own, strict=True)
        columns = {name: _longs(raw) for name, raw in zip(NUMBERS, numbers, strict=False)}
        columns["frame"] = pa.array(frames, pa.binary())
        columns["file"] = pa.repeat(self._path, len(self._rows))
        columns |= self._beginnings.take(beginnings, self._schema)
        columns |= self._endings.take(endings, self._schema)
        self._rows, self.size = [], 0
        return pa.RecordBatch.from_arrays(
            [columns[field.name].cast(field.type) for field in self._schema], schema=self._schema
        )

    def _record(self, data: bytes, start: int) -> int:
        """Read the record at `start`, and give where it ends."""
        beginning, position = self._beginnings.find(data, start)
        own = _OWN.match(data, position)
        if own is None:
            raise _OddBlock
        position = own.end()
        frame, raw = None, own.groups()
        if raw[-1] is not None:
            frame = data[position : position + _long(raw[-1])]
            position += len(frame)
        ending, position = self._endings.find(data, position)
        end = position + CRC_SIZE
        if data[position:end] != crc32c(memoryview(data)[start:position]).to_bytes(CRC_SIZE, "big"):
            raise _OddBlock
        self._rows.append((beginning, raw, frame, ending))
        return end


class _OddBlock(Exception):
    """Not what a recorder writes."""


class _Parts:
    """Parts of records by their bytes, each parsed when it is met first."""

    def __init__(self, fields: list[dict[str, Any]]) -> None:
        plain = [{"name": one["name"], "type": one["type"]} for one in fields]
        self._schema = fastavro.parse_schema({"type": "record", "name": "Part", "fields": plain})
        self._names = [str(one["name"]) for one in fields]
        self._clear()

    def _clear(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._sizes: list[int] = []
        self._parsed: list[Any] = []

    def __len__(self) -> int:
        return len(self._parsed)

    def find(self, data: bytes, start: int) -> tuple[int, int]:
        """The number of the part at `start`, and where it ends."""
        for size in self._sizes:
            number = self._numbers.get(data[start : start + size])
            if number is not None:
                return number, start + size
        stream = BytesIO(data)
        stream.seek(start)
        try:
            self._parsed.append(fastavro.schemaless_reader(stream, self._schema, None))
        except Exception as error:  # whatever fastavro makes of bytes that are no part
            raise _OddBlock from error
        number, end = len(self._numbers), stream.tell()
        self._numbers[data[start:end]] = number
        if end - start not in self._sizes:
            self._sizes.append(end - start)
        return number, end

    def take(self, numbers: Sequence[int], schema: pa.Schema) -> dict[str, pa.Array]:
        """The columns of parts with these numbers, which are good for this once."""
        places = pa.array(numbers, pa.int32())
        columns = {
            name: pa.array([one[name] for one in self._parsed], schema.field(name).type).take(
                places
            )
            for name in self._names
        }
        if len(self._parsed) > PARTS:
            self._clear()
        return columns


@lru_cache(maxsize=65536)
def _long(raw: bytes) -> int:
    found = read_long(raw, 0)
    assert found is not None
    return found[0]


def _longs(raw: Sequence[bytes | None]) -> pa.Array:
    """Numbers from Avro's encoding: zigzag, seven bits a byte, the lowest first."""
    padded = b"".join([(one or b"\0").ljust(_LONG_SIZE, b"\0") for one in raw])
    parts = np.frombuffer(padded, np.uint8).reshape(-1, _LONG_SIZE).astype(np.uint64) & 0x7F
    zigzag = np.bitwise_or.reduce(parts << np.arange(0, 70, 7, dtype=np.uint64), axis=1)
    numbers = (zigzag >> np.uint64(1)).astype(np.int64) ^ -(zigzag & 1).astype(np.int64)
    return pa.array(numbers, mask=np.array([one is None for one in raw]))
