"""StreamsGroupTargetAssignmentMember, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int32, string


class StreamsGroupTargetAssignmentMemberKey(CoordinatorKey, key=21, versions="0"):
    """Keys a Streams member's target assignment by group and member id (KIP-1071)."""

    group_id: str = string
    member_id: str = string


class TaskIds(Group):
    subtopology_id: str = string
    partitions: tuple[int, ...] = array(int32)


class StreamsGroupTargetAssignmentMemberValue(
    CoordinatorValue, key=21, versions="0", flexible="0+"
):
    """Holds the tasks that a Streams member shall end up with (KIP-1071)."""

    active_tasks: list[TaskIds] = array(TaskIds)
    standby_tasks: list[TaskIds] = array(TaskIds)
    warmup_tasks: list[TaskIds] = array(TaskIds)
