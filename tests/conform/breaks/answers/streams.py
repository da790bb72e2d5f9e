"""Breaks of `answers/streams`."""

from breaking import Break, changes, sets
from kwire.messages.a88_streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kwire.messages.a89_streams_group_describe import StreamsGroupDescribeRequest

BREAKS: dict[int, Break] = {
    1: changes(StreamsGroupHeartbeatRequest, sets("heartbeat_interval_ms", 0)),
    2: changes(StreamsGroupDescribeRequest, sets("groups[0].members[0].rack_id", None)),
}
