"""EndQuorumEpoch, API key 54: a leader resigns and proposes successors (KIP-595, KIP-853)."""

from __future__ import annotations

from kwire.controller.raft.endpoints import Endpoints, Node
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Follower, Resigned
from kwire.controller.raft.rpc import checks
from kwire.controller.raft.rpc.leadership import (
    leader_id,
    learn_from_leader,
    node_endpoints,
    read_answer,
)
from kwire.controller.raft.rpc.partition import only_partition
from kwire.error_codes import ErrorCode
from kwire.messages import a54_end_quorum_epoch as messages
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


def handle(
    replica: Replica, received: RequestReceived, request: EndQuorumEpochRequest, now: int
) -> EndQuorumEpochResponse:
    """Answer a leader that goes.

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Another partition: INVALID_REQUEST.
    2. An epoch that is over: FENCED_LEADER_EPOCH, and nothing else: restarted former leaders send
       their old epoch. No leader id: INVALID_REQUEST.
    3. Learn the epoch and its leader, as from BeginQuorumEpoch.
    4. A follower of that leader waits no longer for it: the first successor stands at once, the
       next ones each twice as long after, others after the greatest backoff.
    """
    if error := checks.cluster_id(replica, request.cluster_id):
        return EndQuorumEpochResponse(error_code=error)
    told = only_partition(request.topics)
    if told is None:
        return EndQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST)
    if error := learn_from_leader(replica, told, Endpoints.of(request.leader_endpoints), now):
        return _response(replica, received, error)
    if isinstance(replica.role, Follower) and replica.role.leader_id == told.leader_id:
        replica.role.fetch_deadline = now + backoff(replica, preferred_candidates(told))
    return _response(replica, received, ErrorCode.NONE)


def preferred_candidates(told: messages.PartitionData) -> list[ReplicaKey]:
    """The successors of version 1, or of version 0 which only knows their ids."""
    if told.preferred_candidates:
        return [
            ReplicaKey.from_wire(info.candidate_id, info.candidate_directory_id)
            for info in told.preferred_candidates
        ]
    return [ReplicaKey(id=id) for id in told.preferred_successors]


def backoff(replica: Replica, successors: list[ReplicaKey]) -> int:
    """Milliseconds until this replica may stand: 0, then doubling up to the greatest backoff."""
    greatest, count = replica.config.election_backoff_max_ms, len(successors)
    for position, successor in enumerate(successors):
        if successor.covers(replica.config.key):
            if position == 0:
                return 0
            return min(greatest, (greatest >> (count - 1)) << (position - 1))
    return greatest if count else 0


def _response(replica: Replica, received: RequestReceived, error: int) -> EndQuorumEpochResponse:
    answer = messages.ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=leader_id(replica),
        leader_epoch=replica.epoch,
    )
    return EndQuorumEpochResponse(
        topics=[messages.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[answer])],
        node_endpoints=node_endpoints(replica, received, messages.NodeEndpoint, since=1),
    )


def request(replica: Replica, resigned: Resigned) -> EndQuorumEpochRequest:
    """Tell a voter who should stand next, at both versions."""
    config = replica.config
    told = messages.PartitionData(
        partition_index=METADATA_PARTITION,
        leader_id=config.node_id,
        leader_epoch=resigned.epoch,
        preferred_successors=tuple(key.id for key in resigned.preferred),
        preferred_candidates=[
            messages.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.wire_directory_id)
            for key in resigned.preferred
        ],
    )
    return EndQuorumEpochRequest(
        cluster_id=config.cluster_id,
        topics=[messages.TopicData(topic_name=METADATA_TOPIC, partitions=[told])],
        leader_endpoints=config.endpoints.groups(messages.LeaderEndpoint),
    )


def answered(replica: Replica, node: Node, response: EndQuorumEpochResponse, now: int) -> bool:
    """A voter knows now, or is in a later epoch."""

    def take(answer: messages.ResponsePartitionData) -> None:
        if isinstance(replica.role, Resigned):
            replica.role.unacknowledged.discard(node.id)

    return read_answer(replica, response, now, take)
