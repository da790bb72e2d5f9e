"""DeleteRecords, API key 21."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, int64, string


class DeleteRecordsPartition(Group):
    partition_index: int = int32
    offset: int = int64


class DeleteRecordsTopic(Group):
    name: str = string
    partitions: list[DeleteRecordsPartition] = array(DeleteRecordsPartition)


class DeleteRecordsRequest(Request, key=21, versions="0-2", flexible="2+", listeners="broker"):
    """An admin truncates the old end of partitions up to given offsets (KIP-107)."""

    topics: list[DeleteRecordsTopic] = array(DeleteRecordsTopic)
    timeout_ms: int = int32


class DeleteRecordsPartitionResult(Group):
    partition_index: int = int32
    low_watermark: int = int64
    error_code: int = int16


class DeleteRecordsTopicResult(Group):
    name: str = string
    partitions: list[DeleteRecordsPartitionResult] = array(DeleteRecordsPartitionResult)


class DeleteRecordsResponse(Response, key=21, versions="0-2", flexible="2+"):
    """The leader gives each partition's new earliest offset (KIP-107)."""

    throttle_time_ms: int = int32
    topics: list[DeleteRecordsTopicResult] = array(DeleteRecordsTopicResult)
