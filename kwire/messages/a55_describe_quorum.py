"""DescribeQuorum, API key 55."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, int64, nullable, since, string, uint16, uuid


class PartitionData(Group):
    partition_index: int = int32


class TopicData(Group):
    topic_name: str = string
    partitions: list[PartitionData] = array(PartitionData)


class DescribeQuorumRequest(
    Request, key=55, versions="0-2", flexible="0+", listeners="broker controller"
):
    """An admin asks who leads the metadata quorum and how far each replica is (KIP-595)."""

    topics: list[TopicData] = array(TopicData)


class ReplicaState(Group):
    replica_id: int = int32
    replica_directory_id: UUID = since(2, uuid)
    log_end_offset: int = int64
    last_fetch_timestamp: int = since(1, int64, default=-1, ignorable=True)
    last_caught_up_timestamp: int = since(1, int64, default=-1, ignorable=True)


class Listener(Group):
    name: str = since(2, string)
    host: str = since(2, string)
    port: int = since(2, uint16)


class ResponsePartitionData(Group):
    partition_index: int = int32
    error_code: int = int16
    error_message: str | None = since(2, nullable(string), ignorable=True)
    leader_id: int = int32
    leader_epoch: int = int32
    high_watermark: int = int64
    current_voters: list[ReplicaState] = array(ReplicaState)
    observers: list[ReplicaState] = array(ReplicaState)


class Node(Group):
    node_id: int = since(2, int32)
    listeners: list[Listener] = since(2, array(Listener))


class ResponseTopicData(Group):
    topic_name: str = string
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData)


class DescribeQuorumResponse(Response, key=55, versions="0-2", flexible="0+"):
    """The leader gives epoch, high watermark, voters and observers of the quorum (KIP-595)."""

    error_code: int = int16
    error_message: str | None = since(2, nullable(string), ignorable=True)
    topics: list[ResponseTopicData] = array(ResponseTopicData)
    nodes: list[Node] = since(2, array(Node))
