"""BeginQuorumEpoch, API key 53: a leader announces itself (KIP-595, KIP-853
"BeginQuorumEpoch")."""

from __future__ import annotations

from kwire.controller.raft.endpoints import Endpoints, PeerNode, unusable
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.rpc.leader_and_epoch import (
    follow_announced_leader,
    handle_election_response,
    leader_id_or_sentinel,
    node_endpoints,
)
from kwire.controller.raft.rpc.partition import only_partition
from kwire.controller.raft.rpc.validation import validate_cluster_id, validate_voter_key
from kwire.error_codes import ErrorCode
from kwire.messages import a53_begin_quorum_epoch as messages
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


def handle_request(
    replica: Replica, received: RequestReceived, request: BeginQuorumEpochRequest, now: int
) -> BeginQuorumEpochResponse:
    """Answer a leader (KafkaRaftClient.handleBeginQuorumEpochRequest).

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Another partition, or a listener that is
       `unusable`: INVALID_REQUEST.
    2. A lower epoch: FENCED_LEADER_EPOCH. No leader id, or an
       epoch that leaves no room for elections: INVALID_REQUEST.
    3. Follow it, at the endpoints it names, or those of the voter set (version 0). Another leader
       than the epoch already has: INVALID_REQUEST.
    4. Addressed to another voter id or directory: INVALID_VOTER_KEY. The leader is followed anyway.
    """
    # 1.
    if error := validate_cluster_id(replica, request.cluster_id):
        return BeginQuorumEpochResponse(error_code=error)
    partition = only_partition(request.topics)
    if partition is None or unusable(request.leader_endpoints):
        return BeginQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST)
    # 2., 3.
    endpoints = Endpoints.of(request.leader_endpoints)
    if error := follow_announced_leader(replica, partition, endpoints, now):
        return _response(replica, received, error)
    # 4.
    receiver = ReplicaKey.from_wire(request.voter_id, partition.voter_directory_id)
    return _response(replica, received, validate_voter_key(replica, receiver))


def _response(
    replica: Replica, received: RequestReceived, error: int | None
) -> BeginQuorumEpochResponse:
    partition = messages.ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error or ErrorCode.NONE,
        leader_id=leader_id_or_sentinel(replica),
        leader_epoch=replica.epoch,
    )
    return BeginQuorumEpochResponse(
        topics=[messages.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        node_endpoints=node_endpoints(replica, received, messages.NodeEndpoint, since=1),
    )


def build_request(replica: Replica, voter: ReplicaKey) -> BeginQuorumEpochRequest:
    """Make the request to one voter, with all endpoints of this leader."""
    config = replica.config
    partition = messages.PartitionData(
        partition_index=METADATA_PARTITION,
        voter_directory_id=voter.wire_directory_id,
        leader_id=config.node_id,
        leader_epoch=replica.epoch,
    )
    return BeginQuorumEpochRequest(
        cluster_id=config.cluster_id,
        voter_id=voter.id,
        topics=[messages.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=config.endpoints.groups(messages.LeaderEndpoint),
    )


def handle_response(
    replica: Replica, node: PeerNode, response: BeginQuorumEpochResponse, now: int
) -> bool:
    """Take over what the voter knows; return False if it needs a pause."""
    return handle_election_response(replica, response, now)
