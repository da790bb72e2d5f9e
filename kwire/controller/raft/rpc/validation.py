"""Checks that several requests share, each with its error code (KafkaRaftClient.validate…)."""

from __future__ import annotations

from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Leader
from kwire.error_codes import ErrorCode
from kwire.logdir.quorum_state import LAST_EPOCH

EPOCHS_AHEAD = 1 << 10
"""Epochs by which a peer may always be ahead: of elections that this replica did not see."""

GREATEST_ASKED = 1 << 30
"""The greatest epoch in a request of a peer that is further ahead; requests come from anybody."""

GREATEST_ANSWERED = (1 << 31) - (1 << 20)
"""The same in an answer, of a peer that this replica chose to ask: so one that is new joins a
quorum which somebody led up to the greatest epoch of requests."""


def leaves_room(replica: Replica, epoch: int, greatest: int) -> bool:
    """Return True if elections can follow an epoch that a peer names.

    A replica that took over the greatest number could elect nobody any more.
    """
    return epoch < LAST_EPOCH and epoch <= max(greatest, replica.epoch + EPOCHS_AHEAD)


def validate_cluster_id(replica: Replica, cluster_id: str | None) -> ErrorCode | None:
    """Return INCONSISTENT_CLUSTER_ID for the id of another cluster; a request may leave it out."""
    if cluster_id in (None, replica.config.cluster_id):
        return None
    return ErrorCode.INCONSISTENT_CLUSTER_ID


def wrong_cluster_text(replica: Replica, cluster_id: str | None) -> str:
    """Return the message of INCONSISTENT_CLUSTER_ID for an admin."""
    return f"The cluster's id is {replica.config.cluster_id}, the request is for {cluster_id}."


def validate_voter_only_request(replica: Replica, sender: int, epoch: int) -> ErrorCode | None:
    """Check Vote, BeginQuorumEpoch and EndQuorumEpoch (validateVoterOnlyRequest).

    1. A lower epoch: FENCED_LEADER_EPOCH.
    2. No node id of the sender, or an epoch that leaves no room for elections: INVALID_REQUEST.
    """
    # 1.
    if epoch < replica.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    # 2. Nothing asks if sender and receiver are voters: either of them may not have the latest
    # VotersRecord yet, and would then refuse the leader that could send it (KIP-853, Vote).
    is_valid = sender >= 0 and leaves_room(replica, epoch, GREATEST_ASKED)
    return None if is_valid else ErrorCode.INVALID_REQUEST


def validate_leader_only_request(replica: Replica, epoch: int) -> ErrorCode | None:
    """Check Fetch, FetchSnapshot and voter changes (validateLeaderOnlyRequest).

    1. A lower epoch: FENCED_LEADER_EPOCH. A greater one: UNKNOWN_LEADER_EPOCH.
    2. Not the leader: NOT_LEADER_OR_FOLLOWER.
    3. Shutting down: BROKER_NOT_AVAILABLE.
    """
    # 1.
    if epoch < replica.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if epoch > replica.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    # 2.
    if not replica.leader:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    # 3.
    return ErrorCode.BROKER_NOT_AVAILABLE if replica.is_shutting_down else None


def validate_voter_key(replica: Replica, voter: ReplicaKey) -> ErrorCode | None:
    """Return INVALID_VOTER_KEY for a request that is addressed to another replica (KIP-853).

    Version 0 names nobody (id -1); a missing directory id fits every directory.
    """
    if voter.id < 0 or voter.covers(replica.config.key):
        return None
    return ErrorCode.INVALID_VOTER_KEY


def validate_voter_change(replica: Replica, leader: Leader) -> tuple[ErrorCode, str] | None:
    """Check that the voter set may change now; return the error and its text if not.

    1. Another addition or removal is pending: REQUEST_TIMED_OUT.
    2. No record of this epoch is committed: REQUEST_TIMED_OUT.
    3. kraft.version is 0: UNSUPPORTED_VERSION.
    4. The latest VotersRecord is not committed: REQUEST_TIMED_OUT.
    """
    timed_out = ErrorCode.REQUEST_TIMED_OUT
    # 1.
    if leader.voter_change is not None:
        return timed_out, "Another voter change is not finished yet: nothing was appended."
    # 2. Two leaders could otherwise change the set that an older change of a third one still may
    # replace, and end with majorities that do not overlap: Ongaro's bug in single-server
    # membership changes. An own committed record proves that no older change can win any more.
    if leader.high_watermark is None:
        return timed_out, "The leader has committed nothing in its epoch yet: nothing was appended."
    # 3.
    if not replica.control_records.kraft_version:
        return ErrorCode.UNSUPPORTED_VERSION, "The finalised kraft.version is 0: voters are static."
    # 4. Also after an UpdateRaftVoter, which leaves no pending change.
    if not are_voters_committed(replica, leader.high_watermark):
        return timed_out, "The latest voter set is not committed yet: nothing was appended."
    return None


def are_voters_committed(replica: Replica, high_watermark: int) -> bool:
    """True if the latest VotersRecord is below the high watermark."""
    entry = replica.control_records.voters_entry
    return entry is not None and entry.offset < high_watermark
