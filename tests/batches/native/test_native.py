"""The native engine for records does what the reference does, and knows when it cannot."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kwire.batches import Record, RecordBatch, RecordHeader, build_batch, read_batch, records
from kwire.batches.record import RecordReader
from kwire.batches.varint import append_varint
from kwire.codec import engine_choice
from kwire.errors import BatchError
from tests.support.batches.native import attack
from tests.support.batches.native.attack import ENGINE
from tests.support.native_extensions import assert_nothing_leaks

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
NEAR = st.integers(-(1 << 31), (1 << 31) - 1) | st.sampled_from([0, 1, 63, 64, 8191, 8192])
BYTES = st.none() | st.binary(max_size=200)
HEADERS = st.lists(st.builds(RecordHeader, key=st.text(max_size=5), value=BYTES), max_size=4)
RECORDS = st.lists(
    st.builds(
        Record,
        value=BYTES,
        key=BYTES,
        offset=NEAR,
        timestamp=NEAR | INT64,
        headers=HEADERS.map(tuple),
        attributes=st.integers(0, 255),
    ),
    max_size=5,
)
READERS = st.builds(RecordReader, INT64 | NEAR, INT64 | NEAR, NEAR, st.none() | INT64)
PLAIN = RecordReader(0, 0, -1, None)


@given(RECORDS, NEAR | INT64, st.none() | INT64)
def test_both_write_the_same(made: list[Record], base_offset: int, timestamp: int | None) -> None:
    attack.agree_on_records(made, base_offset, timestamp)


@given(RECORDS, READERS, st.binary(max_size=9))
def test_both_read_the_same(made: list[Record], reader: RecordReader, before: bytes) -> None:
    body = records.write_records(made, 0, 0).body
    assert attack.agree_on_bytes(before + body, len(before), len(made), reader)


@st.composite
def varints(draw: st.DrawFn, value: int) -> bytes:
    """Return a number in more bytes than it needs, with bits that have no place in it."""
    data = bytearray()
    append_varint(data, value)
    more = draw(st.sampled_from([0, 0, 0, 0, 0, 2, 5, 6, 10, 11]))
    while len(data) < more:
        data[-1] |= 0x80
        data.append(draw(st.sampled_from([0, 0, 0x70])) if len(data) in (4, 9) else 0)
    return bytes(data)


@st.composite
def odd_records(draw: st.DrawFn) -> bytes:
    """Return a record as nobody writes it, or something that is nearly one."""

    def number(value: int) -> bytes:
        return draw(varints(value))

    def part(least: int) -> bytes:
        value = draw(st.binary(max_size=3))
        return number(draw(st.sampled_from([*[len(value)] * 9, least, len(value) + 1]))) + value

    many = draw(st.integers(0, 2))
    headers = [part(-1) + part(-1) for _ in range(many)]
    body = draw(st.binary(min_size=1, max_size=1)) + number(draw(INT64 | NEAR)) + number(draw(NEAR))
    body += part(-2) + part(-1) + number(draw(st.sampled_from([*[many] * 9, -1, many + 1])))
    body += b"".join(headers) + draw(st.sampled_from([*[b""] * 9, b"\0"]))
    return number(draw(st.sampled_from([*[len(body)] * 9, 0, -1, len(body) + 1]))) + body


@given(st.lists(odd_records(), min_size=1, max_size=3), READERS)
@settings(max_examples=300)
def test_both_judge_odd_varints_and_counts_alike(parts: list[bytes], reader: RecordReader) -> None:
    attack.agree_on_bytes(b"".join(parts), 0, len(parts), reader)


@pytest.mark.parametrize(("of_time", "of_offset"), [(10, 5), (11, 5), (10, 6)])
def test_varints_may_be_as_long_as_kafka_takes_them(of_time: int, of_offset: int) -> None:
    numbers = [b"\x80" * (size - 1) + b"\0" for size in (of_time, of_offset)]
    body = b"\0" + b"".join(numbers) + b"\x01\x01\0"
    data = bytes([len(body) << 1]) + body
    assert attack.agree_on_bytes(data, 0, 1, PLAIN) == (of_time + of_offset == 15)


@given(RECORDS, st.integers(0), st.integers(-1, 1 << 31), READERS)
def test_both_judge_what_is_cut_off_alike(
    made: list[Record], cut: int, count: int, reader: RecordReader
) -> None:
    body = records.write_records(made, 0, 0).body
    attack.agree_on_bytes(body[: cut % (len(body) + 1)], 0, count, reader)


def test_a_claim_is_checked_before_anything_is_allocated() -> None:
    data = bytes(1 << 20)
    tracemalloc.start()
    try:
        assert ENGINE.read(data, 0, 1 << 20, *PLAIN) is None
        assert ENGINE.read(data, 0, 1 << 62, *PLAIN) is None
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "arguments",
    [
        (bytearray(9), 0, 1, *PLAIN),
        (bytes(9), -1, 1, *PLAIN),
        (bytes(9), 10, 1, *PLAIN),
        (bytes(9), 0, -1, *PLAIN),
        (bytes(9), 0, 1 << 64, *PLAIN),
        (bytes(9), 0, 1, 1 << 64, 0, 0, None),
        (bytes(9), 0, 1, 0, 0, 1 << 31, None),
        (bytes(9), 0, 1, 0, 0, 0, "now"),
    ],
)
def test_what_is_no_part_of_a_batch_is_left_to_the_reference(arguments: Any) -> None:
    before = ENGINE.fallbacks
    assert ENGINE.read(*arguments) is None
    assert ENGINE.fallbacks == before + 1


def test_calls_of_another_form_are_errors() -> None:
    engine: Any = ENGINE
    with pytest.raises(TypeError, match="takes"):
        engine.read(b"")
    with pytest.raises(TypeError, match="takes"):
        engine.write([])


class Longer(msgspec.Struct, frozen=True, gc=False):
    """A record with more than the engine sets."""

    value: bytes | None
    key: bytes | None = None
    offset: int = -1
    timestamp: int = -1
    headers: tuple[RecordHeader, ...] = ()
    sequence: int = -1
    attributes: int = 0
    more: int = 0


class Tracked(msgspec.Struct):
    """A header that the collector knows."""

    key: str
    value: bytes | None


@pytest.mark.parametrize(
    ("record", "header"), [(Longer, RecordHeader), (Record, Tracked), (Record, Record), (int, int)]
)
def test_classes_of_another_layout_are_refused(record: Any, header: Any) -> None:
    from kwire.batches.native import _records

    with pytest.raises(ValueError, match="class"):
        _records.Engine(record, header)


def test_another_engine_is_forced_upon_records_too() -> None:
    batch = read_batch(build_batch([Record(value=b"v")])[:-1] + b"\x00", check_crc=False)
    assert isinstance(batch, RecordBatch)
    before = ENGINE.fallbacks
    engine_choice.use("reference")
    try:
        assert len(list(batch.records())) == 1
        assert records.write_records([cast(Any, "no record")][:0], 0, None).body == b""
    finally:
        engine_choice.use(None)
    assert ENGINE.fallbacks == before


def test_records_before_a_malformed_one_come_first_in_long_batches() -> None:
    made = [Record(value=b"%d" % n, timestamp=n) for n in range(3 * records.AT_ONCE)]
    data = bytearray(build_batch(made))
    data[-40:] = b"\xff" * 40
    batch = read_batch(data, check_crc=False)
    assert batch is not None
    read: list[Record] = []
    with pytest.raises(BatchError):
        read.extend(batch.records())
    assert read == [replace(record, offset=n) for n, record in enumerate(made[: len(read)])]
    assert len(read) > len(made) - 10


def test_a_reader_that_stops_early_has_read_no_more_than_a_part() -> None:
    made = [Record(value=b"v")] * (5 * records.AT_ONCE)
    batch = read_batch(build_batch(made))
    assert batch is not None
    before = sys.getallocatedblocks()
    iterator = batch.records()
    assert next(iterator).offset == 0
    assert sys.getallocatedblocks() - before < 5 * records.AT_ONCE


def test_records_are_as_good_as_those_of_the_class_itself() -> None:
    made = Record(value=b"v", key=b"k", offset=5, timestamp=7, headers=(RecordHeader("k", None),))
    found = ENGINE.read(records.write_records([made], 5, 7).body, 0, 1, 5, 7, -1, None)
    assert found is not None
    (read,) = found[0]
    assert read == made
    assert repr(read) == repr(made)
    assert hash(read) == hash(made)
    assert not gc.is_tracked(read)


def test_nothing_leaks() -> None:
    header = RecordHeader("key", b"x" * 99)
    made = [Record(value=b"v" * 99, key=b"k" * 99, offset=1 << 20, headers=(header,))]
    body = records.write_records(made, 0, None).body
    spoilt: Any = [*made, 5]

    def work() -> None:
        assert ENGINE.read(body, 0, 1, 1 << 40, 1 << 40, 1 << 20, None)
        assert ENGINE.write(made, 0, None)
        for size in range(len(body)):
            assert ENGINE.read(body[:size], 0, 1, *PLAIN) is None
        assert ENGINE.write(spoilt, 0, None) is None

    assert_nothing_leaks(work, 200, Record, RecordHeader, None, (), type(ENGINE))


@pytest.mark.parametrize("name", Record.__struct_fields__)
@pytest.mark.parametrize("offset", [-1, 5])
def test_a_record_that_lacks_a_field_is_judged_alike(name: str, offset: int) -> None:
    record = Record(value=b"v", offset=offset)
    Record.__dict__[name].__delete__(record)
    attack.agree_on_records([Record(value=b""), record], 0, None)
