"""DeleteTopics, after Kafka's ReplicationControlManagerTest."""

from typing import Any
from uuid import UUID

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.records.topic import TopicRecord


def delete(lab: Any, *wanted: DeleteTopicState) -> list[tuple[str | None, int]]:
    response = lab.ask(DeleteTopicsRequest(timeout_ms=9000, topics=list(wanted)))
    return [(one.name, one.error_code) for one in response.responses]


def test_topics_are_deleted_by_name_and_by_id(three: Any) -> None:
    three.create("foo", (1,))
    id = three.create("bar", (1,))

    results = delete(three, DeleteTopicState(name="foo"), DeleteTopicState(topic_id=id))

    assert results == [("foo", 0), ("bar", 0)]
    assert not three.image.topics.ids


def test_versions_without_ids_delete_by_name(three: Any) -> None:
    three.create("foo", (1,))

    response = three.ask(DeleteTopicsRequest(timeout_ms=9000, topic_names=("foo", "bar")), 5)

    assert [(one.name, one.error_code) for one in response.responses] == [
        ("foo", ErrorCode.NONE),
        ("bar", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_what_is_wrong_with_a_deletion_is_refused(three: Any) -> None:
    id = three.create("foo", (1,))
    states = [
        DeleteTopicState(),
        DeleteTopicState(name="foo", topic_id=id),
        DeleteTopicState(name="twice"),
        DeleteTopicState(name="twice"),
        DeleteTopicState(topic_id=UUID(int=5)),
        DeleteTopicState(topic_id=id),
        DeleteTopicState(name="foo"),
    ]

    results = delete(three, *states)

    assert [code for _, code in results] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INVALID_REQUEST,
    ]


@pytest.mark.parametrize(
    ("version", "code"),
    [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)],
)
def test_deletion_can_be_disabled(make_lab: Any, version: int, code: ErrorCode) -> None:
    lab = make_lab(delete_topic_enable=False)

    response = lab.ask(DeleteTopicsRequest(timeout_ms=9000, topic_names=("foo",)), version)

    assert [one.error_code for one in response.responses] == [code]


def test_topics_beyond_10000_are_not_deleted_by_one_request(three: Any) -> None:
    """Each by itself, with the code that Java has for faults (ReplicationControlManager)."""
    ids = [UUID(int=number + 1) for number in range(10_001)]
    for number, id in enumerate(ids):
        three.write(TopicRecord(name=f"t{number}", topic_id=id))
    names = [f"t{number}" for number in range(10_001)]
    answer = three.ask(
        DeleteTopicsRequest(timeout_ms=9000, topics=[DeleteTopicState(name=name) for name in names])
    )
    codes = [response.error_code for response in answer.responses]
    assert codes == [ErrorCode.NONE] * 10_000 + [ErrorCode.UNKNOWN_SERVER_ERROR]
    assert len(three.image.topics.ids) == 1
