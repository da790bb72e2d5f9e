"""Breaks of `answers/refusals`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a08_offset_commit import OffsetCommitRequest
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.a11_join_group import JoinGroupRequest
from kwire.messages.a12_heartbeat import HeartbeatRequest
from kwire.messages.a13_leave_group import LeaveGroupRequest
from kwire.messages.a14_sync_group import SyncGroupRequest
from kwire.messages.a15_describe_groups import DescribeGroupsRequest
from kwire.messages.a32_describe_configs import DescribeConfigsRequest
from kwire.messages.a48_describe_client_quotas import DescribeClientQuotasRequest
from kwire.messages.a57_update_features import UpdateFeaturesRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kwire.messages.a69_consumer_group_describe import ConsumerGroupDescribeRequest

BREAKS: dict[int, Break] = {
    1: gives_error(JoinGroupRequest, 0, only_for=3),
    2: gives_error(HeartbeatRequest, 0, only_for=1),
    3: gives_error(SyncGroupRequest, 0, only_for=2),
    4: gives_error(LeaveGroupRequest, 0, only_for=1),
    5: changes(OffsetCommitRequest, sets("topics[0].partitions[0].partition_index", 0)),
    6: changes(DescribeGroupsRequest, sets("groups[0].error_code", 15), only_for=2),
    7: gives_error(ConsumerGroupDescribeRequest, 0, only_for=0),
    8: gives_error(ConsumerGroupHeartbeatRequest, 0),
    9: changes(FindCoordinatorRequest, sets("port", 1), only_for=2),
    10: changes(MetadataRequest, sets("topics[*].is_internal", True), only_for=5),
    11: gives_error(DescribeConfigsRequest, 0, only_for=1),
    12: gives_error(DescribeClientQuotasRequest, 0, only_for=0),
    13: gives_error(UnregisterBrokerRequest, 0),
    14: gives_error(UpdateFeaturesRequest, 0, only_for=2),
}
