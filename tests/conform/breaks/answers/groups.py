"""Breaks of `answers/groups`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a08_offset_commit import OffsetCommitRequest
from kwire.messages.a09_offset_fetch import OffsetFetchRequest
from kwire.messages.a11_join_group import JoinGroupRequest
from kwire.messages.a13_leave_group import LeaveGroupRequest
from kwire.messages.a14_sync_group import SyncGroupRequest
from kwire.messages.a15_describe_groups import DescribeGroupsRequest
from kwire.messages.a16_list_groups import ListGroupsRequest
from kwire.messages.a42_delete_groups import DeleteGroupsRequest
from kwire.messages.a47_offset_delete import OffsetDeleteRequest
from kwire.messages.a68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kwire.messages.a69_consumer_group_describe import ConsumerGroupDescribeRequest

BREAKS: dict[int, Break] = {
    1: changes(OffsetCommitRequest, sets("topics[0].partitions[1].partition_index", 7)),
    2: changes(OffsetFetchRequest, sets("topics[0].partitions[0].metadata", ""), only_for=5),
    3: changes(JoinGroupRequest, sets("generation_id", 9), only_for=0),
    4: changes(SyncGroupRequest, sets("assignment", b""), only_for=2),
    5: changes(LeaveGroupRequest, sets("members[*].group_instance_id", None)),
    6: changes(DescribeGroupsRequest, sets("groups[0].members[0].client_host", "")),
    7: changes(ListGroupsRequest, sets("groups[*].protocol_type", ""), only_for=2),
    8: changes(DeleteGroupsRequest, sets("results[0].group_id", "another"), only_for=0),
    9: changes(OffsetDeleteRequest, sets("topics[0].name", "another")),
    10: changes(ConsumerGroupHeartbeatRequest, sets("assignment", None)),
    11: changes(ConsumerGroupDescribeRequest, sets("groups[0].members[0].rack_id", None)),
    12: gives_error(OffsetCommitRequest, 0),
    13: gives_error(SyncGroupRequest, 0),
    14: gives_error(OffsetFetchRequest, 0),
    15: gives_error(OffsetFetchRequest, 113),
    16: changes(JoinGroupRequest, sets("skip_assignment", False), only_for=9),
}
