"""DescribeQuorum, API key 55: the state of the quorum (KIP-595, KIP-836, KIP-853
"DescribeQuorum")."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Leader, ReplicaProgress
from kwire.controller.raft.rpc.partition import only_partition
from kwire.error_codes import ErrorCode
from kwire.messages import a55_describe_quorum as messages
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC
from kwire.text.ids import ZERO_UUID

_UNKNOWN = -1
_DIRECTORIES_SINCE = 2


def handle_request(
    replica: Replica, received: RequestReceived, request: DescribeQuorumRequest, now: int
) -> DescribeQuorumResponse:
    """Answer an admin (KafkaRaftClient.handleDescribeQuorumRequest).

    1. Another partition, or more: UNKNOWN_TOPIC_OR_PARTITION for each.
    2. Not the leader: NOT_LEADER_OR_FOLLOWER, without a hint who is.
    3. Leader, epoch, high watermark (-1: not known yet), voters and observers with their offsets
       and times.
    4. Since version 2 directory ids, and the voters' listeners in Nodes.
    """
    # 1.
    if only_partition(request.topics) is None:
        return refused(request)
    # 2.
    leader = replica.leader
    if leader is None:
        text = "Only the leader of the quorum knows its state: ask another controller."
        return _refused(request, ErrorCode.NOT_LEADER_OR_FOLLOWER, text)
    # 3. Between two polls the sessions of observers may have ended.
    leader.drop_inactive_observers(now)
    partition = messages.ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        leader_id=leader.leader_id,
        leader_epoch=leader.epoch,
        high_watermark=_UNKNOWN if leader.high_watermark is None else leader.high_watermark,
        current_voters=_states(received, leader, leader.voters.values(), now),
        observers=_states(received, leader, leader.observers.values(), now),
    )
    return DescribeQuorumResponse(
        topics=[messages.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        # 4.
        nodes=_nodes(leader) if received.version >= _DIRECTORIES_SINCE else [],
    )


def refused(request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    """Return the answer to a request for anything but the metadata partition."""
    text = f"Only {METADATA_TOPIC} partition {METADATA_PARTITION} has a quorum."
    return _refused(request, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text)


def _refused(request: DescribeQuorumRequest, error: ErrorCode, text: str) -> DescribeQuorumResponse:
    return DescribeQuorumResponse(
        topics=[
            messages.ResponseTopicData(
                topic_name=topic.topic_name,
                partitions=[
                    messages.ResponsePartitionData(
                        partition_index=partition.partition_index,
                        error_code=error,
                        error_message=text,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _states(
    received: RequestReceived, leader: Leader, replicas: Iterable[ReplicaProgress], now: int
) -> list[messages.ReplicaState]:
    states = []
    for progress in replicas:
        state = _state(progress, progress.key.covers(leader.local), now)
        # 4.
        if received.version >= _DIRECTORIES_SINCE:
            state.replica_directory_id = progress.key.wire_directory_id
        states.append(state)
    return states


def _state(progress: ReplicaProgress, is_leader: bool, now: int) -> messages.ReplicaState:
    end = progress.end_offset
    # The leader does not fetch from itself: it is caught up now, as LeaderState says.
    return messages.ReplicaState(
        replica_id=progress.key.id,
        replica_directory_id=ZERO_UUID,
        log_end_offset=_UNKNOWN if end is None else end,
        last_fetch_timestamp=now if is_leader else progress.last_fetch,
        last_caught_up_timestamp=now if is_leader else progress.last_caught_up,
    )


def _nodes(leader: Leader) -> list[messages.Node]:
    return [
        messages.Node(
            node_id=progress.key.id, listeners=progress.endpoints.groups(messages.Listener)
        )
        for progress in leader.voters.values()
    ]
