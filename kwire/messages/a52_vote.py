"""Vote, API key 52."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    boolean,
    field,
    int16,
    int32,
    int64,
    nullable,
    since,
    string,
    tagged,
    uint16,
    uuid,
)


class PartitionData(Group):
    partition_index: int = int32
    replica_epoch: int = int32
    replica_id: int = int32
    replica_directory_id: UUID = since(1, uuid, ignorable=True)
    voter_directory_id: UUID = since(1, uuid, ignorable=True)
    last_offset_epoch: int = int32
    last_offset: int = int64
    pre_vote: bool = since(2, boolean)


class TopicData(Group):
    topic_name: str = string
    partitions: list[PartitionData] = array(PartitionData)


class VoteRequest(Request, key=52, versions="0-2", flexible="0+", listeners="controller"):
    """A replica that wants to lead the quorum asks a voter for its vote (KIP-595)."""

    cluster_id: str | None = field(nullable(string), default=None)
    voter_id: int = since(1, int32, default=-1, ignorable=True)
    topics: list[TopicData] = array(TopicData)


class ResponsePartitionData(Group):
    partition_index: int = int32
    error_code: int = int16
    leader_id: int = int32
    leader_epoch: int = int32
    vote_granted: bool = boolean


class NodeEndpoint(Group):
    node_id: int = since(1, int32)
    host: str = since(1, string)
    port: int = since(1, uint16)


class ResponseTopicData(Group):
    topic_name: str = string
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData)


class VoteResponse(Response, key=52, versions="0-2", flexible="0+"):
    """A voter grants or refuses its vote and names the leader it knows (KIP-595)."""

    error_code: int = int16
    topics: list[ResponseTopicData] = array(ResponseTopicData)
    node_endpoints: list[NodeEndpoint] = tagged(0, array(NodeEndpoint), "1+")
