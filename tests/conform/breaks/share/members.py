"""Breaks of `share/members`."""

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a16_list_groups import ListGroupsRequest
from kwire.messages.a68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kwire.messages.a76_share_group_heartbeat import ShareGroupHeartbeatRequest
from kwire.messages.a77_share_group_describe import ShareGroupDescribeRequest
from tests.support.conform.other_member import other_member

_API = ShareGroupHeartbeatRequest


def _leaves(request: SeenRequest) -> bool:
    return bool(request.body.member_epoch == -1)


BREAKS: dict[int, Break] = {
    1: changes(_API, sets("heartbeat_interval_ms", 0)),
    2: gives_error(_API, 81, only_for=other_member),
    3: changes(_API, sets("member_epoch", 5), only_for=_leaves),
    **dict.fromkeys((4, 5, 6, 7, 8, 9, 10, 12), gives_error(_API, 0)),
    11: gives_error(ConsumerGroupHeartbeatRequest, 0),
    14: gives_error(ShareGroupDescribeRequest, 0),
    15: changes(ListGroupsRequest, sets("groups[*].group_type", "Classic")),
}
