"""The state machine of a simulated node (Kafka's ReplicatedCounter), and what all must agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from zlib import crc32

from controller.raft import OffsetAndEpoch, Raft
from controller.simulator.disk import Disk
from controller.simulator.violation import Violation
from kwire.batches import Record, build_batch, read_batches
from kwire.control_records import QuorumMessage, quorum_record
from kwire.data.k_raft_version_record import KRaftVersionRecord
from kwire.data.snapshot_footer_record import SnapshotFooterRecord
from kwire.data.snapshot_header_record import SnapshotHeaderRecord


@dataclass(slots=True)
class Ledger:
    """Everything that was ever committed: batches by first offset, snapshots by id."""

    batches: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    snapshots: dict[OffsetAndEpoch, bytes] = field(default_factory=dict)
    end: int = 0

    def committed(self, name: str, base: int, end: int, data: bytes) -> bool:
        """A node says that a batch is committed: the first one to say so is believed, and gets
        true. They say so in the order of the log."""
        if self.batches.setdefault(base, (end, data)) != (end, data):
            text = f"{name} commits another batch at offset {base} than was committed before"
            raise Violation("ConsistentCommittedData", text)
        is_news = end > self.end
        self.end = max(self.end, end)
        return is_news

    def snapshot(self, name: str, id: OffsetAndEpoch, data: bytes) -> None:
        """A node has a snapshot: every snapshot of this id has the same bytes."""
        if self.snapshots.setdefault(id, data) != data:
            raise Violation("ConsistentCommittedData", f"{name} has another snapshot at {id}")


@lru_cache(maxsize=4096)
def values(data: bytes) -> tuple[bytes, ...]:
    """The values of a batch's data records."""
    (batch,) = read_batches(data)
    if batch.is_control:
        return ()
    return tuple(record.value or b"" for record in batch.records())


class Counter:
    """Counts records and chains their checksums. applied: everything before it is in the state."""

    def __init__(self, name: str, disk: Disk, ledger: Ledger) -> None:
        self._name, self._disk, self._ledger = name, disk, ledger
        self.count = self.checksum = 0
        self.applied = OffsetAndEpoch(offset=0, epoch=0)
        if ids := disk.snapshots():
            self.load(ids[-1])

    def load(self, id: OffsetAndEpoch) -> None:
        """Begin anew from a snapshot."""
        if id.offset == 0:
            return
        data = self._disk.read_snapshot(id, 0, self._disk.snapshot_size(id) or 0)
        self._ledger.snapshot(self._name, id, data)
        batches = [b for b in read_batches(data) if not b.is_control]
        (value,) = [record.value or b"" for batch in batches for record in batch.records()]
        self.count, self.checksum = int.from_bytes(value[:8]), int.from_bytes(value[8:])
        self.applied = id

    def commit(self, high_watermark: int) -> None:
        """Apply what is committed now."""
        for base, end, epoch, data in self._disk.batches(self.applied.offset, high_watermark):
            self._ledger.committed(self._name, base, end, data)
            for value in values(data):
                self.count += 1
                self.checksum = crc32(value, self.checksum)
            self.applied = OffsetAndEpoch(offset=end, epoch=epoch)

    def take_snapshot(self, raft: Raft) -> OffsetAndEpoch:
        """Write a snapshot of everything applied; its id."""
        id = self.applied
        value = self.count.to_bytes(8) + self.checksum.to_bytes(4)
        state = build_batch([Record(value=value)], base_offset=3, partition_leader_epoch=id.epoch)
        header = [SnapshotHeaderRecord(version=0)]
        footer = [SnapshotFooterRecord(version=0)]
        data = control_batch([*header, *_quorum(raft, id)], 0, id.epoch)
        data += state + control_batch(footer, 4, id.epoch)
        self._ledger.snapshot(self._name, id, data)
        self._disk.store_snapshot(id, data)
        return id

    def leads(self, epoch: int) -> None:
        """A counter has nothing to write by itself."""

    def resigns(self) -> None:
        """Nothing that was written ahead is kept."""


def _quorum(raft: Raft, id: OffsetAndEpoch) -> list[QuorumMessage]:
    voters, level = raft.voters_at(id.offset - 1), raft.kraft_version_at(id.offset - 1)
    if voters is None or not level:
        return []
    return [KRaftVersionRecord(version=0, k_raft_version=level), voters.to_record()]


def control_batch(messages: Sequence[QuorumMessage], base: int, epoch: int) -> bytes:
    """One control batch."""
    records = [quorum_record(message) for message in messages]
    return build_batch(records, base_offset=base, partition_leader_epoch=epoch, is_control=True)


def bootstrap_snapshot(messages: list[QuorumMessage]) -> bytes:
    """The checkpoint that formatting writes, with the voters and their kraft.version."""
    header = [SnapshotHeaderRecord(version=0)]
    data = control_batch([*header, *messages], 0, 0)
    return data + control_batch([SnapshotFooterRecord(version=0)], len(messages) + 1, 0)
