"""ListPartitionReassignments, API key 46."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, nullable, string


class ListPartitionReassignmentsTopics(Group):
    name: str = string
    partition_indexes: tuple[int, ...] = array(int32)


class ListPartitionReassignmentsRequest(
    Request, key=46, versions="0", flexible="0+", listeners="broker controller"
):
    """An admin asks which partitions are on the move (KIP-455)."""

    timeout_ms: int = field(int32, default=60000)
    topics: list[ListPartitionReassignmentsTopics] | None = field(
        nullable(array(ListPartitionReassignmentsTopics)), default=None
    )


class OngoingPartitionReassignment(Group):
    partition_index: int = int32
    replicas: tuple[int, ...] = array(int32)
    adding_replicas: tuple[int, ...] = array(int32)
    removing_replicas: tuple[int, ...] = array(int32)


class OngoingTopicReassignment(Group):
    name: str = string
    partitions: list[OngoingPartitionReassignment] = array(OngoingPartitionReassignment)


class ListPartitionReassignmentsResponse(Response, key=46, versions="0", flexible="0+"):
    """The controller gives replicas coming and going in each moving partition (KIP-455)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
    topics: list[OngoingTopicReassignment] = array(OngoingTopicReassignment)
