"""ListPartitionReassignments (KIP-455)."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.image.topics import TopicImage
from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def handle(
    request: ListPartitionReassignmentsRequest, context: ControllerContext
) -> ControllerResult:
    """List the partitions whose replicas are being added or removed (Java:
    ReplicationControlManager.listPartitionReassignments).

    1. Of the topics in the request; null stands for all.
    2. Topics and partitions that are not known, or not being reassigned, are left out.
    """
    # 1.
    topics = context.image.topics
    if request.topics is None:
        requested: list[tuple[str, Iterable[int] | None]] = []
        requested += [(name, None) for name in sorted(topics.ids)]
    else:
        requested = [(topic.name, topic.partition_indexes) for topic in request.topics]
    # 2.
    reassignments = []
    for name, numbers in requested:
        topic = topics.topic(name)
        partitions = [] if topic is None else _reassigning(topic, numbers)
        if partitions:
            reassignments.append(OngoingTopicReassignment(name=name, partitions=partitions))
    return ControllerResult(
        response=ListPartitionReassignmentsResponse(error_message=None, topics=reassignments)
    )


def _reassigning(
    topic: TopicImage, numbers: Iterable[int] | None
) -> list[OngoingPartitionReassignment]:
    reassignments = []
    for number in topic.numbers() if numbers is None else numbers:
        partition = topic.partitions.get(number)
        if partition is not None and partition.is_reassigning:
            reassignments.append(
                OngoingPartitionReassignment(
                    partition_index=number,
                    replicas=partition.replicas,
                    adding_replicas=partition.adding_replicas,
                    removing_replicas=partition.removing_replicas,
                )
            )
    return reassignments
