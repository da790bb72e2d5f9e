"""DescribeShareGroupOffsets, API key 90."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, int64, nullable, since, string, uuid


class DescribeShareGroupOffsetsRequestTopic(Group):
    topic_name: str = string
    partitions: tuple[int, ...] = array(int32)


class DescribeShareGroupOffsetsRequestGroup(Group):
    group_id: str = string
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = nullable(
        array(DescribeShareGroupOffsetsRequestTopic)
    )


class DescribeShareGroupOffsetsRequest(
    Request, key=90, versions="0-1", flexible="0+", listeners="broker"
):
    """An admin asks where share groups stand in their partitions (KIP-932)."""

    groups: list[DescribeShareGroupOffsetsRequestGroup] = array(
        DescribeShareGroupOffsetsRequestGroup
    )


class DescribeShareGroupOffsetsResponsePartition(Group):
    partition_index: int = int32
    start_offset: int = int64
    leader_epoch: int = int32
    lag: int = since(1, int64, default=-1, ignorable=True)
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)


class DescribeShareGroupOffsetsResponseTopic(Group):
    topic_name: str = string
    topic_id: UUID = uuid
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = array(
        DescribeShareGroupOffsetsResponsePartition
    )


class DescribeShareGroupOffsetsResponseGroup(Group):
    group_id: str = string
    topics: list[DescribeShareGroupOffsetsResponseTopic] = array(
        DescribeShareGroupOffsetsResponseTopic
    )
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)


class DescribeShareGroupOffsetsResponse(Response, key=90, versions="0-1", flexible="0+"):
    """The coordinator gives each partition's start offset in a share group (KIP-932)."""

    throttle_time_ms: int = int32
    groups: list[DescribeShareGroupOffsetsResponseGroup] = array(
        DescribeShareGroupOffsetsResponseGroup
    )
