"""WriteShareGroupState, API key 85."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    field,
    int8,
    int16,
    int32,
    int64,
    nullable,
    since,
    string,
    uuid,
)


class StateBatch(Group):
    first_offset: int = int64
    last_offset: int = int64
    delivery_state: int = int8
    delivery_count: int = int16


class PartitionData(Group):
    partition: int = int32
    state_epoch: int = int32
    leader_epoch: int = int32
    start_offset: int = int64
    delivery_complete_count: int = since(1, int32, default=-1, ignorable=True)
    state_batches: list[StateBatch] = array(StateBatch)


class WriteStateData(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionData] = array(PartitionData)


class WriteShareGroupStateRequest(
    Request, key=85, versions="0-1", flexible="0+", listeners="broker"
):
    """A partition leader stores the delivery progress of share partitions (KIP-932)."""

    group_id: str = string
    topics: list[WriteStateData] = array(WriteStateData)


class PartitionResult(Group):
    partition: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)


class WriteStateResult(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionResult] = array(PartitionResult)


class WriteShareGroupStateResponse(Response, key=85, versions="0-1", flexible="0+"):
    """A share coordinator says which share partitions it has stored (KIP-932)."""

    results: list[WriteStateResult] = array(WriteStateResult)
