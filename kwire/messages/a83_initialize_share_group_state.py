"""InitializeShareGroupState, API key 83."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, int64, nullable, string, uuid


class PartitionData(Group):
    partition: int = int32
    state_epoch: int = int32
    start_offset: int = int64


class InitializeStateData(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionData] = array(PartitionData)


class InitializeShareGroupStateRequest(
    Request, key=83, versions="0", flexible="0+", listeners="broker"
):
    """A group coordinator creates the stored state of share partitions (KIP-932)."""

    group_id: str = string
    topics: list[InitializeStateData] = array(InitializeStateData)


class PartitionResult(Group):
    partition: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)


class InitializeStateResult(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionResult] = array(PartitionResult)


class InitializeShareGroupStateResponse(Response, key=83, versions="0", flexible="0+"):
    """A share coordinator says which share partitions now have a state (KIP-932)."""

    results: list[InitializeStateResult] = array(InitializeStateResult)
