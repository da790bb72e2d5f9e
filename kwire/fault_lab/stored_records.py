"""The records that partitions hold after a run, held against what was acknowledged.

An acknowledged record is there once, at its offset and in order; a record without an answer at most
once; a transaction in all partitions or in none (KIP-98).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kwire.batches import RecordBatch
from kwire.batches.control_records import ControlRecordType, read_control_record
from kwire.fault_lab.anomaly import Anomaly
from kwire.fault_lab.history import Fate, RecordedOperation

LOST = "an acknowledged record is in its partition"
TWICE = "a record is in its partition once"
PLACE = "an acknowledged record stands at the offset of its answer"
GHOST = "a partition holds only what was sent to it"
ATOMIC = "a transaction is visible in all its partitions or in none"
COMMITTED = "a committed transaction is visible"
ABORTED = "a transaction that was not committed is not visible"


@dataclass(frozen=True, slots=True)
class StoredNumber:
    """A number of the workload and the offset of its record."""

    offset: int
    number: int


def visible_numbers(batches: Iterable[RecordBatch]) -> list[StoredNumber]:
    """Return the numbers in the order of their offsets, those of transactions if committed."""
    stored: list[StoredNumber] = []
    pending: defaultdict[int, list[StoredNumber]] = defaultdict(list)
    for batch in batches:
        if batch.is_control:
            for record in batch.records():
                ended = pending.pop(batch.producer_id, [])
                if read_control_record(record).type == ControlRecordType.COMMIT:
                    stored.extend(ended)
            continue
        target = pending[batch.producer_id] if batch.is_transactional else stored
        for record in batch.records():
            target.append(StoredNumber(record.offset, json.loads(record.value or b"null")))
    return sorted(stored, key=lambda item: item.offset)


def check_appends(
    key: str, operations: Sequence[RecordedOperation], stored: Sequence[StoredNumber]
) -> Iterator[Anomaly]:
    """Yield what is wrong with the records of one partition."""
    offsets: defaultdict[int, list[int]] = defaultdict(list)
    for item in stored:
        offsets[item.number].append(item.offset)
    sent: set[int] = set()
    for operation in operations:
        numbers: list[int] = operation.value
        sent.update(numbers)
        yield from _check_append(key, operation, [offsets.get(number, []) for number in numbers])
    ghosts = [item for item in stored if item.number not in sent]
    if ghosts:
        came = f"{ghosts[:5]} were never sent"
        yield Anomaly(rule=GHOST, about=key, came=came, name="records")


def _check_append(
    key: str, operation: RecordedOperation, places: list[list[int]]
) -> Iterator[Anomaly]:
    def anomaly(rule: str) -> Anomaly:
        came = f"offsets {places}"
        return Anomaly(rule=rule, about=key, came=came, operations=(operation,), name="records")

    if any(len(found) > 1 for found in places):
        yield anomaly(TWICE)
    elif operation.fate is Fate.OK and not all(places):
        yield anomaly(LOST)
    elif operation.fate is Fate.OK and isinstance(operation.result, int) and operation.result >= 0:
        first = operation.result
        if [found[0] for found in places] != list(range(first, first + len(places))):
            yield anomaly(PLACE)


def check_transactions(
    key: str,
    operations: Sequence[RecordedOperation],
    stored: Mapping[int, Sequence[StoredNumber]],
) -> Iterator[Anomaly]:
    """Yield what is wrong with transactions. stored: the visible numbers of each partition."""
    counts = {number: Counter(item.number for item in items) for number, items in stored.items()}
    for operation in operations:
        seen = [counts[partition][operation.value] for partition in sorted(counts)]
        if max(seen) > 1:
            rule = TWICE
        elif len(set(seen)) > 1:
            rule = ATOMIC
        elif operation.kind == "commit" and operation.fate is Fate.OK and not any(seen):
            rule = COMMITTED
        elif any(seen) and (operation.kind == "abort" or operation.fate is Fate.NOT_DONE):
            rule = ABORTED
        else:
            continue
        came = f"times in each partition: {seen}"
        yield Anomaly(rule=rule, about=key, came=came, operations=(operation,), name="transactions")
