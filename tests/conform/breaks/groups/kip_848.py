"""Breaks of `groups/kip-848`."""

from uuid import uuid4

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a08_offset_commit import OffsetCommitRequest
from kwire.messages.a11_join_group import JoinGroupRequest
from kwire.messages.a16_list_groups import ListGroupsRequest
from kwire.messages.a68_consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from kwire.messages.a69_consumer_group_describe import ConsumerGroupDescribeRequest
from tests.support.conform.other_member import other_member

_API = ConsumerGroupHeartbeatRequest
_ACCEPTED = gives_error(_API, 0)
_DESCRIBED = gives_error(ConsumerGroupDescribeRequest, 0)
_COMMITTED = gives_error(OffsetCommitRequest, 0)
_REFUSALS = (3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 22, 26, 32)


def _is_short(request: SeenRequest) -> bool:
    return request.body.topic_partitions is None


def _is_full(request: SeenRequest) -> bool:
    return request.body.subscribed_topic_names is not None and request.body.member_epoch > 0


def _leaves(request: SeenRequest) -> bool:
    return bool(request.body.member_epoch == -1)


def _other_partition(answer: ConsumerGroupHeartbeatResponse) -> None:
    """Assign 1 for 0 and 0 for 1."""
    for topic in answer.assignment.topic_partitions if answer.assignment is not None else ():
        topic.partitions = tuple(1 - partition for partition in topic.partitions)


def _owned_partition(answer: ConsumerGroupHeartbeatResponse) -> None:
    topic = TopicPartitions(topic_id=uuid4(), partitions=(0,))
    answer.assignment = Assignment(topic_partitions=[topic])


BREAKS: dict[int, Break] = {
    1: changes(_API, sets("heartbeat_interval_ms", 0)),
    2: changes(_API, sets("member_id", "")),
    4: changes(_API, sets("member_id", "other")),
    **dict.fromkeys(_REFUSALS, _ACCEPTED),
    18: changes(_API, sets("assignment", Assignment(topic_partitions=[])), only_for=_is_short),
    19: changes(_API, sets("assignment", Assignment(topic_partitions=[])), only_for=_is_full),
    20: changes(_API, sets("member_epoch", 5), only_for=_leaves),
    21: gives_error(_API, 111, only_for=lambda request: request.number == 3),
    23: changes(_API, _other_partition, only_for=other_member),
    24: changes(_API, _owned_partition, only_for=other_member),
    25: gives_error(_API, 128),
    29: _DESCRIBED,
    30: changes(ListGroupsRequest, sets("groups[*].group_type", "Classic")),
    31: gives_error(JoinGroupRequest, 0),
    33: _COMMITTED,
    34: _COMMITTED,
}
