"""The control records that a leader writes (KIP-853 "First leader", "LeaderChangeMessage"; Java:
LeaderState.appendStartOfEpochControlRecords, AddVoterHandler)."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.batches.control_records import QuorumMessage
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Leader
from kwire.controller.raft.voter_set import VoterSet
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.leader_change_message import LeaderChangeMessage, Voter

FROM_BOOTSTRAP_SNAPSHOT = -1
"""The offset of voters that no log has, only the checkpoint that formatting wrote."""


def append_start_of_epoch(
    replica: Replica, leader: Leader, granting: Iterable[int], now: int
) -> None:
    """Append the first batch of an epoch, one atomic unit.

    1. LeaderChangeMessage, at version 0 whatever the kraft.version, as Kafka 4.3 writes it.
    2. With kraft.version 1, if the voters are only in the bootstrap checkpoint or name this
       leader otherwise than it is: KRaftVersionRecord and VotersRecord with the leader's own
       endpoints. This is how they get from the checkpoint into everybody's log.
    """
    control_records, local = replica.control_records, replica.config.voter
    # 1.
    messages: list[QuorumMessage] = [_leader_change(leader, granting)]
    # 2.
    entry = control_records.voters_entry
    if control_records.kraft_version and entry is not None:
        updated = entry.value.with_updated(local)
        is_due = entry.offset == FROM_BOOTSTRAP_SNAPSHOT or entry.value.needs_update(local)
        if updated is not None and is_due:
            messages.append(kraft_version_record(control_records.kraft_version))
            messages.append(updated.to_record())
    append(replica, leader, messages, now)


def append_voters(replica: Replica, leader: Leader, voters: VoterSet, now: int) -> int:
    """Append a VotersRecord, which is in force at once; return its offset."""
    return append(replica, leader, [voters.to_record()], now)


def append(replica: Replica, leader: Leader, messages: Iterable[QuorumMessage], now: int) -> int:
    """Append a control batch and count the voters that it names; return its last offset."""
    offset = replica.append_control(messages, now)
    leader.update_voters(replica.control_records.voters)
    return offset


def kraft_version_record(level: int) -> KRaftVersionRecord:
    """Make the record of a kraft.version."""
    return KRaftVersionRecord(version=0, k_raft_version=level)


def _leader_change(leader: Leader, granting: Iterable[int]) -> LeaderChangeMessage:
    return LeaderChangeMessage(
        version=0,
        leader_id=leader.leader_id,
        voters=[Voter(voter_id=id) for id in sorted(leader.voters)],
        granting_voters=[Voter(voter_id=id) for id in sorted(granting)],
    )
