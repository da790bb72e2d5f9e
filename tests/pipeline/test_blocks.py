"""Reading block by block gives the records that `kwire.capture` reads one by one."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.capture import CaptureRecord, Damage, RecordEncoder
from kwire.capture.reading import Block, read_capture
from kwire.pipeline import decoding
from kwire.pipeline.reading.blocks import PARTS, BlockReader
from kwire.pipeline.reading.captured import captured_batches, read_captured
from kwire.pipeline.reading.planning import plan
from kwire.pipeline.reading.storage import CAPTURED, find
from tests.support.capture.capture_records import record, write

NUMBERS = st.integers(-(2**63), 2**63 - 1)
RECORDS = st.builds(
    record,
    st.integers(0, 2**63 - 1),
    at_us=st.integers(-(2**53), 2**53),
    monotonic_ns=NUMBERS,
    correlation_id=st.none() | st.integers(-(2**31), 2**31 - 1),
    size=st.none() | st.integers(0, 2**40),
    frame=st.none() | st.binary(max_size=300),
    connection=st.integers(1, 3),
    client_id=st.none() | st.sampled_from(["", "raft", "ä"]),
    ending=st.none() | st.sampled_from(["ANSWERED", "LOST"]),
    notes=st.lists(st.text(max_size=3), max_size=2).map(tuple),
    text=st.none() | st.text(max_size=3),
)


def block(records: list[CaptureRecord]) -> Block:
    encoder = RecordEncoder()
    data = b"".join(map(encoder.encode, records))
    return Block(offset=0, end=len(data) + 16, count=len(records), data=data)


@settings(max_examples=200)
@given(st.lists(RECORDS, min_size=1, max_size=20))
def test_all_that_a_recorder_writes_is_read(records: list[CaptureRecord]) -> None:
    reader = BlockReader(decoding.CAPTURED, "night.avro")
    for _ in range(2):  # parts that are met for the first time, and again
        assert reader.read(block(records))
        assert [reader.take()] == list(captured_batches(records, "night.avro"))


def test_parts_do_not_pile_up() -> None:
    reader = BlockReader(decoding.CAPTURED, "night.avro")
    for first in range(0, 3 * PARTS, PARTS):
        clients = [record(client_id=f"{first + number}") for number in range(PARTS)]
        assert reader.read(block(clients))
        (expected,) = captured_batches(clients, "night.avro")
        assert reader.take() == expected
    assert len(reader._beginnings) <= 2 * PARTS


@pytest.mark.parametrize("place", [0, 30, 70, -20, -5, -1])
def test_nothing_of_an_odd_block_is_read(place: int) -> None:
    good = block([record(event) for event in range(3)])
    data = bytearray(good.data)
    data[place] ^= 0x41
    reader = BlockReader(decoding.CAPTURED, "night.avro")
    assert not reader.read(Block(offset=0, end=good.end, count=3, data=bytes(data)))
    assert not reader.read(Block(offset=0, end=good.end, count=2, data=good.data))
    assert not reader.read(Block(offset=0, end=good.end, count=4, data=good.data))
    assert not reader
    assert reader.read(good)


def test_an_odd_block_costs_what_is_odd_in_it(tmp_path: Path) -> None:
    path = tmp_path / "night.avro"
    write(path, [record(event) for event in range(100)], block=10)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    (part,) = plan(find([str(path)], CAPTURED))
    found = [row for batch in read_captured(part) for row in batch.to_pylist()]
    expected = list(read_capture(path))
    assert sum(isinstance(one, Damage) for one in expected) == 1
    assert [row["event"] for row in found] == [
        None if isinstance(one, Damage) else one.event for one in expected
    ]
