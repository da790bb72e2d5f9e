"""Compressed data are read or refused as Kafka does it, with all that stands in and behind them."""

import pytest

from kwire.batches import RecordBatch, read_batches
from kwire.errors import BatchError
from tests.support.batches.packed import CASES, REFUSED, THREE


@pytest.mark.parametrize("name", CASES)
def test_kafka_reads_the_same(name: str) -> None:
    (batch,) = read_batches(CASES[name])
    assert isinstance(batch, RecordBatch)
    if name in REFUSED:
        with pytest.raises(BatchError):
            list(batch.records())
    else:
        assert len(list(batch.records())) == batch.count


def test_what_is_read_is_what_was_packed() -> None:
    read = [batch for name in CASES.keys() - REFUSED for batch in read_batches(CASES[name])]
    unpacked = {
        batch.unpacked(None)
        for batch in read
        if isinstance(batch, RecordBatch) and batch.count == 3
    }
    assert unpacked == {THREE}
