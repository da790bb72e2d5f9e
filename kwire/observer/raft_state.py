"""The quorum as the control records of its log tell it: voters, kraft.version, leaders.

KIP-595 has a record for each leader, KIP-853 one for kraft.version and one for the voters. A
checkpoint keeps the last of the latter two, and no leader.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from rpds import List

from kwire.batches import RecordBatch
from kwire.batches.control_records import ControlRecord, read_control_record
from kwire.logdir.snapshots import SnapshotContent
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.data.voters_record import VotersRecord


class LeaderChange(NamedTuple):
    """The record with which a leader began its epoch. timestamp: milliseconds since 1970."""

    offset: int
    epoch: int
    timestamp: int
    message: LeaderChangeMessage


class RaftState(Struct, frozen=True, kw_only=True):
    """The control records up to an offset, as a value.

    voters: None where the log names none, as with controller.quorum.voters. leader_changes: the
    newest first. known_from: the offset before which leaders are not known, since a checkpoint
    stands for what was there.
    """

    voters: VotersRecord | None = None
    kraft_version: int = 0
    leader_changes: List[LeaderChange] = List()
    known_from: int = 0

    @classmethod
    def of_snapshot(cls, content: SnapshotContent, end: int) -> RaftState:
        """Return the state that a snapshot tells. end: the offset after its last record."""
        return cls(voters=content.voters, kraft_version=content.kraft_version, known_from=end)

    def after(self, batch: RecordBatch) -> RaftState:
        """Return the state after a batch. Raises WireError for a control record that is broken."""
        state = self
        for record in batch.records() if batch.is_control else ():
            state = state.with_record(read_control_record(record), batch)
        return state

    @property
    def leader_change(self) -> LeaderChange | None:
        """The last one; None if the log does not tell."""
        return next(iter(self.leader_changes), None)

    @property
    def leader_id(self) -> int | None:
        """The last leader; None if the log does not tell."""
        return None if self.leader_change is None else self.leader_change.message.leader_id

    def with_record(self, record: ControlRecord, batch: RecordBatch) -> RaftState:
        """Return the state after one record of a batch; one that is not known changes nothing."""
        message = record.message
        if isinstance(message, KRaftVersionRecord):
            return replace(self, kraft_version=message.k_raft_version)
        if isinstance(message, VotersRecord):
            return replace(self, voters=message)
        if isinstance(message, LeaderChangeMessage):
            change = LeaderChange(
                record.record.offset, batch.partition_leader_epoch, batch.max_timestamp, message
            )
            return replace(self, leader_changes=self.leader_changes.push_front(change))
        return self
