"""The voters and the kraft.version that the log names, committed or not (KIP-853 "Set of
voters", "Log and snapshot control records", "KRaftVersionRecord", "Internal listener",
"Snapshots"; Java: KRaftControlRecordStateMachine).

Replicas act on a VotersRecord as soon as it is in their log, and take it back when it is truncated.
"""

from __future__ import annotations

from collections.abc import Iterator

from kwire.batches import Batch, Record, RecordBatch, read_batch, read_batches
from kwire.batches.control_records import read_control_record
from kwire.batches.current import HEADER
from kwire.batches.reading import batch_size
from kwire.controller.raft.log import Log
from kwire.controller.raft.log_history import LogHistory, LogHistoryEntry
from kwire.controller.raft.voter_set import VoterSet
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.voters_record import VotersRecord

_CHUNK = 8 << 20
"""Bytes read at once while the log is loaded: the size of Kafka's greatest batch."""


class ControlRecordStateMachine:
    """The values of VotersRecords and KRaftVersionRecords, by offset."""

    def __init__(self, static_voters: VoterSet) -> None:
        self.static_voters = static_voters
        self._voters: LogHistory[VoterSet] = LogHistory()
        self._kraft_versions: LogHistory[int] = LogHistory()

    @property
    def voters(self) -> VoterSet:
        """The voters of the last VotersRecord, else the static ones."""
        last = self._voters.last
        return last.value if last else self.static_voters

    @property
    def voters_entry(self) -> LogHistoryEntry[VoterSet] | None:
        """The last VotersRecord and its offset: -1 in the bootstrap snapshot."""
        return self._voters.last

    @property
    def kraft_version(self) -> int:
        """The level of the last KRaftVersionRecord, else 0."""
        last = self._kraft_versions.last
        return last.value if last else 0

    def voters_at(self, offset: int) -> VoterSet | None:
        """Return the voters for a snapshot that contains `offset`; None if it has none."""
        return self._voters.at(offset)

    def kraft_version_at(self, offset: int) -> int:
        """Return the level in force after `offset`."""
        return self._kraft_versions.at(offset) or 0

    @property
    def previous_voters(self) -> VoterSet:
        """The voters before the last record: while that is uncommitted they may come back."""
        last = self._voters.last
        before = self._voters.at(last.offset - 1) if last else None
        return before or self.static_voters

    def load(self, log: Log) -> None:
        """Read the latest snapshot, and the log from where it ends."""
        self._voters.clear()
        self._kraft_versions.clear()
        offset = log.start_offset
        if snapshots := log.snapshots():
            latest = snapshots[-1]
            # Offsets in a snapshot count from 0: its records hold at the last offset it contains.
            for batch in _first_control_batches(log, latest):
                self._take(batch, at=latest.offset - 1)
            offset = max(offset, latest.offset)
        while data := log.read(offset, _CHUNK) if offset < log.end.offset else b"":
            offset = self.read(data)

    def read(self, data: bytes) -> int:
        """Take the control records of appended batches; return the offset after them."""
        end = 0
        for batch in read_batches(data):
            self._take(batch)
            end = batch.last_offset + 1
        return end

    def truncate(self, end_offset: int) -> None:
        """Forget the records that were truncated: the log ends at `end_offset` now."""
        self._voters.truncate(end_offset)
        self._kraft_versions.truncate(end_offset)

    def forget_before(self, offset: int) -> None:
        """Forget the values that only older snapshots need: one that ends at `offset` was taken."""
        self._voters.forget_before(offset - 1)
        self._kraft_versions.forget_before(offset - 1)

    def _take(self, batch: Batch, at: int | None = None) -> None:
        for record in _control_records(batch):
            offset = record.offset if at is None else at
            match read_control_record(record).message:
                case VotersRecord() as voters:
                    self._voters.add(offset, VoterSet.from_record(voters))
                case KRaftVersionRecord(k_raft_version=level):
                    self._kraft_versions.add(offset, level)


def _first_control_batches(log: Log, snapshot: OffsetAndEpoch) -> Iterator[Batch]:
    """Read a snapshot up to its first record of metadata.

    Header, kraft.version and voters stand before it (RecordsSnapshotWriter); after it is only the
    footer. A snapshot may have hundreds of megabytes, and this is read within a step.
    """
    position, size = 0, log.snapshot_size(snapshot) or 0
    while position < size:
        head = log.read_snapshot(snapshot, position, HEADER.sizeof())
        length = batch_size(head)
        if length is None or not RecordBatch.read(head).is_control:
            return
        batch = read_batch(log.read_snapshot(snapshot, position, length))
        if batch is None:
            return
        yield batch
        position += length


def _control_records(batch: Batch) -> Iterator[Record]:
    return iter(batch.records() if batch.is_control else ())
