"""Metadata logs are judged record by record: hand-made ones that Kafka would never write."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.pipeline.tables.eligibility import Eligibility
from kwire.pipeline.tables.folding import Fold, RecordPosition, folded
from kwire.pipeline.tables.partitions import HISTORY, PartitionHistory
from kwire.text.ids import uuid_text

ORDERS = UUID(int=77)
PLACE = RecordPosition("log", 1, 1, datetime(2026, 11, 21, tzinfo=UTC))


def broker(id: int, **facts: Any) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=id, broker_epoch=id, incarnation_id=UUID(int=id), fenced=False, **facts
    )


def change(id: int, **facts: Any) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(broker_id=id, broker_epoch=id, **facts)


TOPIC = TopicRecord(name="orders", topic_id=ORDERS)
PARTITION = PartitionRecord(
    partition_id=0, topic_id=ORDERS, replicas=(1, 2), isr=(1, 2), leader=1, leader_epoch=0
)


def moved(**facts: Any) -> PartitionChangeRecord:
    return PartitionChangeRecord(partition_id=0, topic_id=ORDERS, **facts)


SOUND: list[MetadataRecord] = [broker(1), broker(2), TOPIC, PARTITION]


def judged(*batches: list[MetadataRecord]) -> list[tuple[str, str]]:
    """The violations of batches, one after the other."""
    fold, found, offset = Eligibility(), [], 0
    for batch in batches:
        for record in batch:
            place = RecordPosition("log", offset, 1, None, record is batch[-1])
            found += list(fold.take(place, versioned(record)))
            offset += 1
    return [(row["check"], row["detail"]) for row in found if not row["passed"]]


def versioned(record: MetadataRecord) -> VersionedRecord:
    return VersionedRecord(record=record, version=type(record).versions.last)


FENCED = "is fenced or shutting down"


@pytest.mark.parametrize(
    ("batches", "violations"),
    [
        ([SOUND], []),
        ([[*SOUND], [change(2, fenced=1), moved(isr=(1,))]], []),
        ([[*SOUND], [moved(isr=(1,)), change(2, in_controlled_shutdown=1)]], []),
        (
            [[*SOUND], [change(2, fenced=1)]],
            [("kip-841-isr", f"orders-0: 2 in ISR [1, 2] {FENCED}")],
        ),
        (
            [[*SOUND], [change(2, in_controlled_shutdown=1)]],
            [("kip-841-isr", f"orders-0: 2 in ISR [1, 2] {FENCED}")],
        ),
        (
            [[*SOUND], [change(1, fenced=1), moved(isr=(2,))]],
            [("kip-841-leader", f"orders-0: leader 1 {FENCED}")],
        ),
        (
            [[*SOUND], [moved(isr=(2,))]],
            [("kip-841-leader", "orders-0: leader 1 is not in ISR [2]")],
        ),
        # The last member stays in an ISR without a leader (KIP-841 leaves nobody to replace it) …
        (
            [
                [*SOUND],
                [change(2, fenced=1), moved(isr=(1,))],
                [change(1, fenced=1), moved(leader=-1)],
            ],
            [],
        ),
        # … but nobody joins one while fenced.
        (
            [
                [*SOUND],
                [change(2, fenced=1), moved(isr=(1,))],
                [change(1, fenced=1), moved(leader=-1)],
                [moved(isr=(2,))],
            ],
            [("kip-841-isr", f"orders-0: 2 in ISR [2] {FENCED}")],
        ),
    ],
)
def test_kip_841s_invariants(
    batches: list[list[MetadataRecord]], violations: list[tuple[str, str]]
) -> None:
    assert judged(*batches) == violations


def test_a_log_that_cannot_be_applied_is_judged_so() -> None:
    found = judged([PARTITION])
    assert {check for check, _ in found} == {"kip-841-isr", "kip-841-leader"}
    assert all(detail.startswith("offset 0 cannot be applied: ") for _, detail in found)


def rows(
    *records: MetadataRecord, log: str = "log", snapshot: str | None = None, first: int = 0
) -> list[dict[str, Any]]:
    """Records as `in_order` gives them, a batch each."""
    return [
        {
            "log": log,
            "snapshot": snapshot,
            "offset": offset,
            "epoch": 1,
            "at": PLACE.at,
            "last_offset": offset,
            "value": versioned(record).encode(),
        }
        for offset, record in enumerate(records, first)
    ]


SCHEMA = pa.schema([(name, pa.string()) for name in ("what",)])


class Names(Fold):
    """Tells which records it took."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def take(self, place: RecordPosition, record: VersionedRecord) -> Iterator[dict[str, Any]]:
        self.names.append(type(record.record).__name__)
        yield {"what": f"{place.offset}"}

    def restored(self, place: RecordPosition) -> Iterator[dict[str, Any]]:
        yield {"what": f"{place.log}: {len(self.names)} up to {place.offset}"}


def fold_in_batches(make: Callable[[], Fold], given: list[dict[str, Any]], size: int) -> list[str]:
    batches = [pa.RecordBatch.from_pylist(given[i : i + size]) for i in range(0, len(given), size)]
    return [row["what"] for batch in folded(batches, make, SCHEMA) for row in batch.to_pylist()]


SNAPSHOTS = [
    *rows(TOPIC, PARTITION, broker(1), snapshot="00000000000000000090-0000000002"),
    *rows(TOPIC, PARTITION, snapshot="00000000000000000050-0000000001"),
]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_log_goes_on_from_the_oldest_snapshot(size: int) -> None:
    later = rows(moved(isr=(1,)), log="log", first=50)
    assert fold_in_batches(Names, [*SNAPSHOTS, *later], size) == ["log: 2 up to 49", "50"]


def test_a_log_from_its_beginning_needs_no_snapshot() -> None:
    whole = rows(TOPIC, PARTITION)
    assert fold_in_batches(Names, [*SNAPSHOTS, *whole], 100) == ["0", "1"]


def test_logs_do_not_mix_and_snapshots_alone_are_told() -> None:
    other = rows(broker(1), log="other")
    assert fold_in_batches(Names, [*other, *SNAPSHOTS], 2) == ["0", "log: 2 up to 49"]


def test_partitions_have_a_row_a_state() -> None:
    fold = PartitionHistory()
    records = [
        TOPIC,
        PARTITION,
        moved(isr=(2,), leader=2, eligible_leader_replicas=(1,)),
        moved(isr=(2, 1)),
        ClearElrRecord(topic_name="orders"),
        moved(removing_replicas=(1,), adding_replicas=(3,)),
        RemoveTopicRecord(topic_id=ORDERS),
        moved(leader=1),
    ]
    found = [row for record in records for row in fold.take(PLACE, versioned(record))]
    assert {row["topic_id"] for row in found} == {uuid_text(ORDERS)}
    names = ("change", "leader", "leader_epoch", "partition_epoch", "isr", "elr", "adding_replicas")
    assert [tuple(row.get(name) for name in names) for row in found] == [
        ("PartitionRecord", 1, 0, -1, (1, 2), (), ()),
        ("PartitionChangeRecord", 2, 1, 0, (2,), (1,), ()),
        ("PartitionChangeRecord", 2, 1, 1, (2, 1), (1,), ()),
        ("ClearElrRecord", 2, 1, 2, (2, 1), (), ()),
        ("PartitionChangeRecord", 2, 1, 3, (2, 1), (), (3,)),
        ("RemoveTopicRecord", None, None, None, None, None, None),
    ]
    assert set(found[0]) <= set(HISTORY.names)
