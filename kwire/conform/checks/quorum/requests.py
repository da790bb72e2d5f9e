"""Requests of raft, right ones, which checks break in one place each."""

from __future__ import annotations

from kwire.conform.quorum import NO_DIRECTORY, NOBODY, OTHER_DIRECTORY, DescribedQuorum
from kwire.messages.a52_vote import PartitionData as VotePartition
from kwire.messages.a52_vote import TopicData as VoteTopic
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a53_begin_quorum_epoch import PartitionData as BeginPartition
from kwire.messages.a53_begin_quorum_epoch import TopicData as BeginTopic
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import PartitionData as EndPartition
from kwire.messages.a54_end_quorum_epoch import TopicData as EndTopic
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.a82_update_raft_voter import KRaftVersionFeature, UpdateRaftVoterRequest
from kwire.messages.a82_update_raft_voter import Listener as UpdatedListener
from kwire.messages.metadata_topic import METADATA_TOPIC

_NO_PORT = 1
"""A port that nothing listens on."""


def add_voter(quorum: DescribedQuorum, voter_id: int = NOBODY) -> AddRaftVoterRequest:
    """Return a request to add a voter that cannot be reached."""
    at = [Listener(name=item, host="127.0.0.1", port=_NO_PORT) for item in default_listener(quorum)]
    return AddRaftVoterRequest(
        cluster_id=None,
        timeout_ms=2000,
        voter_id=voter_id,
        voter_directory_id=OTHER_DIRECTORY,
        listeners=at,
    )


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
    [name] = default_listener(quorum)
    request = UpdateRaftVoterRequest(
        cluster_id=None,
        current_leader_epoch=quorum.epoch,
        voter_id=NOBODY,
        voter_directory_id=OTHER_DIRECTORY,
        listeners=[UpdatedListener(name=name, host="127.0.0.1", port=_NO_PORT)],
        k_raft_version_feature=KRaftVersionFeature(
            min_supported_version=0, max_supported_version=1
        ),
    )
    return request.replace(**changes)


def vote(
    quorum: DescribedQuorum, *, topic: str = METADATA_TOPIC, voter_id: int = -1, **changes: object
) -> VoteRequest:
    """Return a request for a vote in the epoch that already has a leader.

    Nobody can win with it, and no node has to change its state: the candidate's epoch is not above
    the leader's.
    """
    partition = VotePartition(
        partition_index=0,
        replica_epoch=quorum.epoch,
        replica_id=NOBODY,
        replica_directory_id=OTHER_DIRECTORY,
        voter_directory_id=NO_DIRECTORY,
        last_offset_epoch=0,
        last_offset=0,
    ).replace(**changes)
    return VoteRequest(
        voter_id=voter_id, topics=[VoteTopic(topic_name=topic, partitions=[partition])]
    )


def begin_epoch(
    quorum: DescribedQuorum, *, topic: str = METADATA_TOPIC, voter_id: int = -1, **changes: object
) -> BeginQuorumEpochRequest:
    """Return the leader's own announcement of its epoch."""
    partition = BeginPartition(
        partition_index=0,
        voter_directory_id=NO_DIRECTORY,
        leader_id=quorum.leader_id,
        leader_epoch=quorum.epoch,
    ).replace(**changes)
    return BeginQuorumEpochRequest(
        voter_id=voter_id, topics=[BeginTopic(topic_name=topic, partitions=[partition])]
    )


def end_epoch(
    quorum: DescribedQuorum, *, topic: str = METADATA_TOPIC, **changes: object
) -> EndQuorumEpochRequest:
    """Return the resignation of a leader of an earlier epoch."""
    partition = EndPartition(
        partition_index=0, leader_id=quorum.leader_id, leader_epoch=quorum.epoch - 1
    ).replace(**changes)
    return EndQuorumEpochRequest(topics=[EndTopic(topic_name=topic, partitions=[partition])])
