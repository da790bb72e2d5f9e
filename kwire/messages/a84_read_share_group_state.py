"""ReadShareGroupState, API key 84."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int8, int16, int32, int64, nullable, string, uuid


class PartitionData(Group):
    partition: int = int32
    leader_epoch: int = int32


class ReadStateData(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionData] = array(PartitionData)


class ReadShareGroupStateRequest(Request, key=84, versions="0", flexible="0+", listeners="broker"):
    """A partition leader loads the stored delivery state of share partitions (KIP-932)."""

    group_id: str = string
    topics: list[ReadStateData] = array(ReadStateData)


class StateBatch(Group):
    first_offset: int = int64
    last_offset: int = int64
    delivery_state: int = int8
    delivery_count: int = int16


class PartitionResult(Group):
    partition: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    state_epoch: int = int32
    start_offset: int = int64
    state_batches: list[StateBatch] = array(StateBatch)


class ReadStateResult(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionResult] = array(PartitionResult)


class ReadShareGroupStateResponse(Response, key=84, versions="0", flexible="0+"):
    """A share coordinator gives the delivery state of batches of records (KIP-932)."""

    results: list[ReadStateResult] = array(ReadStateResult)
