"""Raise kraft.version: static voters become a VotersRecord (KIP-853, UpdateFeatures)."""

from __future__ import annotations

from kwire.batches.control_records import QuorumMessage
from kwire.controller.raft import leader_records
from kwire.controller.raft.commitment import advance
from kwire.controller.raft.effects import Appended, Rejected
from kwire.controller.raft.events import UpgradeKRaftVersion
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Leader
from kwire.error_codes import ErrorCode

NAME = "kraft.version"


def upgrade(replica: Replica, wanted: UpgradeKRaftVersion, now: int) -> None:
    """Answer UpdateFeatures for kraft.version (LeaderState.maybeAppendUpgradedKRaftVersion).

    1. Not the leader of that epoch: NOT_CONTROLLER.
    2. The level it has already: nothing to write.
    3. A lower level: INVALID_UPDATE_VERSION.
    4. Not every voter is known to support it, from UpdateRaftVoter: INVALID_UPDATE_VERSION.
    5. A voter's directory id is not known yet: INVALID_UPDATE_VERSION.
    6. Unless only to be validated: one control batch with KRaftVersionRecord and VotersRecord.
       quorum-state is written at version 1 from then on.
    Whether the brokers support the level is the state machine's to check.
    """
    leader, level = replica.leader, replica.history.kraft_version
    end = replica.tail.end.offset
    if leader is None or leader.epoch != wanted.epoch:
        text = "This node does not lead the quorum in that epoch."
        refuse(replica, wanted, ErrorCode.NOT_CONTROLLER, text)
    elif wanted.kraft_version == level:
        replica.emit(Appended(token=wanted.token, base_offset=end, end_offset=end))
    elif problem := _problem(leader, level, wanted.kraft_version):
        refuse(replica, wanted, ErrorCode.INVALID_UPDATE_VERSION, problem)
    elif wanted.validate_only:
        replica.emit(Appended(token=wanted.token, base_offset=end, end_offset=end))
    else:
        _append(replica, leader, wanted, now)


def refuse(replica: Replica, wanted: UpgradeKRaftVersion, error: int, text: str) -> None:
    """The answer to UpdateFeatures."""
    replica.emit(Rejected(token=wanted.token, error=error, message=text))


def _problem(leader: Leader, level: int, wanted: int) -> str | None:
    voters = leader.volatile_voters
    if wanted < level:
        return f"{NAME} is {level} and never goes down."
    if voters is None or not voters.supports(wanted):
        return f"Not every voter supports {NAME} {wanted}."
    if any(voter.key.directory_id is None for voter in voters):
        return "Not every voter has told its directory id to this leader yet."
    return None


def _append(replica: Replica, leader: Leader, wanted: UpgradeKRaftVersion, now: int) -> None:
    messages: list[QuorumMessage] = [leader_records.kraft_version_record(wanted.kraft_version)]
    if leader.volatile_voters is not None:
        messages.append(leader.volatile_voters.to_record())
    base = replica.tail.end.offset
    last = leader_records.append(replica, leader, messages, now)
    leader.volatile_voters = None
    advance(replica, leader)
    replica.emit(Appended(token=wanted.token, base_offset=base, end_offset=last + 1))
