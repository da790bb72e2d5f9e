"""Invariants over the metadata log: each is seen to be broken by a log that breaks it."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

import pytest
from msgspec.structs import replace

from kwire.batches import Record, RecordBatch, build_batch
from kwire.batches.control_records import quorum_record
from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.fault_lab import invariants
from kwire.fault_lab.anomaly import Anomaly
from kwire.fault_lab.invariants import broken_rules, check_log
from kwire.image.partition import RECOVERING, PartitionRegistration
from kwire.messages.data.voters_record import Voter, VotersRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.topic import TopicRecord

TOPIC = UUID(int=77)
BEFORE = PartitionRegistration(
    replicas=(1, 2, 3),
    directories=(UUID(int=9),) * 3,
    isr=(1, 2),
    leader=1,
    leader_epoch=5,
    partition_epoch=8,
)
AFTER = replace(BEFORE, leader=2, isr=(2,), leader_epoch=6, partition_epoch=9)


@dataclass
class ReadLog:
    """Batches as a MetadataLogReader has them."""

    batches: dict[int, RecordBatch] = field(default_factory=dict)
    anomalies: list[Anomaly] = field(default_factory=list)
    starts_at: int = 0

    def add(self, *records: MetadataRecord, epoch: int = 1) -> None:
        values = [
            Record(
                value=VersionedRecord(record=record, version=type(record).versions.first).encode()
            )
            for record in records
        ]
        self.append(build_batch(values, base_offset=self.end, partition_leader_epoch=epoch))

    def voters(self, *ids: int) -> None:
        voters = [Voter(voter_id=id, voter_directory_id=UUID(int=id), endpoints=[]) for id in ids]
        record = quorum_record(VotersRecord(voters=voters))
        self.append(
            build_batch([record], base_offset=self.end, partition_leader_epoch=2, is_control=True)
        )

    def append(self, data: bytes) -> None:
        batch = RecordBatch.read(data)
        self.batches[batch.base_offset] = batch

    @property
    def end(self) -> int:
        return max((batch.last_offset + 1 for batch in self.batches.values()), default=0)


def rules(log: ReadLog) -> list[str]:
    return [anomaly.rule for anomaly in check_log(log)]


def with_a_topic(*, fenced: bool = False) -> ReadLog:
    log = ReadLog()
    log.add(RegisterBrokerRecord(broker_id=1, broker_epoch=0, fenced=fenced))
    log.add(
        TopicRecord(name="t", topic_id=TOPIC),
        PartitionRecord(partition_id=0, topic_id=TOPIC, replicas=(1, 2), isr=(1, 2), leader=1),
    )
    return log


def test_a_clean_change_breaks_nothing() -> None:
    assert list(broken_rules(BEFORE, AFTER)) == []
    assert list(broken_rules(None, BEFORE)) == []


@pytest.mark.parametrize(
    ("after", "rule"),
    [
        (replace(AFTER, isr=(2, 4)), invariants.ISR),
        (replace(AFTER, isr=(2, 2)), invariants.ISR),
        (replace(AFTER, isr=(1,)), invariants.LEADER),
        (replace(AFTER, leader_epoch=5), invariants.LEADER_EPOCH),
        (replace(BEFORE, leader_epoch=4, partition_epoch=9), invariants.LEADER_EPOCH),
        (replace(AFTER, partition_epoch=8), invariants.PARTITION_EPOCH),
        (replace(AFTER, leader=3, isr=(3,)), invariants.CLEAN),
    ],
)
def test_a_wrong_change_breaks_its_rule(after: PartitionRegistration, rule: str) -> None:
    assert rule in [broken for broken, _ in broken_rules(BEFORE, after)]


def test_an_unclean_leader_that_recovers_and_an_eligible_one_are_in_order() -> None:
    unclean = replace(AFTER, leader=3, isr=(3,), leader_recovery_state=RECOVERING)
    assert list(broken_rules(BEFORE, unclean)) == []
    eligible = replace(BEFORE, elr=(3,))
    assert list(broken_rules(eligible, replace(AFTER, leader=3, isr=(3,)))) == []


def test_the_isr_that_completes_a_reassignment_may_be_led_by_a_new_member() -> None:
    moving = replace(BEFORE, isr=(1,), adding_replicas=(3,), removing_replicas=(1,))
    moved = replace(AFTER, replicas=(2, 3), isr=(2, 3), leader=3)
    assert list(broken_rules(moving, moved)) == []
    assert [rule for rule, _ in broken_rules(moving, replace(moved, adding_replicas=(3,)))] == [
        invariants.CLEAN
    ]


def test_a_log_in_order_has_no_anomaly() -> None:
    log = with_a_topic()
    log.add(PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(1,)), epoch=2)
    log.voters(3000, 3001)
    log.voters(3000, 3001, 3002)
    assert rules(log) == []


def test_an_epoch_that_goes_back_is_found() -> None:
    log = with_a_topic()
    log.add(PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(1,)), epoch=0)
    assert rules(log) == [invariants.EPOCHS]


def test_two_voters_at_once_are_found() -> None:
    log = ReadLog()
    log.voters(3000)
    log.voters(3000, 3001, 3002)
    assert rules(log) == [invariants.ONE_VOTER]


def test_a_fenced_leader_is_found() -> None:
    assert rules(with_a_topic(fenced=True)) == [invariants.UNFENCED]


def test_a_gap_in_partitions_and_a_record_of_nothing_are_found() -> None:
    log = with_a_topic()
    log.add(PartitionRecord(partition_id=2, topic_id=TOPIC, replicas=(1,), isr=(1,), leader=1))
    log.add(PartitionChangeRecord(partition_id=0, topic_id=UUID(int=5), isr=(1,)))
    assert rules(log) == [invariants.NUMBERS, invariants.APPLIES]


def test_a_leader_out_of_sync_is_found_in_the_log() -> None:
    log = with_a_topic()
    log.add(PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(2,)))
    assert rules(log) == [invariants.LEADER]
