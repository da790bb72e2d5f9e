"""The records of partitions after a run, held against what was acknowledged."""

from __future__ import annotations

import json

import pytest

from kwire.batches import Record, RecordBatch, build_batch
from kwire.batches.control_records import ControlRecordType
from kwire.fault_lab import stored_records as rules
from kwire.fault_lab.history import Fate, RecordedOperation
from kwire.fault_lab.stored_records import (
    StoredNumber,
    check_appends,
    check_transactions,
    visible_numbers,
)
from tests.support.transaction_markers import end_transaction_record


def append(*numbers: int, at: int | None, fate: Fate = Fate.OK) -> RecordedOperation:
    return RecordedOperation(
        key="records:r-0", kind="append", fate=fate, begin=0, value=list(numbers), result=at
    )


def stored(*numbers: int) -> list[StoredNumber]:
    return [StoredNumber(offset, number) for offset, number in enumerate(numbers)]


@pytest.mark.parametrize(
    ("found", "rule"),
    [
        ((1, 2, 3), None),
        ((1, 2), rules.LOST),
        ((1, 2, 3, 2), rules.TWICE),
        ((1, 3, 2), rules.PLACE),
        ((1, 2, 3, 9), rules.GHOST),
    ],
)
def test_acknowledged_records_are_there_once_in_order(
    found: tuple[int, ...], rule: str | None
) -> None:
    operations = [append(1, at=0), append(2, 3, at=1)]
    broken = [anomaly.rule for anomaly in check_appends("r", operations, stored(*found))]
    assert broken == ([] if rule is None else [rule])


def test_a_record_without_an_answer_is_there_at_most_once() -> None:
    lost = append(1, at=None, fate=Fate.UNKNOWN)
    assert not list(check_appends("r", [lost], stored()))
    assert not list(check_appends("r", [lost], stored(1)))
    assert [a.rule for a in check_appends("r", [lost], stored(1, 1))] == [rules.TWICE]


def transaction(kind: str, fate: Fate = Fate.OK) -> RecordedOperation:
    return RecordedOperation(key="transactions:x", kind=kind, fate=fate, begin=0, value=1)


@pytest.mark.parametrize(
    ("operation", "first", "second", "rule"),
    [
        (transaction("commit"), 1, 1, None),
        (transaction("commit"), 0, 0, rules.COMMITTED),
        (transaction("commit"), 1, 0, rules.ATOMIC),
        (transaction("commit", Fate.UNKNOWN), 1, 1, None),
        (transaction("commit", Fate.UNKNOWN), 0, 0, None),
        (transaction("commit", Fate.UNKNOWN), 0, 1, rules.ATOMIC),
        (transaction("commit", Fate.NOT_DONE), 1, 1, rules.ABORTED),
        (transaction("abort"), 1, 1, rules.ABORTED),
        (transaction("abort"), 0, 0, None),
        (transaction("commit"), 2, 2, rules.TWICE),
    ],
)
def test_transactions_are_visible_everywhere_or_nowhere(
    operation: RecordedOperation, first: int, second: int, rule: str | None
) -> None:
    visible = {0: stored(*(1,) * first), 1: stored(*(1,) * second)}
    broken = [anomaly.rule for anomaly in check_transactions("x", [operation], visible)]
    assert broken == ([] if rule is None else [rule])


def batch(offset: int, number: int, producer: int) -> RecordBatch:
    data = build_batch(
        [Record(value=json.dumps(number).encode())],
        base_offset=offset,
        producer_id=producer,
        is_transactional=True,
    )
    return RecordBatch.read(data)


def marker(offset: int, producer: int, kind: ControlRecordType) -> RecordBatch:
    commit = kind == ControlRecordType.COMMIT
    record = end_transaction_record(commit=commit, coordinator_epoch=0)
    data = build_batch(
        [record],
        base_offset=offset,
        producer_id=producer,
        is_transactional=True,
        is_control=True,
    )
    return RecordBatch.read(data)


def test_only_committed_records_are_visible() -> None:
    batches = [
        batch(0, 10, producer=1),
        batch(1, 20, producer=2),
        marker(2, 2, ControlRecordType.ABORT),
        marker(3, 1, ControlRecordType.COMMIT),
        batch(4, 30, producer=2),
    ]
    assert visible_numbers(batches) == [StoredNumber(0, 10)]
