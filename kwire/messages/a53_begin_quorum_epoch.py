"""BeginQuorumEpoch, API key 53."""

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


class PartitionData(Group):
    partition_index: int = int32
    voter_directory_id: UUID = since(1, uuid, ignorable=True)
    leader_id: int = int32
    leader_epoch: int = int32


class LeaderEndpoint(Group):
    name: str = since(1, string)
    host: str = since(1, string)
    port: int = since(1, uint16)


class TopicData(Group):
    topic_name: str = string
    partitions: list[PartitionData] = array(PartitionData)


class BeginQuorumEpochRequest(
    Request, key=53, versions="0-1", flexible="1+", listeners="controller"
):
    """A newly elected quorum leader announces itself to a voter (KIP-595)."""

    cluster_id: str | None = field(nullable(string), default=None)
    voter_id: int = since(1, int32, default=-1, ignorable=True)
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


class BeginQuorumEpochResponse(Response, key=53, versions="0-1", flexible="1+"):
    """A voter accepts the new leader, or names a later epoch (KIP-595)."""

    error_code: int = int16
    topics: list[ResponseTopicData] = array(ResponseTopicData)
    node_endpoints: list[NodeEndpoint] = tagged(0, array(NodeEndpoint), "1+")
