"""ReadShareGroupStateSummary, API key 87."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, int64, nullable, since, string, uuid


class PartitionData(Group):
    partition: int = int32
    leader_epoch: int = int32


class ReadStateSummaryData(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionData] = array(PartitionData)


class ReadShareGroupStateSummaryRequest(
    Request, key=87, versions="0-1", flexible="0+", listeners="broker"
):
    """A group coordinator reads the start offsets of share partitions (KIP-932)."""

    group_id: str = string
    topics: list[ReadStateSummaryData] = array(ReadStateSummaryData)


class PartitionResult(Group):
    partition: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    state_epoch: int = int32
    leader_epoch: int = int32
    start_offset: int = int64
    delivery_complete_count: int = since(1, int32, default=-1, ignorable=True)


class ReadStateSummaryResult(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionResult] = array(PartitionResult)


class ReadShareGroupStateSummaryResponse(Response, key=87, versions="0-1", flexible="0+"):
    """A share coordinator gives start offsets and epochs without batches (KIP-932)."""

    results: list[ReadStateSummaryResult] = array(ReadStateSummaryResult)
