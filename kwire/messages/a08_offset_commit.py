"""OffsetCommit, API key 8."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, int64, nullable, since, string, uuid


class OffsetCommitRequestPartition(Group):
    partition_index: int = int32
    committed_offset: int = int64
    committed_leader_epoch: int = since(6, int32, default=-1, ignorable=True)
    commit_timestamp: int = field(int64, "1", default=-1)
    committed_metadata: str | None = nullable(string)


class OffsetCommitRequestTopic(Group):
    name: str = field(string, "0-9", ignorable=True)
    topic_id: UUID = since(10, uuid, ignorable=True)
    partitions: list[OffsetCommitRequestPartition] = array(OffsetCommitRequestPartition)


class OffsetCommitRequest(Request, key=8, versions="0-10", flexible="8+", listeners="broker"):
    """A client saves how far a group has consumed each partition."""

    group_id: str = string
    generation_id_or_member_epoch: int = since(1, int32, default=-1, ignorable=True)
    member_id: str = since(1, string, ignorable=True)
    group_instance_id: str | None = since(7, nullable(string), default=None)
    retention_time_ms: int = field(int64, "2-4", default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic] = array(OffsetCommitRequestTopic)


class OffsetCommitResponsePartition(Group):
    partition_index: int = int32
    error_code: int = int16


class OffsetCommitResponseTopic(Group):
    name: str = field(string, "0-9", ignorable=True)
    topic_id: UUID = since(10, uuid, ignorable=True)
    partitions: list[OffsetCommitResponsePartition] = array(OffsetCommitResponsePartition)


class OffsetCommitResponse(Response, key=8, versions="0-10", flexible="8+"):
    """The coordinator says for each partition whether its offset was saved."""

    throttle_time_ms: int = since(3, int32, ignorable=True)
    topics: list[OffsetCommitResponseTopic] = array(OffsetCommitResponseTopic)
