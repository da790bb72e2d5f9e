"""AlterPartitionReassignments (KIP-455, KIP-860)."""

from __future__ import annotations

from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.limits import MAX_RECORDS
from kwire.controller.handlers.placement import check_assignment, replication_control
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    VersionedRecords,
)
from kwire.controller.replicas.partition_change_builder import Election
from kwire.controller.replicas.partition_reassignment import (
    PartitionReassignment,
    ReassignmentRevert,
    replication_factor,
)
from kwire.controller.replicas.replication_control import LocatedPartition, partition_change
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.partition import PartitionRegistration
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

Changed = dict[tuple[UUID, int], PartitionRegistration]
"""The partitions that a request has changed by now."""


def handle(
    request: AlterPartitionReassignmentsRequest, context: ControllerContext
) -> ControllerResult:
    """Move partitions to other brokers, or cancel such moves (Java:
    ReplicationControlManager.alterPartitionReassignments).

    1. No topics: nothing to change.
    2. For each partition one record, or the error of `_located` or `_record`. The others are moved
       even so. One that is named twice is, the second time, as the first left it.
    3. More records than one request may have: UNKNOWN_SERVER_ERROR for the partitions beyond.

    The throttles of replication are configurations: whoever moves partitions sets and removes them.
    """
    # 1.
    if event(request, context) is ControllerEvent.NONE:
        return ControllerResult(response=AlterPartitionReassignmentsResponse())
    records: VersionedRecords = []
    changed: Changed = {}
    allowed = request.allow_replication_factor_change
    # 2.
    responses = [
        ReassignableTopicResponse(
            name=topic.name,
            partitions=[
                _alter(topic.name, partition, context, records, changed, allowed)
                for partition in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=allowed, error_message=None, responses=responses
    )
    return ControllerResult(records=tuple(records), response=response)


def event(
    request: AlterPartitionReassignmentsRequest, context: ControllerContext
) -> ControllerEvent:
    """Return NONE for step 1 of `handle`."""
    is_empty = not request.topics
    return ControllerEvent.NONE if is_empty else ControllerEvent.WRITE


def _alter(
    name: str,
    requested: ReassignablePartition,
    context: ControllerContext,
    records: VersionedRecords,
    changed: Changed,
    allowed: bool,
) -> ReassignablePartitionResponse:
    number = requested.partition_index
    try:
        located = _located(name, number, context, changed)
        record = _record(located, requested.replicas, context, allowed)
        # 3. Java's BoundedList refuses the record; its exception has no code of its own.
        if record is not None and len(records) >= MAX_RECORDS:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    except ApiError as error:
        code, message = error.code, error.message
        return ReassignablePartitionResponse(
            partition_index=number, error_code=code, error_message=message
        )
    if record is not None:
        records.append(record)
        topic, _, partition = located
        changed[topic.id, number] = partition.merge(partition_change(record))
    return ReassignablePartitionResponse(partition_index=number, error_message=None)


def _located(
    name: str, number: int, context: ControllerContext, changed: Changed
) -> LocatedPartition:
    """Return a partition as it is by now. Raises ApiError: UNKNOWN_TOPIC_OR_PARTITION."""
    topic = context.image.topics.topic(name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}.")
    partition = changed.get((topic.id, number)) or topic.partitions.get(number)
    if partition is None:
        text = f"Topic {name} has no partition {number}."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text)
    return topic, number, partition


def _record(
    located: LocatedPartition,
    replicas: tuple[int, ...] | None,
    context: ControllerContext,
    allowed: bool,
) -> VersionedRecord | None:
    """Return the record that moves one partition, or cancels its move; None if nothing changes.

    Raises ApiError: the errors of `_cancelled` for null replicas, else those of `_moved`.
    """
    if replicas is None:
        return _cancelled(located, context)
    return _moved(located, replicas, context, allowed)


def _cancelled(located: LocatedPartition, context: ControllerContext) -> VersionedRecord | None:
    """Return to the replicas from before (Java: cancelPartitionReassignment). Raises ApiError:

    1. The partition is not being reassigned: NO_REASSIGNMENT_IN_PROGRESS.
    2. Only added replicas are in the ISR, and the topic allows no unclean leader:
       INVALID_REPLICA_ASSIGNMENT.
    """
    topic, number, partition = located
    # 1.
    if not partition.is_reassigning:
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    revert = ReassignmentRevert.of(partition)
    replication = replication_control(context)
    # 2.
    if revert.unclean and not replication.allows_unclean_leader(topic):
        text = f"Only replicas that were added to {topic.name}-{number} are in sync: without them "
        text += "an unclean leader would be elected, which the topic does not allow."
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    return replication.change(
        located, isr=revert.isr, replicas=revert.replicas, removing=(), adding=()
    )


def _moved(
    located: LocatedPartition,
    target: tuple[int, ...],
    context: ControllerContext,
    allowed: bool,
) -> VersionedRecord | None:
    """Begin a move, or change the one that goes on (Java: changePartitionReassignment).

    If the ISR suits the new replicas already, the move is complete at once: an order alone, or
    replicas that only go. Raises ApiError:

    1. The errors of `check_assignment`, INVALID_REPLICA_ASSIGNMENT.
    2. Another number of replicas, which the request does not allow: INVALID_REPLICATION_FACTOR
       (KIP-860).
    """
    partition = located[2]
    # 1.
    check_assignment(target, None, context)
    # 2.
    present = replication_factor(partition)
    if not allowed and len(target) != present:
        text = f"The replication factor would change from {present} to {len(target)}."
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
    reassignment = PartitionReassignment.between(partition.replicas, target)
    # A list that is empty leaves the one of a move that goes on as it is: so does Kafka's.
    return replication_control(context).change(
        located,
        election=Election.ONLINE,
        replicas=reassignment.replicas,
        removing=reassignment.removing or None,
        adding=reassignment.adding or None,
    )
