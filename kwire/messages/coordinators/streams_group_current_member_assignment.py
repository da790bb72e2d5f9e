"""StreamsGroupCurrentMemberAssignment, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int8, int32, nullable, string, tagged


class StreamsGroupCurrentMemberAssignmentKey(CoordinatorKey, key=22, versions="0"):
    """Keys a Streams member's present tasks by group and member id (KIP-1071)."""

    group_id: str = string
    member_id: str = string


class TaskIds(Group):
    subtopology_id: str = string
    partitions: tuple[int, ...] = array(int32)
    assignment_epochs: tuple[int, ...] | None = tagged(0, nullable(array(int32)))


class StreamsGroupCurrentMemberAssignmentValue(
    CoordinatorValue, key=22, versions="0", flexible="0+"
):
    """Holds the tasks a Streams member has now and those it must give up (KIP-1071)."""

    member_epoch: int = int32
    previous_member_epoch: int = int32
    state: int = int8
    active_tasks: list[TaskIds] = array(TaskIds)
    standby_tasks: list[TaskIds] = array(TaskIds)
    warmup_tasks: list[TaskIds] = array(TaskIds)
    active_tasks_pending_revocation: list[TaskIds] = array(TaskIds)
    standby_tasks_pending_revocation: list[TaskIds] = array(TaskIds)
    warmup_tasks_pending_revocation: list[TaskIds] = array(TaskIds)
