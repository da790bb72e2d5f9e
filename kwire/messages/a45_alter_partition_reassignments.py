"""AlterPartitionReassignments, API key 45."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, field, int16, int32, nullable, since, string


class ReassignablePartition(Group):
    partition_index: int = int32
    replicas: tuple[int, ...] | None = field(nullable(array(int32)), default=None)


class ReassignableTopic(Group):
    name: str = string
    partitions: list[ReassignablePartition] = array(ReassignablePartition)


class AlterPartitionReassignmentsRequest(
    Request, key=45, versions="0-1", flexible="0+", listeners="broker controller"
):
    """An admin moves partitions to other brokers, or cancels such moves (KIP-455)."""

    timeout_ms: int = field(int32, default=60000)
    allow_replication_factor_change: bool = since(1, boolean, default=True)
    topics: list[ReassignableTopic] = array(ReassignableTopic)


class ReassignablePartitionResponse(Group):
    partition_index: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)


class ReassignableTopicResponse(Group):
    name: str = string
    partitions: list[ReassignablePartitionResponse] = array(ReassignablePartitionResponse)


class AlterPartitionReassignmentsResponse(Response, key=45, versions="0-1", flexible="0+"):
    """The controller says which moves it has begun or called off (KIP-455)."""

    throttle_time_ms: int = int32
    allow_replication_factor_change: bool = since(1, boolean, default=True, ignorable=True)
    error_code: int = int16
    error_message: str | None = nullable(string)
    responses: list[ReassignableTopicResponse] = array(ReassignableTopicResponse)
