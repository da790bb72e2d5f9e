"""The state of a small cluster as clients see it: nodes, topics, logs, producers, groups.

It answers like brokers without their faults: `kwire.conform.clients.answers` reads and changes it,
a case's script puts the faults in front.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID, uuid5

from kwire.batches.building import build_batch, with_base_offset
from kwire.batches.current import RecordBatch
from kwire.batches.reading import read_batches
from kwire.batches.record import Record
from kwire.conform.vocabulary import ServerRole
from kwire.error_codes import ErrorCode
from kwire.errors import BatchError
from kwire.net.address import Address

CLUSTER_ID = "kwire-conform-client-00"
NODES = (1, 2)
"""Ids of the nodes; the first leads everything until a case moves it."""

_IDS = UUID("6b776972-652d-4000-8000-636f6e666f72")
_REMEMBERED = 5
"""Batches of a producer that a broker remembers (ProducerStateEntry.NUM_BATCHES_TO_RETAIN)."""


FetchedParts = dict[tuple[str, int], tuple[int, int, int]]
"""Topic and partition to the offset to read, the leader epoch and the most bytes."""


@dataclass(slots=True)
class FetchSession:
    """A fetch session (KIP-227). epoch: that the next request has to have."""

    epoch: int = 1
    parts: FetchedParts = field(default_factory=dict)


@dataclass(slots=True)
class ProducerAtPartition:
    """An idempotent producer at a partition. recent: first sequences with their base offsets."""

    epoch: int
    next_sequence: int = 0
    recent: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class PartitionLog:
    """A partition with one replica on each node. batches: as bytes, each at its base offset."""

    leader: int = NODES[0]
    leader_epoch: int = 0
    start: int = 0
    end: int = 0
    batches: list[bytes] = field(default_factory=list)
    producers: dict[int, ProducerAtPartition] = field(default_factory=dict)

    def led(self) -> dict[str, int]:
        """Return the leader with its epoch, as answers have them."""
        return {"leader_id": self.leader, "leader_epoch": self.leader_epoch}

    def append(self, batch: RecordBatch) -> int:
        """Append a batch; return its base offset. Raises RefusedAppend.

        One that was appended before has the offset that it has (KIP-98).
        """
        if batch.producer_id >= 0:
            known = self.producers.get(batch.producer_id)
            if known is None:
                known = ProducerAtPartition(batch.producer_epoch, batch.base_sequence)
            elif batch.producer_epoch > known.epoch:
                known = ProducerAtPartition(batch.producer_epoch)
            self.producers[batch.producer_id] = known
            if batch.producer_epoch < known.epoch:
                raise RefusedAppend(ErrorCode.INVALID_PRODUCER_EPOCH)
            for sequence, offset in known.recent:
                if sequence == batch.base_sequence:
                    return offset
            if batch.base_sequence != known.next_sequence:
                raise RefusedAppend(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
            known.next_sequence = (batch.base_sequence + batch.count) & 0x7FFF_FFFF
            known.recent = [*known.recent, (batch.base_sequence, self.end)][-_REMEMBERED:]
        offset = self.end
        self.batches.append(with_base_offset(batch.data, offset, self.leader_epoch))
        self.end += batch.last_offset_delta + 1
        return offset

    def mark(self, producer_id: int, epoch: int, committed: bool) -> None:
        """Append the marker of a transaction's end (KIP-98)."""
        key = struct.pack(">hh", 0, committed)
        record = Record(key=key, value=struct.pack(">hi", 0, 0), timestamp=0)
        marker = build_batch(
            [record],
            base_offset=self.end,
            partition_leader_epoch=self.leader_epoch,
            producer_id=producer_id,
            producer_epoch=epoch,
            is_transactional=True,
            is_control=True,
        )
        self.batches.append(marker)
        self.end += 1

    def read(self, offset: int, most: int) -> bytes:
        """Return batches from the one that has this offset on: the first, and what `most` takes."""
        read = b""
        for batch in map(RecordBatch.read, self.batches):
            if batch.base_offset + batch.last_offset_delta >= offset:
                if read and len(read) + len(batch.data) > most:
                    break
                read += batch.data
        return read

    def values(self) -> list[str]:
        """Return the values of all records as text, in order."""
        batches = map(RecordBatch.read, self.batches)
        return [
            (record.value or b"").decode(errors="replace")
            for batch in batches
            if not batch.is_control
            for record in batch.records()
        ]


def checked_batch(data: bytes) -> RecordBatch:
    """Return the one batch that a Produce has for a partition. Raises RefusedAppend.

    LogValidator and ProduceRequestHandler: one of format 2, whole, no control batch, and with a
    producer's id, epoch and sequence or none of them.
    """
    try:
        batches = list(read_batches(data))
        records = [list(batch.records()) for batch in batches]
    except BatchError:
        raise RefusedAppend(ErrorCode.CORRUPT_MESSAGE) from None
    if len(batches) != 1 or not isinstance(batch := batches[0], RecordBatch):
        raise RefusedAppend(ErrorCode.INVALID_RECORD)
    idempotent = batch.producer_id >= 0
    is_whole = len(records[0]) == batch.count == batch.last_offset_delta + 1
    has_numbers = batch.producer_epoch >= 0 and batch.base_sequence >= 0
    if batch.is_control or batch.base_offset or not is_whole or (idempotent and not has_numbers):
        raise RefusedAppend(ErrorCode.INVALID_RECORD)
    return batch


class RefusedAppend(Exception):
    """A batch that a broker does not append. code: of the error."""

    def __init__(self, code: ErrorCode) -> None:
        self.code = code
        super().__init__(code.name)


@dataclass(slots=True)
class ClusterTopic:
    """A topic; its id changes where it is created anew."""

    name: str
    id: UUID
    partitions: list[PartitionLog] = field(default_factory=lambda: [PartitionLog()])


class CommittedOffset(NamedTuple):
    """An offset as it was committed, as OffsetFetch has it."""

    committed_offset: int = -1
    committed_leader_epoch: int = -1
    metadata: str | None = ""


@dataclass(slots=True)
class MemberGroup:
    """A group with one member. pending: ids that were given and have not joined (KIP-394).

    assignment: as its leader made it. is_consumer: it has the protocol of KIP-848.
    """

    generation: int = 0
    member_id: str = ""
    instance_id: str | None = None
    pending: set[str] = field(default_factory=set)
    protocol_name: str = ""
    assignment: bytes = b""
    is_consumer: bool = False
    offsets: dict[tuple[str, int], CommittedOffset] = field(default_factory=dict)


@dataclass(slots=True)
class TransactionState:
    """A transactional id. ended: how each transaction has ended, True for committed.

    partitions, offsets: of the transaction under way; the offsets by group, topic and partition.
    """

    producer_id: int
    epoch: int = 0
    partitions: set[tuple[str, int]] = field(default_factory=set)
    offsets: dict[tuple[str, str, int], CommittedOffset] = field(default_factory=dict)
    ended: list[bool] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Cluster:
    """All that the nodes share. addresses: of the nodes, by id. coordinator: of every group.

    features: finalized levels. versions: API key to what is offered, in place of the usual.
    missing: names of topics that there are not; each other one comes to be when it is asked for.
    """

    addresses: dict[int, Address]
    role: ServerRole = ServerRole.BROKER
    coordinator: int = NODES[0]
    features: dict[str, int] = field(default_factory=dict)
    versions: dict[int, tuple[int, int]] = field(default_factory=dict)
    topics: dict[str, ClusterTopic] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    groups: dict[str, MemberGroup] = field(default_factory=dict)
    transactions: dict[str, TransactionState] = field(default_factory=dict)
    sessions: dict[int, FetchSession] = field(default_factory=dict)
    password: tuple[str, str] | None = None
    session_lifetime_ms: int = 0
    producer_ids: int = 1000
    next_session: int = 1
    created: int = 0

    def topic(self, name: str) -> ClusterTopic | None:
        """Return a topic, new if need be; None for one that is missing."""
        if name in self.missing:
            return None
        return self.topics.get(name) or self.create(name)

    def create(self, name: str, partitions: int = 1) -> ClusterTopic:
        """Create a topic, anew if there is one of this name."""
        self.created += 1
        topic = ClusterTopic(name, uuid5(_IDS, f"{name} {self.created}"))
        topic.partitions = [PartitionLog() for _ in range(max(1, partitions))]
        self.topics[name] = topic
        return topic

    def topic_by(self, name: str | None, topic_id: UUID) -> ClusterTopic | None:
        """Return the topic of an id, or of a name where a version has names."""
        if topic_id.int:
            return next((topic for topic in self.topics.values() if topic.id == topic_id), None)
        return self.topic(name) if name else None

    def partition(self, topic: ClusterTopic | None, index: int) -> PartitionLog | None:
        """Return a partition, None if there is none."""
        if topic is None or not 0 <= index < len(topic.partitions):
            return None
        return topic.partitions[index]

    def fill(self, name: str, values: Iterable[str]) -> None:
        """Append a batch of records for each of these values to partition 0 of a topic."""
        topic = self.topic(name)
        assert topic is not None, f"{name} is missing"
        for value in values:
            topic.partitions[0].append(
                checked_batch(build_batch([Record(value.encode(), timestamp=0)]))
            )

    def move_leaders(self, to: int = NODES[1]) -> None:
        """Make another node the leader of every partition, in a new epoch."""
        for log in self.logs():
            log.leader, log.leader_epoch = to, log.leader_epoch + 1

    def logs(self) -> Iterator[PartitionLog]:
        """Yield every partition."""
        for topic in self.topics.values():
            yield from topic.partitions

    def values(self) -> list[str]:
        """Return the values of all records of all topics."""
        return [value for log in self.logs() for value in log.values()]
