"""CreatePartitions (KIP-195)."""

from __future__ import annotations

from collections import Counter

from kwire.controller.errors import ApiError
from kwire.controller.handlers.limits import check_partitions
from kwire.controller.handlers.placement import check_assignment, new_partition, place_partitions
from kwire.controller.handlers.result import ControllerContext, ControllerResult, Records
from kwire.error_codes import ErrorCode
from kwire.image.topics import TopicImage
from kwire.messages.a37_create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


def handle(request: CreatePartitionsRequest, context: ControllerContext) -> ControllerResult:
    """Add partitions to topics, in one batch (Java: ReplicationControlManager.createPartitions).

    1. More partitions than one request may bring: POLICY_VIOLATION for all.

    For each topic by itself:

    2. The topic is given twice: INVALID_REQUEST, once.
    3. It is not known: UNKNOWN_TOPIC_OR_PARTITION.
    4. The count is what it has, or less: INVALID_PARTITIONS.
    5. Another number of assignments than of new partitions, a bad one (`check_assignment`), or one
       without an active replica: INVALID_REPLICA_ASSIGNMENT.
    6. Without assignments, no brokers for them: INVALID_REPLICATION_FACTOR.
    """
    # 1.
    check_partitions(sum(_growth(topic, context) for topic in request.topics))
    counts = Counter(topic.name for topic in request.topics)
    records: Records = []
    results = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        try:
            # 2.
            if counts[topic.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "The topic is given more than once.")
            records += _grow(topic, context)
        except ApiError as error:
            result = CreatePartitionsTopicResult(
                name=topic.name, error_code=error.code, error_message=error.message
            )
        else:
            result = CreatePartitionsTopicResult(name=topic.name)
        results.append(result)
    return ControllerResult(
        records=() if request.validate_only else tuple(records),
        response=CreatePartitionsResponse(results=results),
    )


def _growth(requested: CreatePartitionsTopic, context: ControllerContext) -> int:
    topic = context.image.topics.topic(requested.name)
    return 0 if topic is None else max(requested.count - len(topic.partitions), 0)


def _grow(requested: CreatePartitionsTopic, context: ControllerContext) -> Records:
    # 3.
    topic = context.image.topics.topic(requested.name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "There is no topic of that name.")
    # 4.
    count = len(topic.partitions)
    if requested.count <= count:
        text = f"The topic has {count} partitions; {requested.count} would not be more."
        raise ApiError(ErrorCode.INVALID_PARTITIONS, text)
    # 5., 6.
    version = context.metadata_version
    code = ErrorCode.INVALID_REPLICATION_FACTOR
    if requested.assignments is not None:
        code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    records = []
    for number, replicas in enumerate(_replicas(requested, topic, context), count):
        partition = new_partition(replicas, context)
        if partition is None:
            raise ApiError(code, f"No broker of partition {number} is active.")
        records.append(partition.record(topic.id, number, version))
    return records


def _replicas(
    requested: CreatePartitionsTopic, topic: TopicImage, context: ControllerContext
) -> list[tuple[int, ...]]:
    additional = requested.count - len(topic.partitions)
    factor = len(topic.partitions[0].replicas)
    if requested.assignments is None:
        return place_partitions(additional, factor, context)
    if len(requested.assignments) != additional:
        text = f"{additional} partitions are added, {len(requested.assignments)} are assigned."
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    for assignment in requested.assignments:
        check_assignment(assignment.broker_ids, factor, context)
    return [tuple(assignment.broker_ids) for assignment in requested.assignments]
