"""DeleteTopics (KIP-4, KIP-516)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from uuid import UUID

from kwire.controller.authorization.access import Access, permits_on_cluster
from kwire.controller.handlers.limits import MAX_RECORDS
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    VersionedRecords,
    versioned,
)
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.topics import TopicImage
from kwire.messages.a20_delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kwire.messages.access_control import AclOperation, AclResourceType
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.text.ids import ZERO_UUID

DELETE, DESCRIBE = AclOperation.DELETE, AclOperation.DESCRIBE
STRICT_SINCE = 5
"""The version whose clients know THROTTLING_QUOTA_EXCEEDED (KIP-599)."""


def handle(request: DeleteTopicsRequest, context: ControllerContext) -> ControllerResult:
    """Delete topics, with their partitions and configuration (Java:
    ReplicationControlManager.deleteTopics).

    1. delete.topic.enable is false: TOPIC_DELETION_DISABLED, INVALID_REQUEST before version 3.
    2. Neither name nor id, or both of them: INVALID_REQUEST.
    3. A name or an id twice, or a name and an id of the same topic: INVALID_REQUEST, once, and the
       topic stays (Java: ControllerApis.deleteTopics).
    4. An unknown id: UNKNOWN_TOPIC_ID.
    5. DELETE is not allowed on the cluster, and DESCRIBE or DELETE not on the topic:
       TOPIC_AUTHORIZATION_FAILED, without the topic's name if it was given by its id and may not be
       described.
    6. An unknown name: UNKNOWN_TOPIC_OR_PARTITION.
    7. The topic's partitions count for the sender's quota. Since version 5, if that is used up:
       THROTTLING_QUOTA_EXCEEDED (KIP-599).
    8. More topics than one request may delete: UNKNOWN_SERVER_ERROR for those beyond the limit.
    """
    records: VersionedRecords = []
    results = []
    for topic in _topics_or_refusals(request, context):
        if isinstance(topic, DeletableTopicResult):
            results.append(topic)
            continue
        result = DeletableTopicResult(name=topic.name, topic_id=topic.id)
        try:
            # 7., 8.
            _delete(topic, records, context)
        except ApiError as error:
            result = result.replace(error_code=error.code, error_message=error.message)
        results.append(result)
    return ControllerResult(
        records=tuple(records), response=DeleteTopicsResponse(responses=results)
    )


def event(request: DeleteTopicsRequest, context: ControllerContext) -> ControllerEvent:
    """Return WRITE if a topic gets beyond step 6 of `handle`, NONE if none is looked for.

    Raises ApiError as of step 1.
    """
    if any(isinstance(topic, TopicImage) for topic in _topics_or_refusals(request, context)):
        return ControllerEvent.WRITE
    counts = _counts(request)
    is_read = any(
        count == 1 and (name is None) != (id == ZERO_UUID) for (name, id), count in counts.items()
    )
    return ControllerEvent.READ if is_read else ControllerEvent.NONE


def _counts(request: DeleteTopicsRequest) -> Counter[tuple[str | None, UUID]]:
    """Return how often each pair of a name and an id is given."""
    requested = [DeleteTopicState(name=name) for name in request.topic_names] + request.topics
    return Counter((topic.name, topic.topic_id) for topic in requested)


def _topics_or_refusals(
    request: DeleteTopicsRequest, context: ControllerContext
) -> list[TopicImage | DeletableTopicResult]:
    """Return the topics that may be deleted, and the results of the others: steps 1 to 6."""
    # 1.
    if not context.config.delete_topic_enable:
        is_old = context.version < 3
        code = ErrorCode.INVALID_REQUEST if is_old else ErrorCode.TOPIC_DELETION_DISABLED
        raise ApiError(code, "delete.topic.enable is false on this controller.")
    counts = _counts(request)
    permissions = _Permissions(context.access)
    named = _times_named(counts, context)
    found: list[TopicImage | DeletableTopicResult] = []
    refused: set[UUID] = set()
    for name, id in counts:
        try:
            # 3.
            if counts[name, id] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "The topic is given more than once.")
            # 5.
            if name is not None and id == ZERO_UUID:
                permissions.check(DESCRIBE, name)
            # 2., 4., 6.
            topic = _topic(DeleteTopicState(name=name, topic_id=id), context)
            # 5.
            name = name or (topic.name if permissions.allow(DESCRIBE, topic.name) else None)
            permissions.check(DELETE, topic.name)
            # 3.
            if named[topic.id] > 1:
                if topic.id in refused:
                    continue
                refused.add(topic.id)
                name, id = topic.name, topic.id
                raise ApiError(ErrorCode.INVALID_REQUEST, "The topic is given by its id, too.")
        except ApiError as error:
            result = DeletableTopicResult(
                name=name, topic_id=id, error_code=error.code, error_message=error.message
            )
            found.append(result)
        else:
            found.append(topic)
    return found


def _delete(topic: TopicImage, records: VersionedRecords, context: ControllerContext) -> None:
    # 7.
    context.record_mutations(len(topic.partitions), strict_since=STRICT_SINCE)
    # 8. Java takes the error of the list that is full for any other fault.
    if len(records) == MAX_RECORDS:
        text = f"One request deletes {MAX_RECORDS} topics at most: split it."
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    records.append(versioned(RemoveTopicRecord(topic_id=topic.id)))


class _Permissions:
    """The operations on topics that are allowed; all of them with DELETE on the cluster."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._allow_all = permits_on_cluster(access, DELETE)

    def allow(self, operation: AclOperation, name: str) -> bool:
        """Return True if the operation on a topic is allowed."""
        return self._allow_all or self._access.permits(operation, AclResourceType.TOPIC, name)

    def check(self, operation: AclOperation, name: str) -> None:
        """Raise TOPIC_AUTHORIZATION_FAILED unless the operation on a topic is allowed."""
        # 5.
        if not self.allow(operation, name):
            text = f"{operation.name} is not allowed."
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, text)


def _times_named(
    requested: Iterable[tuple[str | None, UUID]], context: ControllerContext
) -> Counter[UUID]:
    """Return how often each topic is named, by its name and by its id."""
    named: Counter[UUID] = Counter()
    for name, id in requested:
        with suppress(ApiError):
            named[_topic(DeleteTopicState(name=name, topic_id=id), context).id] += 1
    return named


def _topic(requested: DeleteTopicState, context: ControllerContext) -> TopicImage:
    topics = context.image.topics
    # 2., 4., 6.
    if requested.name is not None:
        if requested.topic_id != ZERO_UUID:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Give a topic's name or its id, not both.")
        topic = topics.topic(requested.name)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "There is no topic of that name.")
        return topic
    if requested.topic_id == ZERO_UUID:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, "Neither the name nor the id of a topic is given."
        )
    topic = topics.by_id.get(requested.topic_id)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID, "There is no topic of that id.")
    return topic
