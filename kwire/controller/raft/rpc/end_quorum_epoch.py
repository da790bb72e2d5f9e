"""EndQuorumEpoch, API key 54: a leader resigns and proposes successors (KIP-595, KIP-853
"EndQuorumEpoch")."""

from __future__ import annotations

from kwire.controller.raft.endpoints import Endpoints, PeerNode, unusable
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Follower, Resigned
from kwire.controller.raft.rpc.leader_and_epoch import (
    follow_announced_leader,
    handle_election_response,
    leader_id_or_sentinel,
    node_endpoints,
)
from kwire.controller.raft.rpc.partition import only_partition
from kwire.controller.raft.rpc.validation import validate_cluster_id
from kwire.error_codes import ErrorCode
from kwire.messages import a54_end_quorum_epoch as messages
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


def handle_request(
    replica: Replica, received: RequestReceived, request: EndQuorumEpochRequest, now: int
) -> EndQuorumEpochResponse:
    """Answer a leader that resigns (KafkaRaftClient.handleEndQuorumEpochRequest).

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Another partition, or a listener that is
       `unusable`: INVALID_REQUEST.
    2. A lower epoch: FENCED_LEADER_EPOCH, and nothing else. No leader id, or an
       epoch that leaves no room for elections: INVALID_REQUEST.
    3. Take over the epoch and its leader, as from BeginQuorumEpoch.
    4. A follower of that leader waits no longer for it: the first successor stands at once, the
       next ones each twice as long after, others after the greatest backoff.
    """
    # 1.
    if error := validate_cluster_id(replica, request.cluster_id):
        return EndQuorumEpochResponse(error_code=error)
    partition = only_partition(request.topics)
    if partition is None or unusable(request.leader_endpoints):
        return EndQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST)
    # 2., 3. Kafka's restarted former leaders send their old epoch, with no successors.
    endpoints = Endpoints.of(request.leader_endpoints)
    if error := follow_announced_leader(replica, partition, endpoints, now):
        return _response(replica, received, error)
    # 4.
    if isinstance(replica.role, Follower) and replica.role.leader_id == partition.leader_id:
        wait = end_epoch_election_backoff(replica, preferred_candidates(partition))
        replica.role.fetch_deadline = now + wait
    return _response(replica, received, ErrorCode.NONE)


def preferred_candidates(partition: messages.PartitionData) -> list[ReplicaKey]:
    """Return the successors of version 1, or of version 0, which has only their ids."""
    if partition.preferred_candidates:
        return [
            ReplicaKey.from_wire(info.candidate_id, info.candidate_directory_id)
            for info in partition.preferred_candidates
        ]
    return [ReplicaKey(id=id) for id in partition.preferred_successors]


def end_epoch_election_backoff(replica: Replica, successors: list[ReplicaKey]) -> int:
    """Return the milliseconds until this replica may stand (endEpochElectionBackoff).

    0 for the first successor, then doubling up to the greatest backoff.
    """
    greatest, count = replica.config.election_backoff_max_ms, len(successors)
    for position, successor in enumerate(successors):
        if successor.covers(replica.config.key):
            if position == 0:
                return 0
            return min(greatest, (greatest >> (count - 1)) << (position - 1))
    return greatest if count else 0


def _response(replica: Replica, received: RequestReceived, error: int) -> EndQuorumEpochResponse:
    partition = messages.ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=leader_id_or_sentinel(replica),
        leader_epoch=replica.epoch,
    )
    return EndQuorumEpochResponse(
        topics=[messages.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        node_endpoints=node_endpoints(replica, received, messages.NodeEndpoint, since=1),
    )


def build_request(replica: Replica, resigned: Resigned) -> EndQuorumEpochRequest:
    """Make the request that names the successors, in the fields of both versions."""
    config = replica.config
    partition = messages.PartitionData(
        partition_index=METADATA_PARTITION,
        leader_id=config.node_id,
        leader_epoch=resigned.epoch,
        preferred_successors=tuple(key.id for key in resigned.preferred_successors),
        preferred_candidates=[
            messages.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.wire_directory_id)
            for key in resigned.preferred_successors
        ],
    )
    return EndQuorumEpochRequest(
        cluster_id=config.cluster_id,
        topics=[messages.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=config.endpoints.groups(messages.LeaderEndpoint),
    )


def handle_response(
    replica: Replica, node: PeerNode, response: EndQuorumEpochResponse, now: int
) -> bool:
    """Note that a voter knows of the resignation; False if the peer needs a pause."""

    def acknowledge(partition: messages.ResponsePartitionData) -> None:
        if isinstance(replica.role, Resigned):
            replica.role.unacknowledged.discard(node.id)

    return handle_election_response(replica, response, now, acknowledge)
