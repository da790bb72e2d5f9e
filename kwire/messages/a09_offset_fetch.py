"""OffsetFetch, API key 9."""

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
    uuid,
)


class OffsetFetchRequestTopic(Group):
    name: str = field(string, "0-7")
    partition_indexes: tuple[int, ...] = field(array(int32), "0-7")


class OffsetFetchRequestTopics(Group):
    name: str = field(string, "8-9", ignorable=True)
    topic_id: UUID = since(10, uuid, ignorable=True)
    partition_indexes: tuple[int, ...] = since(8, array(int32))


class OffsetFetchRequestGroup(Group):
    group_id: str = since(8, string)
    member_id: str | None = since(9, nullable(string), default=None, ignorable=True)
    member_epoch: int = since(9, int32, default=-1, ignorable=True)
    topics: list[OffsetFetchRequestTopics] | None = since(
        8, nullable(array(OffsetFetchRequestTopics))
    )


class OffsetFetchRequest(Request, key=9, versions="0-10", flexible="6+", listeners="broker"):
    """A client asks which offsets groups have committed."""

    group_id: str = field(string, "0-7")
    topics: list[OffsetFetchRequestTopic] | None = field(
        nullable(array(OffsetFetchRequestTopic), "2+"), "0-7"
    )
    groups: list[OffsetFetchRequestGroup] = since(8, array(OffsetFetchRequestGroup))
    require_stable: bool = since(7, boolean)


class OffsetFetchResponsePartition(Group):
    partition_index: int = field(int32, "0-7")
    committed_offset: int = field(int64, "0-7")
    committed_leader_epoch: int = field(int32, "5-7", default=-1, ignorable=True)
    metadata: str | None = field(nullable(string), "0-7")
    error_code: int = field(int16, "0-7")


class OffsetFetchResponsePartitions(Group):
    partition_index: int = since(8, int32)
    committed_offset: int = since(8, int64)
    committed_leader_epoch: int = since(8, int32, default=-1, ignorable=True)
    metadata: str | None = since(8, nullable(string))
    error_code: int = since(8, int16)


class OffsetFetchResponseTopic(Group):
    name: str = field(string, "0-7")
    partitions: list[OffsetFetchResponsePartition] = field(
        array(OffsetFetchResponsePartition), "0-7"
    )


class OffsetFetchResponseTopics(Group):
    name: str = field(string, "8-9", ignorable=True)
    topic_id: UUID = since(10, uuid, ignorable=True)
    partitions: list[OffsetFetchResponsePartitions] = since(8, array(OffsetFetchResponsePartitions))


class OffsetFetchResponseGroup(Group):
    group_id: str = since(8, string)
    topics: list[OffsetFetchResponseTopics] = since(8, array(OffsetFetchResponseTopics))
    error_code: int = since(8, int16)


class OffsetFetchResponse(Response, key=9, versions="0-10", flexible="6+"):
    """The coordinator gives each partition's committed offset and its metadata."""

    throttle_time_ms: int = since(3, int32, ignorable=True)
    topics: list[OffsetFetchResponseTopic] = field(array(OffsetFetchResponseTopic), "0-7")
    error_code: int = field(int16, "2-7", ignorable=True)
    groups: list[OffsetFetchResponseGroup] = since(8, array(OffsetFetchResponseGroup))
