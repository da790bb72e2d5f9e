"""DeleteTopics (KIP-4, KIP-516)."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

from kwire.controller.errors import ApiError
from kwire.controller.handlers.limits import MOST_RECORDS
from kwire.controller.handlers.result import ControllerContext, ControllerResult, Records, versioned
from kwire.error_codes import ErrorCode
from kwire.image.topics import TopicImage
from kwire.messages.a20_delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.text.ids import ZERO_UUID


def handle(request: DeleteTopicsRequest, context: ControllerContext) -> ControllerResult:
    """Topics go, with their partitions and configuration, each of them or not.

    1. delete.topic.enable is false: TOPIC_DELETION_DISABLED, INVALID_REQUEST before version 3.
    2. Neither name nor id, or both of them: INVALID_REQUEST.
    3. A name or an id twice, or a name and an id of the same topic: INVALID_REQUEST, once.
    4. An unknown name: UNKNOWN_TOPIC_OR_PARTITION; an unknown id: UNKNOWN_TOPIC_ID.
    5. More topics than one request may delete: UNKNOWN_SERVER_ERROR for those behind the limit
       (ReplicationControlManager.deleteTopics takes the list that is full for any other fault).
    """
    if not context.config.delete_topic_enable:
        old = context.version < 3
        code = ErrorCode.INVALID_REQUEST if old else ErrorCode.TOPIC_DELETION_DISABLED
        raise ApiError(code, "delete.topic.enable is false on this controller.")
    wanted = [DeleteTopicState(name=name) for name in request.topic_names] + request.topics
    counts = Counter((one.name, one.topic_id) for one in wanted)
    records: Records = []
    results = []
    gone: set[UUID] = set()
    for name, id in counts:
        try:
            if counts[name, id] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "The topic is given more than once.")
            topic = _topic(DeleteTopicState(name=name, topic_id=id), context)
            if topic.id in gone:
                raise ApiError(ErrorCode.INVALID_REQUEST, "The topic is given by its id, too.")
            if len(records) == MOST_RECORDS:
                text = f"One request deletes {MOST_RECORDS} topics at most: split it."
                raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
        except ApiError as error:
            result = DeletableTopicResult(
                name=name, topic_id=id, error_code=error.code, error_message=error.message
            )
        else:
            gone.add(topic.id)
            records.append(versioned(RemoveTopicRecord(topic_id=topic.id)))
            result = DeletableTopicResult(name=topic.name, topic_id=topic.id)
        results.append(result)
    return ControllerResult(
        records=tuple(records), response=DeleteTopicsResponse(responses=results)
    )


def _topic(wanted: DeleteTopicState, context: ControllerContext) -> TopicImage:
    topics = context.image.topics
    if wanted.name is not None:
        if wanted.topic_id != ZERO_UUID:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Give a topic's name or its id, not both.")
        topic = topics.named(wanted.name)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "There is no topic of that name.")
        return topic
    if wanted.topic_id == ZERO_UUID:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, "Neither the name nor the id of a topic is given."
        )
    topic = topics.by_id.get(wanted.topic_id)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID, "There is no topic of that id.")
    return topic
