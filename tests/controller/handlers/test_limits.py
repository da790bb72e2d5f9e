"""The limits of one request (QuorumController.MAX_RECORDS_PER_USER_OP)."""

from typing import Any

from kwire.error_codes import ErrorCode
from tests.support.controller.handlers.topic_requests import (
    create,
    topic,
)


def test_a_request_may_bring_10000_records_and_no_more(three: Any) -> None:
    """A TopicRecord and its partitions: Java's BoundedList takes no more in one operation."""
    (full,) = create(three, topic("a", num_partitions=9_999))
    assert full.error_code == ErrorCode.NONE
    (over,) = create(three, topic("b", num_partitions=10_000))
    assert over.error_code == ErrorCode.POLICY_VIOLATION
    assert create(three, topic("c"))[0].error_code == ErrorCode.NONE
