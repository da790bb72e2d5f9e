"""EndQuorumEpoch, API key 54."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    field,
    int16,
    int32,
    nullable,
    since,
    string,
    tagged,
    uint16,
    uuid,
)


class ReplicaInfo(Group):
    candidate_id: int = since(1, int32)
    candidate_directory_id: UUID = since(1, uuid)


class LeaderEndpoint(Group):
    name: str = since(1, string)
    host: str = since(1, string)
    port: int = since(1, uint16)


class PartitionData(Group):
    partition_index: int = int32
    leader_id: int = int32
    leader_epoch: int = int32
    preferred_successors: tuple[int, ...] = field(array(int32), "0", ignorable=True)
    preferred_candidates: list[ReplicaInfo] = since(1, array(ReplicaInfo), ignorable=True)


class TopicData(Group):
    topic_name: str = string
    partitions: list[PartitionData] = array(PartitionData)


class EndQuorumEpochRequest(Request, key=54, versions="0-1", flexible="1+", listeners="controller"):
    """A quorum leader resigns and suggests who should stand for election (KIP-595)."""

    cluster_id: str | None = field(nullable(string), default=None)
    topics: list[TopicData] = array(TopicData)
    leader_endpoints: list[LeaderEndpoint] = since(1, array(LeaderEndpoint), ignorable=True)


class ResponsePartitionData(Group):
    partition_index: int = int32
    error_code: int = int16
    leader_id: int = int32
    leader_epoch: int = int32


class NodeEndpoint(Group):
    node_id: int = since(1, int32)
    host: str = since(1, string)
    port: int = since(1, uint16)


class ResponseTopicData(Group):
    topic_name: str = string
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData)


class EndQuorumEpochResponse(Response, key=54, versions="0-1", flexible="1+"):
    """A voter takes note of the resignation, or names a later epoch (KIP-595)."""

    error_code: int = int16
    topics: list[ResponseTopicData] = array(ResponseTopicData)
    node_endpoints: list[NodeEndpoint] = tagged(0, array(NodeEndpoint), "1+")
