"""Attacks on the native engine for records: by bytes of a peer, and by careless callers' objects.

Each function asserts that it and the reference agree: on the records, on the bytes, on the words of
the error. Run plainly by test_attack.py, under sanitizers by tests/support/sanitize.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from random import Random
from typing import Any, TypeVar

import msgspec
import pytest

import vectors
from kwire.batches import Record, RecordBatch, RecordHeader, read_batches, records
from kwire.batches.current import LAYOUT
from kwire.batches.record import RecordReader
from tests.support.codec.native.attack import HOSTILE, mutate
from tests.support.native_extensions import collecting, interfere, needs_extension

with needs_extension():
    from kwire.batches.native import ENGINE as ENGINE

T = TypeVar("T")

RELEASES = ("4.4.0", "3.9.1")
NUMBERS = range(-(1 << 63), 1 << 63)
"""The numbers that the engine takes; a hostile delta leads beyond them."""


def attacks(seed: int, effort: int) -> dict[str, Callable[[], object]]:
    """Return all attacks, by what they do; effort 1 takes about a minute with sanitizers."""
    return {
        "records of Kafka's batches there and back": round_trips,
        "mutants of records accepted, rejected": partial(mutants, seed, each=20 * effort),
        "spoilt records written, refused": partial(spoilt, seed, 5_000 * effort),
        "records collected while read": partial(collected, 20 * effort),
        "records taken away while written": partial(emptied, 5 * effort),
    }


Outcome = list[Record] | str
"""Records, or the error in place of them."""


def read_natively(data: bytes, start: int, count: int, reader: RecordReader) -> Outcome:
    """Return the records by the engine, or by what takes over."""

    def read() -> list[Record]:
        return [*chain.from_iterable(records.read_records(data, start, count, reader))]

    return _outcome(read)


def read_slowly(data: bytes, start: int, count: int, reader: RecordReader) -> Outcome:
    """Return the records by the reference."""
    return _slowly(lambda: read_natively(data, start, count, reader))


def agree_on_bytes(data: bytes, start: int, count: int, reader: RecordReader) -> bool:
    """Compare both ways; return whether they accept. What native rejects it leaves."""
    before = ENGINE.fallbacks
    got = read_natively(data, start, count, reader)
    fell_back = ENGINE.fallbacks != before
    wanted = read_slowly(data, start, count, reader)
    assert got == wanted, f"{data.hex()} from {start}, {count} records, {reader}"
    assert [*map(repr, got)] == [*map(repr, wanted)]
    accepted = isinstance(wanted, list)
    if isinstance(wanted, list) and not all(map(_fits, wanted)):
        return accepted
    # Bytes that are left over are no matter of the engine, which has read what it was told to.
    left_over = isinstance(wanted, str) and "behind the last record" in wanted
    assert fell_back == (not accepted and not left_over), f"fell back on {data.hex()}"
    return accepted


def _fits(record: Record) -> bool:
    return record.offset in NUMBERS and record.timestamp in NUMBERS


def agree_on_records(made: list[Any], base_offset: int, base_timestamp: int | None) -> bool:
    """Compare both ways to write; return whether they do."""
    write = partial(records.write_records, made, base_offset, base_timestamp)
    got = _outcome(write)
    wanted = _slowly(lambda: _outcome(write))
    assert got == wanted, f"from {base_offset}, {base_timestamp}"
    return not isinstance(wanted, str)


def _slowly(work: Callable[[], T]) -> T:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "ENGINE", None)
        return work()


def _outcome(work: Callable[[], T]) -> T | str:
    try:
        return work()
    except Exception as error:  # the point: any error must be the same error
        return f"{type(error).__name__}: {error} {getattr(error, 'offset', '')}"


def kafkas_batches() -> Iterator[RecordBatch]:
    """Yield the batches of format 2 that Kafka's own classes made."""
    for release in RELEASES:
        for vector in vectors.batches(release):
            for batch in read_batches(vector.data):
                if isinstance(batch, RecordBatch) and batch.count > 0:
                    yield batch


def unpacked(batch: RecordBatch) -> tuple[bytes, int, int, RecordReader]:
    """Return what `read_records` is called with for a batch."""
    append_time = batch.max_timestamp if batch.timestamp_type else None
    base = batch.base_offset, batch.base_timestamp, batch.base_sequence
    return batch.unpacked(None), 0, batch.count, RecordReader(*base, append_time)


def round_trips() -> int:
    """Read all records of Kafka's batches, and write them as they were; return how many."""
    before, count = ENGINE.fallbacks, 0
    for batch in kafkas_batches():
        data, start, number, reader = unpacked(batch)
        read = read_natively(data, start, number, reader)
        assert isinstance(read, list)
        assert read == read_slowly(data, start, number, reader)
        if reader.append_time is None:
            written = records.write_records(read, batch.base_offset, batch.base_timestamp)
            assert written.body == data
        count += len(read)
    assert ENGINE.fallbacks == before
    return count


def mutants(seed: int, *, each: int) -> tuple[int, int]:
    """Compare both ways on mutants; return how many both accepted and how many they rejected."""
    random = Random(seed)
    counts = [0, 0]
    for batch in kafkas_batches():
        data, _, number, reader = unpacked(batch)
        if len(data) < 20_000:
            for _ in range(each):
                claimed = random.choice((*[number] * 8, number + 1, 1, 1 << 31))
                start = random.choice((*[0] * 8, random.randrange(LAYOUT.size)))
                counts[agree_on_bytes(mutate(data, random), start, claimed, reader)] += 1
    return counts[1], counts[0]


HOSTILE_HEADERS: tuple[Any, ...] = (
    RecordHeader("a", None),
    RecordHeader("\udcff", b"not UTF-8"),
    RecordHeader("\ud800", b"no text at all"),
    RecordHeader("x" * 300, b"y" * 300),
    [RecordHeader("a", b"in a list")],
    (RecordHeader("a", b"1"), "no header"),
)


def spoilt(seed: int, times: int) -> tuple[int, int]:
    """Compare both ways on records with a hostile field; return how many both wrote, refused."""
    random = Random(seed)
    counts = [0, 0]
    names = Record.__struct_fields__
    for _ in range(times):
        made: list[Any] = [
            Record(value=random.randbytes(5), offset=random.randrange(-1, 9)) for _ in range(4)
        ]
        hostile = random.choice(HOSTILE + HOSTILE_HEADERS)
        record = made[random.randrange(4)]
        if random.random() < 0.05:
            type(record).__dict__[random.choice(names)].__delete__(record)
        elif random.random() < 0.05:
            made[random.randrange(4)] = hostile
        elif random.random() < 0.3 and isinstance(hostile, RecordHeader):
            name = random.choice(RecordHeader.__struct_fields__)
            header = RecordHeader("k", b"v")
            msgspec.structs.force_setattr(header, name, random.choice(HOSTILE))
            msgspec.structs.force_setattr(record, "headers", (header,))
        else:
            msgspec.structs.force_setattr(record, random.choice(names), hostile)
        base = random.choice((0, 5, -(1 << 63), (1 << 63) - 1, 1 << 70))
        counts[agree_on_records(made, base, random.choice((None, 0, 1 << 63, -(1 << 63))))] += 1
    return counts[1], counts[0]


def collected(rounds: int) -> int:
    """Read records while the collector looks at everything it knows; return how often it came."""
    headers = tuple(RecordHeader(str(n), b"v") for n in range(3))
    written = records.write_records([Record(value=b"v", headers=headers)] * 50, 0, None)
    with collecting() as visits:
        kept = [
            read_natively(written.body, 0, 50, RecordReader(n, n, n, None)) for n in range(rounds)
        ]
    assert all(len(found) == 50 for found in kept)
    return len(visits)


def emptied(times: int) -> int:
    """Write many records while another thread empties their list; return how often it was seen."""
    before = ENGINE.fallbacks
    for _ in range(times):
        made = [Record(value=b"v")] * 2_000_000
        interfere(partial(ENGINE.write, made, 0, None), made.clear)
    return ENGINE.fallbacks - before
