"""The checks that several requests share, each with its error code (KafkaRaftClient)."""

from __future__ import annotations

from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.error_codes import ErrorCode


def cluster_id(replica: Replica, given: str | None) -> ErrorCode | None:
    """A cluster id is optional, but never another one: INCONSISTENT_CLUSTER_ID."""
    if given in (None, replica.config.cluster_id):
        return None
    return ErrorCode.INCONSISTENT_CLUSTER_ID


def sent_by_voter(replica: Replica, sender: int, epoch: int) -> ErrorCode | None:
    """Vote, BeginQuorumEpoch, EndQuorumEpoch.

    An epoch that is over: FENCED_LEADER_EPOCH. No node id: INVALID_REQUEST. Whether sender and
    receiver are voters is not asked: either may not have the latest voter set yet (KIP-853).
    """
    if epoch < replica.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.INVALID_REQUEST if sender < 0 else None


def for_leader(replica: Replica, epoch: int) -> ErrorCode | None:
    """Fetch, FetchSnapshot and voter changes.

    A lower epoch: FENCED_LEADER_EPOCH. A greater one: UNKNOWN_LEADER_EPOCH. Not the leader:
    NOT_LEADER_OR_FOLLOWER. Shutting down: BROKER_NOT_AVAILABLE.
    """
    if epoch < replica.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if epoch > replica.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    if not replica.leader:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.BROKER_NOT_AVAILABLE if replica.is_shutting_down else None


def addressed_to(replica: Replica, voter: ReplicaKey) -> ErrorCode | None:
    """A request that names its receiver must mean this one: INVALID_VOTER_KEY.

    Version 0 names nobody (id -1); a missing directory id fits every directory.
    """
    if voter.id < 0 or voter.covers(replica.config.key):
        return None
    return ErrorCode.INVALID_VOTER_KEY


def wrong_cluster_text(replica: Replica, given: str | None) -> str:
    """What an admin reads."""
    return f"The cluster's id is {replica.config.cluster_id}, the request is for {given}."
