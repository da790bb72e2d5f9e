"""The batches of the codec benchmark: uncompressed records, read and built by each library.

kwire, kafka-python and aiokafka check the CRC in a step of its own, kio always. aiokafka's batches
are Cython; the others are Python, with the CRC in C where the library has it.
"""

from __future__ import annotations

import importlib
from typing import Any

from codec_contenders import Run
from kwire.batches import Record, build_batch, read_batch

NOW = 1_760_000_000_000
SIZES = (100, 10_000)


def runs() -> dict[str, dict[str, Run]]:
    """By title and name; all of them have read the same values before."""
    return {f"{size:,} records of 100 bytes": _runs(_records(size)) for size in SIZES}


def _records(size: int) -> list[Record]:
    return [
        Record(key=b"key-%04d" % number, value=b"v" * 92, timestamp=NOW + number, offset=number)
        for number in range(size)
    ]


def _runs(records: list[Record]) -> dict[str, Run]:
    data = build_batch(records)
    made = {
        "kwire": Run(decode=(_kwire, (data,)), encode=(build_batch, (records,))),
        "kio": Run(decode=(_attribute("kio.records.readers", "read_batch"), (data, 0))),
        "kafka-python": _kafka("kafka", data, records),
        "aiokafka": _kafka("aiokafka", data, records),
    }
    assert [record.value for record in _kwire(data)] == [record.value for record in records]
    return made


def _kwire(data: bytes) -> list[Record]:
    batch = read_batch(data)
    assert batch is not None
    return list(batch.records())


def _kafka(package: str, data: bytes, records: list[Record]) -> Run:
    """aiokafka's records began as kafka-python's: the same calls."""
    memory = _attribute(f"{package}.record.memory_records", "MemoryRecords")
    builder = _attribute(f"{package}.record.default_records", "DefaultRecordBatchBuilder")

    def decode(data: bytes) -> list[Any]:
        batch = memory(data).next_batch()
        assert batch.validate_crc()
        return list(batch)

    def encode(records: list[Record]) -> bytes:
        made = builder(2, 0, 0, -1, -1, -1, 1 << 21)
        for record in records:
            made.append(record.offset, record.timestamp, record.key, record.value, [])
        return bytes(made.build())

    assert [record.value for record in decode(data)] == [record.value for record in records]
    assert [record.value for record in _kwire(encode(records))] == [r.value for r in records]
    return Run(decode=(decode, (data,)), encode=(encode, (records,)))


def _attribute(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)
