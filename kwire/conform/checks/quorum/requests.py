"""Requests of raft, right ones, which checks break in one place each."""

from __future__ import annotations

from typing import Any

from kwire.conform.quorum import NOBODY, OTHER_DIRECTORY, DescribedQuorum
from kwire.conform.whole_answer import filled
from kwire.messages import (
    AddRaftVoterRequest,
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    RemoveRaftVoterRequest,
    UpdateRaftVoterRequest,
    VoteRequest,
)
from kwire.messages.metadata_topic import METADATA_TOPIC

_NO_PORT = 1
"""A port that nothing listens on."""


def add_voter(quorum: DescribedQuorum, voter_id: int = NOBODY) -> AddRaftVoterRequest:
    """Return a request to add a voter that cannot be reached."""
    return filled(
        AddRaftVoterRequest,
        cluster_id=None,
        timeout_ms=2000,
        voter_id=voter_id,
        voter_directory_id=OTHER_DIRECTORY,
        listeners=[_nowhere(quorum)],
    )


def _nowhere(quorum: DescribedQuorum) -> dict[str, Any]:
    return {"name": default_listener(quorum)[0], "host": "127.0.0.1", "port": _NO_PORT}


def default_listener(quorum: DescribedQuorum) -> tuple[str, ...]:
    """Return the name of the listener that the quorum's voters talk to each other at."""
    listeners = quorum.listeners.get(quorum.leader_id, [])
    return (listeners[0].name if listeners else "CONTROLLER",)


def remove_voter(quorum: DescribedQuorum, voter_id: int = NOBODY) -> RemoveRaftVoterRequest:
    """Return a request to remove a voter, with a directory that it has not."""
    return RemoveRaftVoterRequest(
        cluster_id=None, voter_id=voter_id, voter_directory_id=OTHER_DIRECTORY
    )


def update_voter(quorum: DescribedQuorum, **changes: object) -> UpdateRaftVoterRequest:
    """Return a request to update a voter that does not exist, otherwise in order."""
    own = {
        "cluster_id": None,
        "current_leader_epoch": quorum.epoch,
        "voter_id": NOBODY,
        "voter_directory_id": OTHER_DIRECTORY,
        "listeners": [_nowhere(quorum)],
        "k_raft_version_feature": {"max_supported_version": 1},
    }
    return filled(UpdateRaftVoterRequest, **(own | changes))


def vote(
    quorum: DescribedQuorum, *, topic: str = METADATA_TOPIC, voter_id: int = -1, **changes: object
) -> VoteRequest:
    """Return a request for a vote in the epoch that already has a leader.

    Nobody can win with it, and no node has to change its state: the candidate's epoch is not above
    the leader's.
    """
    partition = {
        "replica_epoch": quorum.epoch,
        "replica_id": NOBODY,
        "replica_directory_id": OTHER_DIRECTORY,
        **changes,
    }
    topics = [{"topic_name": topic, "partitions": [partition]}]
    return filled(VoteRequest, voter_id=voter_id, topics=topics)


def begin_epoch(
    quorum: DescribedQuorum, *, topic: str = METADATA_TOPIC, voter_id: int = -1, **changes: object
) -> BeginQuorumEpochRequest:
    """Return the leader's own announcement of its epoch."""
    partition = {"leader_id": quorum.leader_id, "leader_epoch": quorum.epoch, **changes}
    topics = [{"topic_name": topic, "partitions": [partition]}]
    return filled(BeginQuorumEpochRequest, voter_id=voter_id, topics=topics)


def end_epoch(
    quorum: DescribedQuorum, *, topic: str = METADATA_TOPIC, **changes: object
) -> EndQuorumEpochRequest:
    """Return the resignation of a leader of an earlier epoch."""
    partition = {"leader_id": quorum.leader_id, "leader_epoch": quorum.epoch - 1, **changes}
    return filled(EndQuorumEpochRequest, topics=[{"topic_name": topic, "partitions": [partition]}])
