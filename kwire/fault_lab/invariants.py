"""Invariants over the committed metadata log: epochs, leaders, in-sync replicas, voters.

Each record is applied to the partitions as Kafka's controllers and brokers do it; a rule that a
record breaks is an anomaly (KIP-595, KIP-631, KIP-841, KIP-853, KIP-966).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol
from uuid import UUID

from kwire.batches import RecordBatch
from kwire.batches.control_records import read_control_record
from kwire.batches.metadata_records import read_metadata_record
from kwire.fault_lab.anomaly import Anomaly
from kwire.image import EMPTY, MetadataImage, apply
from kwire.image.partition import NO_LEADER, RECOVERING, PartitionRegistration
from kwire.messages.data.voters_record import VotersRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.text.ids import uuid_text

LEADER_EPOCH = "a partition's leader epoch never goes back, and rises with every new leader"
PARTITION_EPOCH = "a partition's epoch rises with every change"
ISR = "the in-sync replicas are replicas, each once"
LEADER = "the leader is one of the in-sync replicas, or there is none"
CLEAN = "a new leader was in sync or eligible before, or begins to recover"
UNFENCED = "the leader of a partition is registered and not fenced"
NUMBERS = "the partitions of a topic are numbered without gaps"
EPOCHS = "the epoch of the metadata log never goes back"
ONE_VOTER = "the voters change by one at a time"
APPLIES = "every record of the metadata log can be applied"


class CommittedLog(Protocol):
    """The batches of a log by base offset, and what reading them has found."""

    @property
    def batches(self) -> dict[int, RecordBatch]: ...

    @property
    def anomalies(self) -> list[Anomaly]: ...

    @property
    def starts_at(self) -> int: ...


def check_log(log: CommittedLog) -> list[Anomaly]:
    """Return what the log of a run has broken, what reading it has found included."""
    if log.starts_at:
        return log.anomalies  # partitions before the snapshot are not known
    checked = _LogCheck()
    for base in sorted(log.batches):
        checked.take(log.batches[base])
    return log.anomalies + checked.anomalies


class _LogCheck:
    """The state of the cluster at the batch that was taken last."""

    def __init__(self) -> None:
        self.anomalies: list[Anomaly] = []
        self._image: MetadataImage = EMPTY
        self._epoch = -1
        self._voters: frozenset[int] | None = None

    def take(self, batch: RecordBatch) -> None:
        """Check the next batch."""
        if batch.partition_leader_epoch < self._epoch:
            self._add(EPOCHS, batch, f"epoch {batch.partition_leader_epoch} after {self._epoch}")
        self._epoch = batch.partition_leader_epoch
        if batch.is_control:
            self._take_control(batch)
            return
        touched: set[tuple[UUID, int]] = set()
        for record in batch.records():
            value = read_metadata_record(record.value or b"")
            before = self._image
            try:
                self._image = apply(before, value)
            except Exception as error:
                self._add(APPLIES, batch, f"offset {record.offset}: {error}")
                continue
            if isinstance(value.record, PartitionRecord | PartitionChangeRecord):
                place = (value.record.topic_id, value.record.partition_id)
                touched.add(place)
                self._check_record(before, place, batch)
        for place in touched:
            self._check_leader(place, batch)

    def _take_control(self, batch: RecordBatch) -> None:
        for record in batch.records():
            message = read_control_record(record).message
            if isinstance(message, VotersRecord):
                voters = frozenset(voter.voter_id for voter in message.voters)
                if self._voters is not None and len(voters ^ self._voters) > 1:
                    came = f"{sorted(voters)} after {sorted(self._voters)}"
                    self._add(ONE_VOTER, batch, came)
                self._voters = voters

    def _check_record(
        self, before: MetadataImage, place: tuple[UUID, int], batch: RecordBatch
    ) -> None:
        """Compare a partition before and after one record."""
        topic_id, number = place
        old = before.topics.partition(topic_id, number)
        new = self._image.topics.partition(topic_id, number)
        if new is None:
            return
        topic = self._image.topics.by_id[topic_id]
        if old is None and number != len(topic.partitions) - 1:
            self._add(NUMBERS, batch, f"{topic.name} has {len(topic.partitions)}, new is {number}")
        for rule, came in broken_rules(old, new):
            about = f"{topic.name}-{number} ({uuid_text(topic_id)})"
            self._add(rule, batch, came, about)

    def _check_leader(self, place: tuple[UUID, int], batch: RecordBatch) -> None:
        """Check the leader after a whole batch: records of one batch belong together."""
        partition = self._image.topics.partition(*place)
        if partition is None or partition.leader == NO_LEADER:
            return
        broker = self._image.cluster.brokers.get(partition.leader)
        if broker is None or broker.fenced:
            name = self._image.topics.by_id[place[0]].name
            came = f"broker {partition.leader} leads and is {'fenced' if broker else 'unknown'}"
            self._add(UNFENCED, batch, came, f"{name}-{place[1]}")

    def _add(self, rule: str, batch: RecordBatch, came: str, about: str = "metadata log") -> None:
        came = f"{came}; batch at offset {batch.base_offset}"
        self.anomalies.append(Anomaly(rule=rule, about=about, came=came, name="metadata-log"))


def broken_rules(
    old: PartitionRegistration | None, new: PartitionRegistration
) -> Iterator[tuple[str, str]]:
    """Yield the rules that one change of a partition breaks, and how. old: None for a new one."""
    if len(set(new.isr)) != len(new.isr) or not set(new.isr) <= set(new.replicas):
        yield ISR, f"isr {new.isr} of replicas {new.replicas}"
    if new.leader != NO_LEADER and new.leader not in new.isr:
        yield LEADER, f"leader {new.leader}, isr {new.isr}"
    if old is None:
        return
    if new.leader_epoch < old.leader_epoch or (
        new.leader != old.leader and new.leader_epoch == old.leader_epoch
    ):
        came = f"leader {old.leader} in epoch {old.leader_epoch}, then"
        yield LEADER_EPOCH, f"{came} {new.leader} in {new.leader_epoch}"
    if new.partition_epoch <= old.partition_epoch:
        yield PARTITION_EPOCH, f"epoch {new.partition_epoch} after {old.partition_epoch}"
    eligible = {*old.isr, *old.elr, NO_LEADER}
    # The ISR that completes a reassignment may have new members, of which one leads (KIP-455).
    if old.is_reassigning and not new.is_reassigning:
        eligible |= set(new.isr)
    if new.leader not in eligible and new.leader_recovery_state != RECOVERING:
        yield CLEAN, f"leader {new.leader} after isr {old.isr}, elr {old.elr}"
