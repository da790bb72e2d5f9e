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
    """The partitions whose replicas are coming or going, of some topics or, with null, of all.

    What is not known or not moving is left out.
    """
    topics = context.image.topics
    if request.topics is None:
        asked = [(name, None) for name in sorted(topics.ids)]
        wanted: list[tuple[str, Iterable[int] | None]] = list(asked)
    else:
        wanted = [(topic.name, topic.partition_indexes) for topic in request.topics]
    found = []
    for name, numbers in wanted:
        topic = topics.named(name)
        moving = [] if topic is None else _moving(topic, numbers)
        if moving:
            found.append(OngoingTopicReassignment(name=name, partitions=moving))
    return ControllerResult(
        response=ListPartitionReassignmentsResponse(error_message=None, topics=found)
    )


def _moving(topic: TopicImage, numbers: Iterable[int] | None) -> list[OngoingPartitionReassignment]:
    found = []
    for number in topic.numbers() if numbers is None else numbers:
        partition = topic.partitions.get(number)
        if partition is not None and partition.is_reassigning:
            found.append(
                OngoingPartitionReassignment(
                    partition_index=number,
                    replicas=partition.replicas,
                    adding_replicas=partition.adding_replicas,
                    removing_replicas=partition.removing_replicas,
                )
            )
    return found
