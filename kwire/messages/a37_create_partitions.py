"""CreatePartitions, API key 37."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, field, int16, int32, nullable, string


class CreatePartitionsAssignment(Group):
    broker_ids: tuple[int, ...] = array(int32)


class CreatePartitionsTopic(Group):
    name: str = string
    count: int = int32
    assignments: list[CreatePartitionsAssignment] | None = nullable(
        array(CreatePartitionsAssignment)
    )


class CreatePartitionsRequest(
    Request, key=37, versions="0-3", flexible="2+", listeners="broker controller"
):
    """An admin gives topics more partitions (KIP-195)."""

    topics: list[CreatePartitionsTopic] = array(CreatePartitionsTopic)
    timeout_ms: int = int32
    validate_only: bool = boolean


class CreatePartitionsTopicResult(Group):
    name: str = string
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)


class CreatePartitionsResponse(Response, key=37, versions="0-3", flexible="2+"):
    """The controller says for each topic whether it has grown (KIP-195)."""

    throttle_time_ms: int = int32
    results: list[CreatePartitionsTopicResult] = array(CreatePartitionsTopicResult)
