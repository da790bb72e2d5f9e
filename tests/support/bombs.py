"""Short inputs that stand for much: each took seconds or hundreds of megabytes somewhere once."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from crc32c import crc32c

from kwire.batches import Compression, Record, records
from kwire.batches.compression import compress
from kwire.batches.current import CHECKED, LAYOUT


def laughs(levels: int, width: int, leaf: str = "1") -> str:
    """Return a mapping of anchors in which each level is `width` times the one before it."""
    lines = [f"a0: &a0 [{','.join([leaf] * width)}]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * width)}]")
    return "{" + ", ".join(lines) + "}"


RULE_BOMB = laughs(7, 6)
"""A rule of 230 bytes, the class that froze all traffic for 36 s: 6^7 values."""

VALUE_BOMB = laughs(8, 9)
"""355 bytes, the class that took 29 s and 529 MB: 9^8 values."""

YAML_BOMBS = {
    "a rule": RULE_BOMB,
    "a value": VALUE_BOMB,
    "an alias of itself": "&a [*a]",
    "merge keys": "{a: &a {x: 1}, b: &b {<<: [*a, *a]}, c: {<<: [*b, *b]}}",
    "depth": "[" * 4000,
    "depth in blocks": "- " * 4000 + "1",
    "depth of keys": "? " * 4000,
    "values": "[" + "{}," * 120_000 + "]",
    "documents": "--- 1\n" * 1000,
    "a long tag": "!<" + "x" * 8000 + "> a",
    "a prefix of tags": "%TAG ! " + "x" * 8000 + "\n--- !a b",
    "a long anchor": "&" + "x" * 8000 + " [*y]",
    "a long key": "{" + "? " + "k" * 3000 + "\n, ? " + "k" * 3000 + "\n}",
}


def record_bomb(count: int = 149_000) -> bytes:
    """A zstd batch of some 165 bytes that unpacks to 1 MiB: records of the least size, all null."""
    packed = compress(bytes([12, 0, 0, 0, 1, 1, 0]) * count, Compression.ZSTD)
    length = LAYOUT.size - 12 + len(packed)
    header = (0, length, 0, 2, 0, Compression.ZSTD, count - 1, 0, 0, -1, -1, -1, count)
    data = LAYOUT.pack(*header) + packed
    return data[: CHECKED - 4] + struct.pack(">I", crc32c(data[CHECKED:])) + data[CHECKED:]


@dataclass
class ReadRecords:
    """The number of records that were read."""

    count: int = 0


def count_records(monkeypatch: pytest.MonkeyPatch) -> ReadRecords:
    """Count the records of format 2 that are read from now on."""
    counted = ReadRecords()
    real = records.read_records

    def read(*arguments: Any) -> Iterator[Sequence[Record]]:
        for part in real(*arguments):
            counted.count += len(part)
            yield part

    monkeypatch.setattr("kwire.batches.current.read_records", read)
    return counted
