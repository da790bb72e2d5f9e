"""AlterShareGroupOffsets, API key 91."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, int64, nullable, string, uuid


class AlterShareGroupOffsetsRequestPartition(Group):
    partition_index: int = int32
    start_offset: int = int64


class AlterShareGroupOffsetsRequestTopic(Group):
    topic_name: str = string
    partitions: list[AlterShareGroupOffsetsRequestPartition] = array(
        AlterShareGroupOffsetsRequestPartition
    )


class AlterShareGroupOffsetsRequest(
    Request, key=91, versions="0", flexible="0+", listeners="broker"
):
    """An admin moves the start offsets of an empty share group (KIP-932)."""

    group_id: str = string
    topics: list[AlterShareGroupOffsetsRequestTopic] = array(AlterShareGroupOffsetsRequestTopic)


class AlterShareGroupOffsetsResponsePartition(Group):
    partition_index: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)


class AlterShareGroupOffsetsResponseTopic(Group):
    topic_name: str = string
    topic_id: UUID = uuid
    partitions: list[AlterShareGroupOffsetsResponsePartition] = array(
        AlterShareGroupOffsetsResponsePartition
    )


class AlterShareGroupOffsetsResponse(Response, key=91, versions="0", flexible="0+"):
    """The coordinator says for which partitions it moved the start offset (KIP-932)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    responses: list[AlterShareGroupOffsetsResponseTopic] = array(
        AlterShareGroupOffsetsResponseTopic
    )
