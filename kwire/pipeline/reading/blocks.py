"""Reads blocks of a capture: parts that many records share are parsed once, numbers all at once.

Records of one connection, API and client begin with the same bytes, and all records end in one of a
few ways: both are looked up by their bytes (docs/decisions/0026). That is safe because no encoding
in Avro is the beginning of another one: where the bytes of a part stand, the part stands. A block
with anything unexpected is left to `kwire.capture`, which reads it record by record and reports
what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from crc32c import crc32c

from kwire.capture.avro import BadAvro, read_long, reader
from kwire.capture.reading import Block
from kwire.capture.schema import CONNECTION_FIELDS, CRC_SIZE, EVENT_FIELDS

NUMBERS = ("event", "at", "monotonic_ns", "correlation_id", "size")
"""The fields that every record has for itself; its frame stands behind them."""

PARTS = 4096
"""Parsed beginnings, and endings, that are kept from one batch to the next."""

_ENDING = [field for field in EVENT_FIELDS if field["name"] not in (*NUMBERS, "frame", "crc")]
_LONG = rb"([\x80-\xff]{0,9}[\x00-\x7f])"
_LONG_SIZE = 10
_OWN = re.compile(_LONG * 3 + (rb"(?:\x00|\x02" + _LONG + rb")") * 3)
"""The raw numbers, and that of the frame's bytes; None for null."""


class BlockReader:
    """Reads blocks of the newest version; `take` gives the rows of many of them at once."""

    def __init__(self, schema: pa.Schema, path: str) -> None:
        self._schema, self._path = schema, path
        self._beginnings, self._endings = _Parts(CONNECTION_FIELDS), _Parts(_ENDING)
        self._rows: list[tuple[int, tuple[bytes | None, ...], bytes | None, int]] = []
        self.size = 0
        """Bytes of the blocks whose rows are waiting."""

    def __len__(self) -> int:
        return len(self._rows)

    def read(self, block: Block) -> bool:
        """Read the records of a block; return False, and keep none, if one cannot be read."""
        before = len(self._rows)
        position = 0
        try:
            for _ in range(block.count):
                position = self._record(block.data, position)
            if position != len(block.data):
                raise _OddBlock
        except (_OddBlock, BadAvro, IndexError):
            del self._rows[before:]
            return False
        self.size += len(block.data)
        return True

    def take(self) -> pa.RecordBatch:
        """Return the rows that were read since the last call."""
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
        """Read the record at `start`; return the position of its end."""
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
    """The bytes of a block are not as a recorder writes them."""


class _Parts:
    """Parts of records by their bytes, each parsed when it is met first."""

    def __init__(self, fields: list[dict[str, Any]]) -> None:
        self._read = reader({"type": "record", "fields": fields})
        self._names = [str(field["name"]) for field in fields]
        self._clear()

    def _clear(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._sizes: list[int] = []
        self._parsed: list[Any] = []

    def __len__(self) -> int:
        return len(self._parsed)

    def find(self, data: bytes, start: int) -> tuple[int, int]:
        """Return the number of the part at `start`, and the position of its end."""
        # A length is tried, not read: only parsing would tell where the part ends.
        for size in self._sizes:
            number = self._numbers.get(data[start : start + size])
            if number is not None:
                return number, start + size
        part, end = self._read(data, start)
        self._parsed.append(part)
        number = len(self._numbers)
        self._numbers[data[start:end]] = number
        if end - start not in self._sizes:
            self._sizes.append(end - start)
        return number, end

    def take(self, numbers: Sequence[int], schema: pa.Schema) -> dict[str, pa.Array]:
        """Return the columns of the parts with these numbers; they may be reused afterwards."""
        indices = pa.array(numbers, pa.int32())
        columns = {
            name: pa.array([part[name] for part in self._parsed], schema.field(name).type).take(
                indices
            )
            for name in self._names
        }
        if len(self._parsed) > PARTS:
            self._clear()
        return columns


@lru_cache(maxsize=65536)
def _long(raw: bytes) -> int:
    return read_long(raw, 0)[0]


def _longs(raw: Sequence[bytes | None]) -> pa.Array:
    """Decode numbers from Avro's encoding: zigzag, seven bits a byte, the lowest first."""
    padded = b"".join([(number or b"\0").ljust(_LONG_SIZE, b"\0") for number in raw])
    parts = np.frombuffer(padded, np.uint8).reshape(-1, _LONG_SIZE).astype(np.uint64) & 0x7F
    zigzag = np.bitwise_or.reduce(parts << np.arange(0, 70, 7, dtype=np.uint64), axis=1)
    numbers = (zigzag >> np.uint64(1)).astype(np.int64) ^ -(zigzag & 1).astype(np.int64)
    return pa.array(numbers, mask=np.array([number is None for number in raw]))
