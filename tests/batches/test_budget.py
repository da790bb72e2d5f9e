"""Batches of one frame share what they may unpack to."""

import pytest
from msgspec.structs import replace

from kwire.batches import Budget, Record, RecordBatch, build_batch, read_batches
from kwire.errors import BatchError, TooLarge
from tests.support.bombs import record_bomb


def test_batches_take_of_the_same_bytes_and_records() -> None:
    data = build_batch([Record(value=bytes(93))] * 10)
    batch = RecordBatch.read(data)
    size = len(data) - 61
    budget = Budget(size=2 * size + 1, records=100)
    for _ in range(2):
        assert list(budget.read(batch)) == list(batch.records())
    assert (budget.size, budget.records) == (1, 80)
    with pytest.raises(TooLarge, match="too much"):
        budget.read(batch)
    assert (budget.size, budget.records) == (0, 0)


def test_the_number_of_records_is_looked_at_before_anything_is_unpacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = RecordBatch.read(record_bomb())
    monkeypatch.setattr(RecordBatch, "unpacked", None)
    with pytest.raises(TooLarge, match="too much"):
        Budget(size=1 << 30, records=148_999).read(batch)


def test_a_batch_that_cannot_be_unpacked_ends_the_budget() -> None:
    (batch,) = read_batches(record_bomb(100))
    assert isinstance(batch, RecordBatch)
    budget = Budget(size=1000)
    with pytest.raises(BatchError):
        budget.read(replace(batch, data=batch.data[:-3]))
    with pytest.raises(TooLarge):
        budget.read(batch)


@pytest.mark.parametrize(
    ("frame", "size"), [(0, 65_536), (1_320, 65_536), (100_000, 1_000_000), (8 << 20, 16 << 20)]
)
def test_a_frame_may_unpack_to_ten_times_its_size(frame: int, size: int) -> None:
    assert Budget.of_frame(frame).size == size
