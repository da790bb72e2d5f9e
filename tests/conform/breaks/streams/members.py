"""Breaks of `streams/members`."""

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a16_list_groups import ListGroupsRequest
from kwire.messages.a88_streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kwire.messages.a89_streams_group_describe import StreamsGroupDescribeRequest

_API = StreamsGroupHeartbeatRequest


def _leaves(request: SeenRequest) -> bool:
    return bool(request.body.member_epoch == -1)


BREAKS: dict[int, Break] = {
    1: changes(_API, sets("heartbeat_interval_ms", 0)),
    2: gives_error(_API, 25),
    3: changes(_API, sets("status", [])),
    4: changes(_API, sets("member_epoch", 5), only_for=_leaves),
    **dict.fromkeys((5, 6, 7, 8, 9, 10, 12, 13, 14, 18, 19), gives_error(_API, 0)),
    # Kafka 4.4 breaks this sentence itself.
    11: gives_error(_API, 130, verdict=ConformanceVerdict.PASS),
    16: gives_error(StreamsGroupDescribeRequest, 0),
    17: changes(ListGroupsRequest, sets("groups[*].group_type", "Classic")),
}
