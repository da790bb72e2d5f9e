"""DeleteShareGroupState, API key 86."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, nullable, string, uuid


class PartitionData(Group):
    partition: int = int32


class DeleteStateData(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionData] = array(PartitionData)


class DeleteShareGroupStateRequest(
    Request, key=86, versions="0", flexible="0+", listeners="broker"
):
    """A group coordinator erases the stored state of share partitions (KIP-932)."""

    group_id: str = string
    topics: list[DeleteStateData] = array(DeleteStateData)


class PartitionResult(Group):
    partition: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)


class DeleteStateResult(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionResult] = array(PartitionResult)


class DeleteShareGroupStateResponse(Response, key=86, versions="0", flexible="0+"):
    """A share coordinator says which share partitions it has erased (KIP-932)."""

    results: list[DeleteStateResult] = array(DeleteStateResult)
