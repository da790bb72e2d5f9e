"""OffsetDelete, API key 47."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, string


class OffsetDeleteRequestPartition(Group):
    partition_index: int = int32


class OffsetDeleteRequestTopic(Group):
    name: str = string
    partitions: list[OffsetDeleteRequestPartition] = array(OffsetDeleteRequestPartition)


class OffsetDeleteRequest(Request, key=47, versions="0", listeners="broker"):
    """An admin makes a group forget its offsets of some partitions (KIP-496)."""

    group_id: str = string
    topics: list[OffsetDeleteRequestTopic] = array(OffsetDeleteRequestTopic)


class OffsetDeleteResponsePartition(Group):
    partition_index: int = int32
    error_code: int = int16


class OffsetDeleteResponseTopic(Group):
    name: str = string
    partitions: list[OffsetDeleteResponsePartition] = array(OffsetDeleteResponsePartition)


class OffsetDeleteResponse(Response, key=47, versions="0"):
    """The coordinator says for which partitions it has dropped the offset (KIP-496)."""

    error_code: int = int16
    throttle_time_ms: int = int32
    topics: list[OffsetDeleteResponseTopic] = array(OffsetDeleteResponseTopic)
