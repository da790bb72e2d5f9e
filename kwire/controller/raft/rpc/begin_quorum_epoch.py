"""BeginQuorumEpoch, API key 53: a leader tells voters of itself (KIP-595, KIP-853)."""

from __future__ import annotations

from kwire.controller.raft.endpoints import Endpoints, Node
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.rpc import checks
from kwire.controller.raft.rpc.leadership import (
    leader_id,
    learn_from_leader,
    node_endpoints,
    read_answer,
)
from kwire.controller.raft.rpc.partition import only_partition
from kwire.error_codes import ErrorCode
from kwire.messages import a53_begin_quorum_epoch as messages
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


def handle(
    replica: Replica, received: RequestReceived, request: BeginQuorumEpochRequest, now: int
) -> BeginQuorumEpochResponse:
    """Answer a leader.

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Another partition: INVALID_REQUEST.
    2. An epoch that is over: FENCED_LEADER_EPOCH. No leader id: INVALID_REQUEST.
    3. Follow it, at the endpoints it names, or those of the voter set (version 0). Another leader
       than the epoch already has: INVALID_REQUEST.
    4. Meant for another voter id or directory: INVALID_VOTER_KEY, though the leader is believed.
    """
    if error := checks.cluster_id(replica, request.cluster_id):
        return BeginQuorumEpochResponse(error_code=error)
    told = only_partition(request.topics)
    if told is None:
        return BeginQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST)
    if error := learn_from_leader(replica, told, Endpoints.of(request.leader_endpoints), now):
        return _response(replica, received, error)
    receiver = ReplicaKey.from_wire(request.voter_id, told.voter_directory_id)
    return _response(replica, received, checks.addressed_to(replica, receiver))


def _response(
    replica: Replica, received: RequestReceived, error: int | None
) -> BeginQuorumEpochResponse:
    answer = messages.ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error or ErrorCode.NONE,
        leader_id=leader_id(replica),
        leader_epoch=replica.epoch,
    )
    return BeginQuorumEpochResponse(
        topics=[messages.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[answer])],
        node_endpoints=node_endpoints(replica, received, messages.NodeEndpoint, since=1),
    )


def request(replica: Replica, voter: ReplicaKey) -> BeginQuorumEpochRequest:
    """Tell a voter."""
    config = replica.config
    told = messages.PartitionData(
        partition_index=METADATA_PARTITION,
        voter_directory_id=voter.wire_directory_id,
        leader_id=config.node_id,
        leader_epoch=replica.epoch,
    )
    return BeginQuorumEpochRequest(
        cluster_id=config.cluster_id,
        voter_id=voter.id,
        topics=[messages.TopicData(topic_name=METADATA_TOPIC, partitions=[told])],
        leader_endpoints=config.endpoints.groups(messages.LeaderEndpoint),
    )


def answered(replica: Replica, node: Node, response: BeginQuorumEpochResponse, now: int) -> bool:
    """A voter knows now, or knows better."""

    def take(answer: messages.ResponsePartitionData) -> None:
        if replica.leader and node.id in replica.leader.voters:
            replica.leader.voters[node.id].has_acknowledged = True

    return read_answer(replica, response, now, take)
