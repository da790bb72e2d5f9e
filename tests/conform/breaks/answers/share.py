"""Breaks of `answers/share`."""

from breaking import Break, changes, sets
from kwire.messages.a76_share_group_heartbeat import ShareGroupHeartbeatRequest
from kwire.messages.a77_share_group_describe import ShareGroupDescribeRequest
from kwire.messages.a78_share_fetch import ShareFetchRequest
from kwire.messages.a79_share_acknowledge import ShareAcknowledgeRequest
from kwire.messages.a87_read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from kwire.messages.a90_describe_share_group_offsets import DescribeShareGroupOffsetsRequest

BREAKS: dict[int, Break] = {
    1: changes(ShareGroupHeartbeatRequest, sets("member_id", "another")),
    2: changes(ShareGroupDescribeRequest, sets("groups[0].assignment_epoch", 7)),
    3: changes(
        ShareAcknowledgeRequest, sets("responses[*].partitions[0].current_leader.leader_epoch", 7)
    ),
    4: changes(DescribeShareGroupOffsetsRequest, sets("groups[0].topics[0].partitions[0].lag", 7)),
    5: changes(ReadShareGroupStateSummaryRequest, sets("results[0].partitions[0].leader_epoch", 7)),
    6: changes(ShareFetchRequest, sets("node_endpoints[*].port", 1)),
}
