"""The upgrade of kraft.version: static voters become a VotersRecord (KIP-853 "UpdateFeatures",
"KRaft version feature"; Java: LeaderState.maybeAppendUpgradedKRaftVersion)."""

from __future__ import annotations

from kwire.batches.control_records import QuorumMessage
from kwire.controller.raft import leader_records
from kwire.controller.raft.effects import Appended, Rejected
from kwire.controller.raft.events import UpgradeKRaftVersion
from kwire.controller.raft.high_watermark import advance_high_watermark
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Leader
from kwire.error_codes import ErrorCode

NAME = "kraft.version"


def upgrade_kraft_version(replica: Replica, upgrade: UpgradeKRaftVersion, now: int) -> None:
    """Answer UpdateFeatures for kraft.version.

    1. Not the leader of that epoch: NOT_CONTROLLER.
    2. The level it has already: nothing to write.
    3. A lower level: INVALID_UPDATE_VERSION.
    4. Not every voter is known to support it, from UpdateRaftVoter: INVALID_UPDATE_VERSION.
    5. A voter's directory id is not known yet: INVALID_UPDATE_VERSION.
    6. Unless only to be validated: append one control batch with KRaftVersionRecord and
       VotersRecord. quorum-state is written at version 1 from then on.

    The state machine has checked before that the brokers support the level.
    """
    leader, level = replica.leader, replica.control_records.kraft_version
    end = replica.log.end.offset
    # 1.
    if leader is None or leader.epoch != upgrade.epoch:
        text = "This node does not lead the quorum in that epoch."
        _reject(replica, upgrade, ErrorCode.NOT_CONTROLLER, text)
    # 2.
    elif upgrade.kraft_version == level:
        replica.emit(Appended(token=upgrade.token, base_offset=end, end_offset=end))
    # 3.–5.
    elif problem := _problem(leader, level, upgrade.kraft_version):
        _reject(replica, upgrade, ErrorCode.INVALID_UPDATE_VERSION, problem)
    # 6.
    elif upgrade.validate_only:
        replica.emit(Appended(token=upgrade.token, base_offset=end, end_offset=end))
    else:
        _append(replica, leader, upgrade, now)


def _reject(replica: Replica, upgrade: UpgradeKRaftVersion, error: int, text: str) -> None:
    replica.emit(Rejected(token=upgrade.token, error=error, message=text))


def _problem(leader: Leader, level: int, new_level: int) -> str | None:
    voters = leader.volatile_voters
    # 3.
    if new_level < level:
        return f"{NAME} is {level} and never goes down."
    # 4.
    if voters is None or not voters.supports(new_level):
        return f"Not every voter supports {NAME} {new_level}."
    # 5.
    if any(voter.key.directory_id is None for voter in voters):
        return "Not every voter has told its directory id to this leader yet."
    return None


def _append(replica: Replica, leader: Leader, upgrade: UpgradeKRaftVersion, now: int) -> None:
    messages: list[QuorumMessage] = [leader_records.kraft_version_record(upgrade.kraft_version)]
    if leader.volatile_voters is not None:
        messages.append(leader.volatile_voters.to_record())
    base = replica.log.end.offset
    last = leader_records.append(replica, leader, messages, now)
    # From here on the log has the voters.
    leader.volatile_voters = None
    advance_high_watermark(replica, leader)
    replica.emit(Appended(token=upgrade.token, base_offset=base, end_offset=last + 1))
