"""CreatePartitions (KIP-195)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kwire.controller.authorization.access import permitted_topics
from kwire.controller.handlers.limits import check_partitions
from kwire.controller.handlers.placement import check_assignment, new_partition, place_partitions
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    VersionedRecords,
)
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.topics import TopicImage
from kwire.messages.a37_create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from kwire.messages.access_control import AclOperation

STRICT_SINCE = 3
"""The version whose clients know THROTTLING_QUOTA_EXCEEDED (KIP-599)."""


def handle(request: CreatePartitionsRequest, context: ControllerContext) -> ControllerResult:
    """Add partitions to topics, in one batch (Java: ReplicationControlManager.createPartitions).

    1. A topic is given twice: INVALID_REQUEST, once.
    2. ALTER is not allowed on it: TOPIC_AUTHORIZATION_FAILED, without a message.
    3. The other topics have more partitions than one request may bring: POLICY_VIOLATION for all.

    For each of these by itself, in the order of the request, which decides who gets the rest of a
    quota (Java: in that of a HashSet):

    4. It is not known: UNKNOWN_TOPIC_OR_PARTITION.
    5. The count is what it has, or less: INVALID_PARTITIONS.
    6. Another number of assignments than of new partitions: INVALID_REPLICA_ASSIGNMENT.
    7. The new partitions count for the sender's quota, even if they are refused below, or if the
       request only validates. Since version 3, if it is used up: THROTTLING_QUOTA_EXCEEDED
       (KIP-599).
    8. A bad assignment (`check_assignment`), or one without an active replica:
       INVALID_REPLICA_ASSIGNMENT.
    9. Without assignments, no brokers for them: INVALID_REPLICATION_FACTOR.
    """
    counts = Counter(topic.name for topic in request.topics)
    refused = _refused(counts, context)
    # 3.
    topics = [topic for topic in request.topics if topic.name not in refused]
    check_partitions(sum(_growth(topic, context) for topic in topics))
    records: VersionedRecords = []
    results = [_result(name, error) for name, error in refused.items()]
    for topic in topics:
        try:
            records += _grow(topic, context)
        except ApiError as error:
            results.append(_result(topic.name, error))
        else:
            results.append(CreatePartitionsTopicResult(name=topic.name))
    return ControllerResult(
        records=() if request.validate_only else tuple(records),
        response=CreatePartitionsResponse(results=results),
    )


def event(request: CreatePartitionsRequest, context: ControllerContext) -> ControllerEvent:
    """Return NONE if no topic gets beyond step 2 of `handle`."""
    counts = Counter(topic.name for topic in request.topics)
    return (
        ControllerEvent.WRITE
        if counts.keys() - _refused(counts, context).keys()
        else ControllerEvent.NONE
    )


def _refused(counts: Mapping[str, int], context: ControllerContext) -> dict[str, ApiError]:
    permitted = permitted_topics(context.access, AclOperation.ALTER, counts)
    refused = {}
    for name, count in counts.items():
        # 1.
        if count > 1:
            refused[name] = ApiError(
                ErrorCode.INVALID_REQUEST, "The topic is given more than once."
            )
        # 2.
        elif name not in permitted:
            refused[name] = ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return refused


def _result(name: str, error: ApiError) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(
        name=name, error_code=error.code, error_message=error.message
    )


def _growth(requested: CreatePartitionsTopic, context: ControllerContext) -> int:
    topic = context.image.topics.topic(requested.name)
    return 0 if topic is None else max(requested.count - len(topic.partitions), 0)


def _grow(requested: CreatePartitionsTopic, context: ControllerContext) -> VersionedRecords:
    # 4.
    topic = context.image.topics.topic(requested.name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "There is no topic of that name.")
    # 5.
    count = len(topic.partitions)
    if requested.count <= count:
        text = f"The topic has {count} partitions; {requested.count} would not be more."
        raise ApiError(ErrorCode.INVALID_PARTITIONS, text)
    additional = requested.count - count
    # 6.
    if requested.assignments is not None and len(requested.assignments) != additional:
        text = f"{additional} partitions are added, {len(requested.assignments)} are assigned."
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    # 7.
    context.record_mutations(additional, strict_since=STRICT_SINCE)
    # 8., 9.
    version, elr = context.metadata_version, context.image.features.elr_enabled
    code = ErrorCode.INVALID_REPLICATION_FACTOR
    if requested.assignments is not None:
        code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    records = []
    for number, replicas in enumerate(_replicas(requested, topic, context), count):
        partition = new_partition(replicas, context)
        if partition is None:
            raise ApiError(code, f"No broker of partition {number} is active.")
        records.append(partition.record(topic.id, number, version, elr=elr))
    return records


def _replicas(
    requested: CreatePartitionsTopic, topic: TopicImage, context: ControllerContext
) -> list[tuple[int, ...]]:
    factor = len(topic.partitions[0].replicas)
    if requested.assignments is None:
        return place_partitions(requested.count - len(topic.partitions), factor, context)
    for assignment in requested.assignments:
        check_assignment(assignment.broker_ids, factor, context)
    return [tuple(assignment.broker_ids) for assignment in requested.assignments]
