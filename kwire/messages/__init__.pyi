"""Types of the names of `kwire.messages`. Written by `python -m declarations`."""

from typing import Literal, overload

from kwire.codec.declaration import Message
from kwire.messages.a00_produce import ProduceRequest as ProduceRequest
from kwire.messages.a00_produce import ProduceResponse as ProduceResponse
from kwire.messages.a01_fetch import FetchRequest as FetchRequest
from kwire.messages.a01_fetch import FetchResponse as FetchResponse
from kwire.messages.a02_list_offsets import ListOffsetsRequest as ListOffsetsRequest
from kwire.messages.a02_list_offsets import ListOffsetsResponse as ListOffsetsResponse
from kwire.messages.a03_metadata import MetadataRequest as MetadataRequest
from kwire.messages.a03_metadata import MetadataResponse as MetadataResponse
from kwire.messages.a04_leader_and_isr import LeaderAndIsrRequest as LeaderAndIsrRequest
from kwire.messages.a04_leader_and_isr import LeaderAndIsrResponse as LeaderAndIsrResponse
from kwire.messages.a05_stop_replica import StopReplicaRequest as StopReplicaRequest
from kwire.messages.a05_stop_replica import StopReplicaResponse as StopReplicaResponse
from kwire.messages.a06_update_metadata import UpdateMetadataRequest as UpdateMetadataRequest
from kwire.messages.a06_update_metadata import UpdateMetadataResponse as UpdateMetadataResponse
from kwire.messages.a07_controlled_shutdown import (
    ControlledShutdownRequest as ControlledShutdownRequest,
)
from kwire.messages.a07_controlled_shutdown import (
    ControlledShutdownResponse as ControlledShutdownResponse,
)
from kwire.messages.a08_offset_commit import OffsetCommitRequest as OffsetCommitRequest
from kwire.messages.a08_offset_commit import OffsetCommitResponse as OffsetCommitResponse
from kwire.messages.a09_offset_fetch import OffsetFetchRequest as OffsetFetchRequest
from kwire.messages.a09_offset_fetch import OffsetFetchResponse as OffsetFetchResponse
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest as FindCoordinatorRequest
from kwire.messages.a10_find_coordinator import FindCoordinatorResponse as FindCoordinatorResponse
from kwire.messages.a11_join_group import JoinGroupRequest as JoinGroupRequest
from kwire.messages.a11_join_group import JoinGroupResponse as JoinGroupResponse
from kwire.messages.a12_heartbeat import HeartbeatRequest as HeartbeatRequest
from kwire.messages.a12_heartbeat import HeartbeatResponse as HeartbeatResponse
from kwire.messages.a13_leave_group import LeaveGroupRequest as LeaveGroupRequest
from kwire.messages.a13_leave_group import LeaveGroupResponse as LeaveGroupResponse
from kwire.messages.a14_sync_group import SyncGroupRequest as SyncGroupRequest
from kwire.messages.a14_sync_group import SyncGroupResponse as SyncGroupResponse
from kwire.messages.a15_describe_groups import DescribeGroupsRequest as DescribeGroupsRequest
from kwire.messages.a15_describe_groups import DescribeGroupsResponse as DescribeGroupsResponse
from kwire.messages.a16_list_groups import ListGroupsRequest as ListGroupsRequest
from kwire.messages.a16_list_groups import ListGroupsResponse as ListGroupsResponse
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest as SaslHandshakeRequest
from kwire.messages.a17_sasl_handshake import SaslHandshakeResponse as SaslHandshakeResponse
from kwire.messages.a18_api_versions import ApiVersionsRequest as ApiVersionsRequest
from kwire.messages.a18_api_versions import ApiVersionsResponse as ApiVersionsResponse
from kwire.messages.a19_create_topics import CreateTopicsRequest as CreateTopicsRequest
from kwire.messages.a19_create_topics import CreateTopicsResponse as CreateTopicsResponse
from kwire.messages.a20_delete_topics import DeleteTopicsRequest as DeleteTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsResponse as DeleteTopicsResponse
from kwire.messages.a21_delete_records import DeleteRecordsRequest as DeleteRecordsRequest
from kwire.messages.a21_delete_records import DeleteRecordsResponse as DeleteRecordsResponse
from kwire.messages.a22_init_producer_id import InitProducerIdRequest as InitProducerIdRequest
from kwire.messages.a22_init_producer_id import InitProducerIdResponse as InitProducerIdResponse
from kwire.messages.a23_offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest as OffsetForLeaderEpochRequest,
)
from kwire.messages.a23_offset_for_leader_epoch import (
    OffsetForLeaderEpochResponse as OffsetForLeaderEpochResponse,
)
from kwire.messages.a24_add_partitions_to_txn import (
    AddPartitionsToTxnRequest as AddPartitionsToTxnRequest,
)
from kwire.messages.a24_add_partitions_to_txn import (
    AddPartitionsToTxnResponse as AddPartitionsToTxnResponse,
)
from kwire.messages.a25_add_offsets_to_txn import AddOffsetsToTxnRequest as AddOffsetsToTxnRequest
from kwire.messages.a25_add_offsets_to_txn import AddOffsetsToTxnResponse as AddOffsetsToTxnResponse
from kwire.messages.a26_end_txn import EndTxnRequest as EndTxnRequest
from kwire.messages.a26_end_txn import EndTxnResponse as EndTxnResponse
from kwire.messages.a27_write_txn_markers import WriteTxnMarkersRequest as WriteTxnMarkersRequest
from kwire.messages.a27_write_txn_markers import WriteTxnMarkersResponse as WriteTxnMarkersResponse
from kwire.messages.a28_txn_offset_commit import TxnOffsetCommitRequest as TxnOffsetCommitRequest
from kwire.messages.a28_txn_offset_commit import TxnOffsetCommitResponse as TxnOffsetCommitResponse
from kwire.messages.a29_describe_acls import DescribeAclsRequest as DescribeAclsRequest
from kwire.messages.a29_describe_acls import DescribeAclsResponse as DescribeAclsResponse
from kwire.messages.a30_create_acls import CreateAclsRequest as CreateAclsRequest
from kwire.messages.a30_create_acls import CreateAclsResponse as CreateAclsResponse
from kwire.messages.a31_delete_acls import DeleteAclsRequest as DeleteAclsRequest
from kwire.messages.a31_delete_acls import DeleteAclsResponse as DeleteAclsResponse
from kwire.messages.a32_describe_configs import DescribeConfigsRequest as DescribeConfigsRequest
from kwire.messages.a32_describe_configs import DescribeConfigsResponse as DescribeConfigsResponse
from kwire.messages.a33_alter_configs import AlterConfigsRequest as AlterConfigsRequest
from kwire.messages.a33_alter_configs import AlterConfigsResponse as AlterConfigsResponse
from kwire.messages.a34_alter_replica_log_dirs import (
    AlterReplicaLogDirsRequest as AlterReplicaLogDirsRequest,
)
from kwire.messages.a34_alter_replica_log_dirs import (
    AlterReplicaLogDirsResponse as AlterReplicaLogDirsResponse,
)
from kwire.messages.a35_describe_log_dirs import DescribeLogDirsRequest as DescribeLogDirsRequest
from kwire.messages.a35_describe_log_dirs import DescribeLogDirsResponse as DescribeLogDirsResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest as SaslAuthenticateRequest
from kwire.messages.a36_sasl_authenticate import (
    SaslAuthenticateResponse as SaslAuthenticateResponse,
)
from kwire.messages.a37_create_partitions import CreatePartitionsRequest as CreatePartitionsRequest
from kwire.messages.a37_create_partitions import (
    CreatePartitionsResponse as CreatePartitionsResponse,
)
from kwire.messages.a38_create_delegation_token import (
    CreateDelegationTokenRequest as CreateDelegationTokenRequest,
)
from kwire.messages.a38_create_delegation_token import (
    CreateDelegationTokenResponse as CreateDelegationTokenResponse,
)
from kwire.messages.a39_renew_delegation_token import (
    RenewDelegationTokenRequest as RenewDelegationTokenRequest,
)
from kwire.messages.a39_renew_delegation_token import (
    RenewDelegationTokenResponse as RenewDelegationTokenResponse,
)
from kwire.messages.a40_expire_delegation_token import (
    ExpireDelegationTokenRequest as ExpireDelegationTokenRequest,
)
from kwire.messages.a40_expire_delegation_token import (
    ExpireDelegationTokenResponse as ExpireDelegationTokenResponse,
)
from kwire.messages.a41_describe_delegation_token import (
    DescribeDelegationTokenRequest as DescribeDelegationTokenRequest,
)
from kwire.messages.a41_describe_delegation_token import (
    DescribeDelegationTokenResponse as DescribeDelegationTokenResponse,
)
from kwire.messages.a42_delete_groups import DeleteGroupsRequest as DeleteGroupsRequest
from kwire.messages.a42_delete_groups import DeleteGroupsResponse as DeleteGroupsResponse
from kwire.messages.a43_elect_leaders import ElectLeadersRequest as ElectLeadersRequest
from kwire.messages.a43_elect_leaders import ElectLeadersResponse as ElectLeadersResponse
from kwire.messages.a44_incremental_alter_configs import (
    IncrementalAlterConfigsRequest as IncrementalAlterConfigsRequest,
)
from kwire.messages.a44_incremental_alter_configs import (
    IncrementalAlterConfigsResponse as IncrementalAlterConfigsResponse,
)
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest as AlterPartitionReassignmentsRequest,
)
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse as AlterPartitionReassignmentsResponse,
)
from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest as ListPartitionReassignmentsRequest,
)
from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsResponse as ListPartitionReassignmentsResponse,
)
from kwire.messages.a47_offset_delete import OffsetDeleteRequest as OffsetDeleteRequest
from kwire.messages.a47_offset_delete import OffsetDeleteResponse as OffsetDeleteResponse
from kwire.messages.a48_describe_client_quotas import (
    DescribeClientQuotasRequest as DescribeClientQuotasRequest,
)
from kwire.messages.a48_describe_client_quotas import (
    DescribeClientQuotasResponse as DescribeClientQuotasResponse,
)
from kwire.messages.a49_alter_client_quotas import (
    AlterClientQuotasRequest as AlterClientQuotasRequest,
)
from kwire.messages.a49_alter_client_quotas import (
    AlterClientQuotasResponse as AlterClientQuotasResponse,
)
from kwire.messages.a50_describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest as DescribeUserScramCredentialsRequest,
)
from kwire.messages.a50_describe_user_scram_credentials import (
    DescribeUserScramCredentialsResponse as DescribeUserScramCredentialsResponse,
)
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest as AlterUserScramCredentialsRequest,
)
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsResponse as AlterUserScramCredentialsResponse,
)
from kwire.messages.a52_vote import VoteRequest as VoteRequest
from kwire.messages.a52_vote import VoteResponse as VoteResponse
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest as BeginQuorumEpochRequest
from kwire.messages.a53_begin_quorum_epoch import (
    BeginQuorumEpochResponse as BeginQuorumEpochResponse,
)
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest as EndQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochResponse as EndQuorumEpochResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest as DescribeQuorumRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse as DescribeQuorumResponse
from kwire.messages.a56_alter_partition import AlterPartitionRequest as AlterPartitionRequest
from kwire.messages.a56_alter_partition import AlterPartitionResponse as AlterPartitionResponse
from kwire.messages.a57_update_features import UpdateFeaturesRequest as UpdateFeaturesRequest
from kwire.messages.a57_update_features import UpdateFeaturesResponse as UpdateFeaturesResponse
from kwire.messages.a58_envelope import EnvelopeRequest as EnvelopeRequest
from kwire.messages.a58_envelope import EnvelopeResponse as EnvelopeResponse
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest as FetchSnapshotRequest
from kwire.messages.a59_fetch_snapshot import FetchSnapshotResponse as FetchSnapshotResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest as DescribeClusterRequest
from kwire.messages.a60_describe_cluster import DescribeClusterResponse as DescribeClusterResponse
from kwire.messages.a61_describe_producers import (
    DescribeProducersRequest as DescribeProducersRequest,
)
from kwire.messages.a61_describe_producers import (
    DescribeProducersResponse as DescribeProducersResponse,
)
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest as BrokerRegistrationRequest,
)
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationResponse as BrokerRegistrationResponse,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest as BrokerHeartbeatRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatResponse as BrokerHeartbeatResponse
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest as UnregisterBrokerRequest
from kwire.messages.a64_unregister_broker import (
    UnregisterBrokerResponse as UnregisterBrokerResponse,
)
from kwire.messages.a65_describe_transactions import (
    DescribeTransactionsRequest as DescribeTransactionsRequest,
)
from kwire.messages.a65_describe_transactions import (
    DescribeTransactionsResponse as DescribeTransactionsResponse,
)
from kwire.messages.a66_list_transactions import ListTransactionsRequest as ListTransactionsRequest
from kwire.messages.a66_list_transactions import (
    ListTransactionsResponse as ListTransactionsResponse,
)
from kwire.messages.a67_allocate_producer_ids import (
    AllocateProducerIdsRequest as AllocateProducerIdsRequest,
)
from kwire.messages.a67_allocate_producer_ids import (
    AllocateProducerIdsResponse as AllocateProducerIdsResponse,
)
from kwire.messages.a68_consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest as ConsumerGroupHeartbeatRequest,
)
from kwire.messages.a68_consumer_group_heartbeat import (
    ConsumerGroupHeartbeatResponse as ConsumerGroupHeartbeatResponse,
)
from kwire.messages.a69_consumer_group_describe import (
    ConsumerGroupDescribeRequest as ConsumerGroupDescribeRequest,
)
from kwire.messages.a69_consumer_group_describe import (
    ConsumerGroupDescribeResponse as ConsumerGroupDescribeResponse,
)
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest as ControllerRegistrationRequest,
)
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationResponse as ControllerRegistrationResponse,
)
from kwire.messages.a71_get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest as GetTelemetrySubscriptionsRequest,
)
from kwire.messages.a71_get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsResponse as GetTelemetrySubscriptionsResponse,
)
from kwire.messages.a72_push_telemetry import PushTelemetryRequest as PushTelemetryRequest
from kwire.messages.a72_push_telemetry import PushTelemetryResponse as PushTelemetryResponse
from kwire.messages.a73_assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest as AssignReplicasToDirsRequest,
)
from kwire.messages.a73_assign_replicas_to_dirs import (
    AssignReplicasToDirsResponse as AssignReplicasToDirsResponse,
)
from kwire.messages.a74_list_client_metrics_resources import (
    ListClientMetricsResourcesRequest as ListClientMetricsResourcesRequest,
)
from kwire.messages.a74_list_client_metrics_resources import (
    ListClientMetricsResourcesResponse as ListClientMetricsResourcesResponse,
)
from kwire.messages.a74_list_config_resources import (
    ListConfigResourcesRequest as ListConfigResourcesRequest,
)
from kwire.messages.a74_list_config_resources import (
    ListConfigResourcesResponse as ListConfigResourcesResponse,
)
from kwire.messages.a75_describe_topic_partitions import (
    DescribeTopicPartitionsRequest as DescribeTopicPartitionsRequest,
)
from kwire.messages.a75_describe_topic_partitions import (
    DescribeTopicPartitionsResponse as DescribeTopicPartitionsResponse,
)
from kwire.messages.a76_share_group_heartbeat import (
    ShareGroupHeartbeatRequest as ShareGroupHeartbeatRequest,
)
from kwire.messages.a76_share_group_heartbeat import (
    ShareGroupHeartbeatResponse as ShareGroupHeartbeatResponse,
)
from kwire.messages.a77_share_group_describe import (
    ShareGroupDescribeRequest as ShareGroupDescribeRequest,
)
from kwire.messages.a77_share_group_describe import (
    ShareGroupDescribeResponse as ShareGroupDescribeResponse,
)
from kwire.messages.a78_share_fetch import ShareFetchRequest as ShareFetchRequest
from kwire.messages.a78_share_fetch import ShareFetchResponse as ShareFetchResponse
from kwire.messages.a79_share_acknowledge import ShareAcknowledgeRequest as ShareAcknowledgeRequest
from kwire.messages.a79_share_acknowledge import (
    ShareAcknowledgeResponse as ShareAcknowledgeResponse,
)
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest as AddRaftVoterRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterResponse as AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest as RemoveRaftVoterRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterResponse as RemoveRaftVoterResponse
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest as UpdateRaftVoterRequest
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterResponse as UpdateRaftVoterResponse
from kwire.messages.a83_initialize_share_group_state import (
    InitializeShareGroupStateRequest as InitializeShareGroupStateRequest,
)
from kwire.messages.a83_initialize_share_group_state import (
    InitializeShareGroupStateResponse as InitializeShareGroupStateResponse,
)
from kwire.messages.a84_read_share_group_state import (
    ReadShareGroupStateRequest as ReadShareGroupStateRequest,
)
from kwire.messages.a84_read_share_group_state import (
    ReadShareGroupStateResponse as ReadShareGroupStateResponse,
)
from kwire.messages.a85_write_share_group_state import (
    WriteShareGroupStateRequest as WriteShareGroupStateRequest,
)
from kwire.messages.a85_write_share_group_state import (
    WriteShareGroupStateResponse as WriteShareGroupStateResponse,
)
from kwire.messages.a86_delete_share_group_state import (
    DeleteShareGroupStateRequest as DeleteShareGroupStateRequest,
)
from kwire.messages.a86_delete_share_group_state import (
    DeleteShareGroupStateResponse as DeleteShareGroupStateResponse,
)
from kwire.messages.a87_read_share_group_state_summary import (
    ReadShareGroupStateSummaryRequest as ReadShareGroupStateSummaryRequest,
)
from kwire.messages.a87_read_share_group_state_summary import (
    ReadShareGroupStateSummaryResponse as ReadShareGroupStateSummaryResponse,
)
from kwire.messages.a88_streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest as StreamsGroupHeartbeatRequest,
)
from kwire.messages.a88_streams_group_heartbeat import (
    StreamsGroupHeartbeatResponse as StreamsGroupHeartbeatResponse,
)
from kwire.messages.a89_streams_group_describe import (
    StreamsGroupDescribeRequest as StreamsGroupDescribeRequest,
)
from kwire.messages.a89_streams_group_describe import (
    StreamsGroupDescribeResponse as StreamsGroupDescribeResponse,
)
from kwire.messages.a90_describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest as DescribeShareGroupOffsetsRequest,
)
from kwire.messages.a90_describe_share_group_offsets import (
    DescribeShareGroupOffsetsResponse as DescribeShareGroupOffsetsResponse,
)
from kwire.messages.a91_alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest as AlterShareGroupOffsetsRequest,
)
from kwire.messages.a91_alter_share_group_offsets import (
    AlterShareGroupOffsetsResponse as AlterShareGroupOffsetsResponse,
)
from kwire.messages.a92_delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest as DeleteShareGroupOffsetsRequest,
)
from kwire.messages.a92_delete_share_group_offsets import (
    DeleteShareGroupOffsetsResponse as DeleteShareGroupOffsetsResponse,
)
from kwire.messages.a93_streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest as StreamsGroupTopologyDescriptionUpdateRequest,
)
from kwire.messages.a93_streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateResponse as StreamsGroupTopologyDescriptionUpdateResponse,
)
from kwire.messages.a94_unregister_controller import (
    UnregisterControllerRequest as UnregisterControllerRequest,
)
from kwire.messages.a94_unregister_controller import (
    UnregisterControllerResponse as UnregisterControllerResponse,
)
from kwire.messages.coordinators.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey as ConsumerGroupCurrentMemberAssignmentKey,
)
from kwire.messages.coordinators.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentValue as ConsumerGroupCurrentMemberAssignmentValue,
)
from kwire.messages.coordinators.consumer_group_member_metadata import (
    ConsumerGroupMemberMetadataKey as ConsumerGroupMemberMetadataKey,
)
from kwire.messages.coordinators.consumer_group_member_metadata import (
    ConsumerGroupMemberMetadataValue as ConsumerGroupMemberMetadataValue,
)
from kwire.messages.coordinators.consumer_group_metadata import (
    ConsumerGroupMetadataKey as ConsumerGroupMetadataKey,
)
from kwire.messages.coordinators.consumer_group_metadata import (
    ConsumerGroupMetadataValue as ConsumerGroupMetadataValue,
)
from kwire.messages.coordinators.consumer_group_partition_metadata import (
    ConsumerGroupPartitionMetadataKey as ConsumerGroupPartitionMetadataKey,
)
from kwire.messages.coordinators.consumer_group_partition_metadata import (
    ConsumerGroupPartitionMetadataValue as ConsumerGroupPartitionMetadataValue,
)
from kwire.messages.coordinators.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey as ConsumerGroupRegularExpressionKey,
)
from kwire.messages.coordinators.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionValue as ConsumerGroupRegularExpressionValue,
)
from kwire.messages.coordinators.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey as ConsumerGroupTargetAssignmentMemberKey,
)
from kwire.messages.coordinators.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberValue as ConsumerGroupTargetAssignmentMemberValue,
)
from kwire.messages.coordinators.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey as ConsumerGroupTargetAssignmentMetadataKey,
)
from kwire.messages.coordinators.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataValue as ConsumerGroupTargetAssignmentMetadataValue,
)
from kwire.messages.coordinators.group_metadata import GroupMetadataKey as GroupMetadataKey
from kwire.messages.coordinators.group_metadata import GroupMetadataValue as GroupMetadataValue
from kwire.messages.coordinators.legacy_offset_commit import (
    LegacyOffsetCommitKey as LegacyOffsetCommitKey,
)
from kwire.messages.coordinators.legacy_offset_commit import (
    LegacyOffsetCommitValue as LegacyOffsetCommitValue,
)
from kwire.messages.coordinators.offset_commit import OffsetCommitKey as OffsetCommitKey
from kwire.messages.coordinators.offset_commit import OffsetCommitValue as OffsetCommitValue
from kwire.messages.coordinators.share_group_current_member_assignment import (
    ShareGroupCurrentMemberAssignmentKey as ShareGroupCurrentMemberAssignmentKey,
)
from kwire.messages.coordinators.share_group_current_member_assignment import (
    ShareGroupCurrentMemberAssignmentValue as ShareGroupCurrentMemberAssignmentValue,
)
from kwire.messages.coordinators.share_group_member_metadata import (
    ShareGroupMemberMetadataKey as ShareGroupMemberMetadataKey,
)
from kwire.messages.coordinators.share_group_member_metadata import (
    ShareGroupMemberMetadataValue as ShareGroupMemberMetadataValue,
)
from kwire.messages.coordinators.share_group_metadata import (
    ShareGroupMetadataKey as ShareGroupMetadataKey,
)
from kwire.messages.coordinators.share_group_metadata import (
    ShareGroupMetadataValue as ShareGroupMetadataValue,
)
from kwire.messages.coordinators.share_group_state_partition_metadata import (
    ShareGroupStatePartitionMetadataKey as ShareGroupStatePartitionMetadataKey,
)
from kwire.messages.coordinators.share_group_state_partition_metadata import (
    ShareGroupStatePartitionMetadataValue as ShareGroupStatePartitionMetadataValue,
)
from kwire.messages.coordinators.share_group_target_assignment_member import (
    ShareGroupTargetAssignmentMemberKey as ShareGroupTargetAssignmentMemberKey,
)
from kwire.messages.coordinators.share_group_target_assignment_member import (
    ShareGroupTargetAssignmentMemberValue as ShareGroupTargetAssignmentMemberValue,
)
from kwire.messages.coordinators.share_group_target_assignment_metadata import (
    ShareGroupTargetAssignmentMetadataKey as ShareGroupTargetAssignmentMetadataKey,
)
from kwire.messages.coordinators.share_group_target_assignment_metadata import (
    ShareGroupTargetAssignmentMetadataValue as ShareGroupTargetAssignmentMetadataValue,
)
from kwire.messages.coordinators.share_snapshot import ShareSnapshotKey as ShareSnapshotKey
from kwire.messages.coordinators.share_snapshot import ShareSnapshotValue as ShareSnapshotValue
from kwire.messages.coordinators.share_update import ShareUpdateKey as ShareUpdateKey
from kwire.messages.coordinators.share_update import ShareUpdateValue as ShareUpdateValue
from kwire.messages.coordinators.streams_group_current_member_assignment import (
    StreamsGroupCurrentMemberAssignmentKey as StreamsGroupCurrentMemberAssignmentKey,
)
from kwire.messages.coordinators.streams_group_current_member_assignment import (
    StreamsGroupCurrentMemberAssignmentValue as StreamsGroupCurrentMemberAssignmentValue,
)
from kwire.messages.coordinators.streams_group_member_metadata import (
    StreamsGroupMemberMetadataKey as StreamsGroupMemberMetadataKey,
)
from kwire.messages.coordinators.streams_group_member_metadata import (
    StreamsGroupMemberMetadataValue as StreamsGroupMemberMetadataValue,
)
from kwire.messages.coordinators.streams_group_metadata import (
    StreamsGroupMetadataKey as StreamsGroupMetadataKey,
)
from kwire.messages.coordinators.streams_group_metadata import (
    StreamsGroupMetadataValue as StreamsGroupMetadataValue,
)
from kwire.messages.coordinators.streams_group_target_assignment_member import (
    StreamsGroupTargetAssignmentMemberKey as StreamsGroupTargetAssignmentMemberKey,
)
from kwire.messages.coordinators.streams_group_target_assignment_member import (
    StreamsGroupTargetAssignmentMemberValue as StreamsGroupTargetAssignmentMemberValue,
)
from kwire.messages.coordinators.streams_group_target_assignment_metadata import (
    StreamsGroupTargetAssignmentMetadataKey as StreamsGroupTargetAssignmentMetadataKey,
)
from kwire.messages.coordinators.streams_group_target_assignment_metadata import (
    StreamsGroupTargetAssignmentMetadataValue as StreamsGroupTargetAssignmentMetadataValue,
)
from kwire.messages.coordinators.streams_group_topology import (
    StreamsGroupTopologyKey as StreamsGroupTopologyKey,
)
from kwire.messages.coordinators.streams_group_topology import (
    StreamsGroupTopologyValue as StreamsGroupTopologyValue,
)
from kwire.messages.coordinators.transaction_log import TransactionLogKey as TransactionLogKey
from kwire.messages.coordinators.transaction_log import TransactionLogValue as TransactionLogValue
from kwire.messages.data.aborted_txn import AbortedTxn as AbortedTxn
from kwire.messages.data.consumer_protocol_assignment import (
    ConsumerProtocolAssignment as ConsumerProtocolAssignment,
)
from kwire.messages.data.consumer_protocol_subscription import (
    ConsumerProtocolSubscription as ConsumerProtocolSubscription,
)
from kwire.messages.data.control_record_type_schema import (
    ControlRecordTypeSchema as ControlRecordTypeSchema,
)
from kwire.messages.data.default_principal_data import DefaultPrincipalData as DefaultPrincipalData
from kwire.messages.data.end_txn_marker import EndTxnMarker as EndTxnMarker
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord as KRaftVersionRecord
from kwire.messages.data.leader_change_message import LeaderChangeMessage as LeaderChangeMessage
from kwire.messages.data.producer_snapshot import ProducerSnapshot as ProducerSnapshot
from kwire.messages.data.quorum_state_data import QuorumStateData as QuorumStateData
from kwire.messages.data.share_group_partition_metadata_key import (
    ShareGroupPartitionMetadataKey as ShareGroupPartitionMetadataKey,
)
from kwire.messages.data.share_group_partition_metadata_value import (
    ShareGroupPartitionMetadataValue as ShareGroupPartitionMetadataValue,
)
from kwire.messages.data.snapshot_footer_record import SnapshotFooterRecord as SnapshotFooterRecord
from kwire.messages.data.snapshot_header_record import SnapshotHeaderRecord as SnapshotHeaderRecord
from kwire.messages.data.voters_record import VotersRecord as VotersRecord
from kwire.messages.headers import RequestHeader as RequestHeader
from kwire.messages.headers import ResponseHeader as ResponseHeader
from kwire.messages.records.abort_transaction import (
    AbortTransactionRecord as AbortTransactionRecord,
)
from kwire.messages.records.access_control_entry import (
    AccessControlEntryRecord as AccessControlEntryRecord,
)
from kwire.messages.records.begin_transaction import (
    BeginTransactionRecord as BeginTransactionRecord,
)
from kwire.messages.records.broker_registration_change import (
    BrokerRegistrationChangeRecord as BrokerRegistrationChangeRecord,
)
from kwire.messages.records.clear_elr import ClearElrRecord as ClearElrRecord
from kwire.messages.records.client_quota import ClientQuotaRecord as ClientQuotaRecord
from kwire.messages.records.config import ConfigRecord as ConfigRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord as DelegationTokenRecord
from kwire.messages.records.end_transaction import EndTransactionRecord as EndTransactionRecord
from kwire.messages.records.feature_level import FeatureLevelRecord as FeatureLevelRecord
from kwire.messages.records.fence_broker import FenceBrokerRecord as FenceBrokerRecord
from kwire.messages.records.no_op import NoOpRecord as NoOpRecord
from kwire.messages.records.partition import PartitionRecord as PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord as PartitionChangeRecord
from kwire.messages.records.producer_ids import ProducerIdsRecord as ProducerIdsRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord as RegisterBrokerRecord
from kwire.messages.records.register_controller import (
    RegisterControllerRecord as RegisterControllerRecord,
)
from kwire.messages.records.remote_log_segment_metadata import (
    RemoteLogSegmentMetadataRecord as RemoteLogSegmentMetadataRecord,
)
from kwire.messages.records.remote_log_segment_metadata_snapshot import (
    RemoteLogSegmentMetadataSnapshotRecord as RemoteLogSegmentMetadataSnapshotRecord,
)
from kwire.messages.records.remote_log_segment_metadata_update import (
    RemoteLogSegmentMetadataUpdateRecord as RemoteLogSegmentMetadataUpdateRecord,
)
from kwire.messages.records.remote_partition_delete_metadata import (
    RemotePartitionDeleteMetadataRecord as RemotePartitionDeleteMetadataRecord,
)
from kwire.messages.records.remove_access_control_entry import (
    RemoveAccessControlEntryRecord as RemoveAccessControlEntryRecord,
)
from kwire.messages.records.remove_delegation_token import (
    RemoveDelegationTokenRecord as RemoveDelegationTokenRecord,
)
from kwire.messages.records.remove_topic import RemoveTopicRecord as RemoveTopicRecord
from kwire.messages.records.remove_user_scram_credential import (
    RemoveUserScramCredentialRecord as RemoveUserScramCredentialRecord,
)
from kwire.messages.records.topic import TopicRecord as TopicRecord
from kwire.messages.records.unfence_broker import UnfenceBrokerRecord as UnfenceBrokerRecord
from kwire.messages.records.unregister_broker import (
    UnregisterBrokerRecord as UnregisterBrokerRecord,
)
from kwire.messages.records.unregister_controller import (
    UnregisterControllerRecord as UnregisterControllerRecord,
)
from kwire.messages.records.user_scram_credential import (
    UserScramCredentialRecord as UserScramCredentialRecord,
)
from kwire.messages.records.zk_migration_state import (
    ZkMigrationStateRecord as ZkMigrationStateRecord,
)

@overload
def message(name: Literal["AbortTransactionRecord"]) -> type[AbortTransactionRecord]: ...
@overload
def message(name: Literal["AbortedTxn"]) -> type[AbortedTxn]: ...
@overload
def message(name: Literal["AccessControlEntryRecord"]) -> type[AccessControlEntryRecord]: ...
@overload
def message(name: Literal["AddOffsetsToTxnRequest"]) -> type[AddOffsetsToTxnRequest]: ...
@overload
def message(name: Literal["AddOffsetsToTxnResponse"]) -> type[AddOffsetsToTxnResponse]: ...
@overload
def message(name: Literal["AddPartitionsToTxnRequest"]) -> type[AddPartitionsToTxnRequest]: ...
@overload
def message(name: Literal["AddPartitionsToTxnResponse"]) -> type[AddPartitionsToTxnResponse]: ...
@overload
def message(name: Literal["AddRaftVoterRequest"]) -> type[AddRaftVoterRequest]: ...
@overload
def message(name: Literal["AddRaftVoterResponse"]) -> type[AddRaftVoterResponse]: ...
@overload
def message(name: Literal["AllocateProducerIdsRequest"]) -> type[AllocateProducerIdsRequest]: ...
@overload
def message(name: Literal["AllocateProducerIdsResponse"]) -> type[AllocateProducerIdsResponse]: ...
@overload
def message(name: Literal["AlterClientQuotasRequest"]) -> type[AlterClientQuotasRequest]: ...
@overload
def message(name: Literal["AlterClientQuotasResponse"]) -> type[AlterClientQuotasResponse]: ...
@overload
def message(name: Literal["AlterConfigsRequest"]) -> type[AlterConfigsRequest]: ...
@overload
def message(name: Literal["AlterConfigsResponse"]) -> type[AlterConfigsResponse]: ...
@overload
def message(
    name: Literal["AlterPartitionReassignmentsRequest"],
) -> type[AlterPartitionReassignmentsRequest]: ...
@overload
def message(
    name: Literal["AlterPartitionReassignmentsResponse"],
) -> type[AlterPartitionReassignmentsResponse]: ...
@overload
def message(name: Literal["AlterPartitionRequest"]) -> type[AlterPartitionRequest]: ...
@overload
def message(name: Literal["AlterPartitionResponse"]) -> type[AlterPartitionResponse]: ...
@overload
def message(name: Literal["AlterReplicaLogDirsRequest"]) -> type[AlterReplicaLogDirsRequest]: ...
@overload
def message(name: Literal["AlterReplicaLogDirsResponse"]) -> type[AlterReplicaLogDirsResponse]: ...
@overload
def message(
    name: Literal["AlterShareGroupOffsetsRequest"],
) -> type[AlterShareGroupOffsetsRequest]: ...
@overload
def message(
    name: Literal["AlterShareGroupOffsetsResponse"],
) -> type[AlterShareGroupOffsetsResponse]: ...
@overload
def message(
    name: Literal["AlterUserScramCredentialsRequest"],
) -> type[AlterUserScramCredentialsRequest]: ...
@overload
def message(
    name: Literal["AlterUserScramCredentialsResponse"],
) -> type[AlterUserScramCredentialsResponse]: ...
@overload
def message(name: Literal["ApiVersionsRequest"]) -> type[ApiVersionsRequest]: ...
@overload
def message(name: Literal["ApiVersionsResponse"]) -> type[ApiVersionsResponse]: ...
@overload
def message(name: Literal["AssignReplicasToDirsRequest"]) -> type[AssignReplicasToDirsRequest]: ...
@overload
def message(
    name: Literal["AssignReplicasToDirsResponse"],
) -> type[AssignReplicasToDirsResponse]: ...
@overload
def message(name: Literal["BeginQuorumEpochRequest"]) -> type[BeginQuorumEpochRequest]: ...
@overload
def message(name: Literal["BeginQuorumEpochResponse"]) -> type[BeginQuorumEpochResponse]: ...
@overload
def message(name: Literal["BeginTransactionRecord"]) -> type[BeginTransactionRecord]: ...
@overload
def message(name: Literal["BrokerHeartbeatRequest"]) -> type[BrokerHeartbeatRequest]: ...
@overload
def message(name: Literal["BrokerHeartbeatResponse"]) -> type[BrokerHeartbeatResponse]: ...
@overload
def message(
    name: Literal["BrokerRegistrationChangeRecord"],
) -> type[BrokerRegistrationChangeRecord]: ...
@overload
def message(name: Literal["BrokerRegistrationRequest"]) -> type[BrokerRegistrationRequest]: ...
@overload
def message(name: Literal["BrokerRegistrationResponse"]) -> type[BrokerRegistrationResponse]: ...
@overload
def message(name: Literal["ClearElrRecord"]) -> type[ClearElrRecord]: ...
@overload
def message(name: Literal["ClientQuotaRecord"]) -> type[ClientQuotaRecord]: ...
@overload
def message(name: Literal["ConfigRecord"]) -> type[ConfigRecord]: ...
@overload
def message(
    name: Literal["ConsumerGroupCurrentMemberAssignmentKey"],
) -> type[ConsumerGroupCurrentMemberAssignmentKey]: ...
@overload
def message(
    name: Literal["ConsumerGroupCurrentMemberAssignmentValue"],
) -> type[ConsumerGroupCurrentMemberAssignmentValue]: ...
@overload
def message(
    name: Literal["ConsumerGroupDescribeRequest"],
) -> type[ConsumerGroupDescribeRequest]: ...
@overload
def message(
    name: Literal["ConsumerGroupDescribeResponse"],
) -> type[ConsumerGroupDescribeResponse]: ...
@overload
def message(
    name: Literal["ConsumerGroupHeartbeatRequest"],
) -> type[ConsumerGroupHeartbeatRequest]: ...
@overload
def message(
    name: Literal["ConsumerGroupHeartbeatResponse"],
) -> type[ConsumerGroupHeartbeatResponse]: ...
@overload
def message(
    name: Literal["ConsumerGroupMemberMetadataKey"],
) -> type[ConsumerGroupMemberMetadataKey]: ...
@overload
def message(
    name: Literal["ConsumerGroupMemberMetadataValue"],
) -> type[ConsumerGroupMemberMetadataValue]: ...
@overload
def message(name: Literal["ConsumerGroupMetadataKey"]) -> type[ConsumerGroupMetadataKey]: ...
@overload
def message(name: Literal["ConsumerGroupMetadataValue"]) -> type[ConsumerGroupMetadataValue]: ...
@overload
def message(
    name: Literal["ConsumerGroupPartitionMetadataKey"],
) -> type[ConsumerGroupPartitionMetadataKey]: ...
@overload
def message(
    name: Literal["ConsumerGroupPartitionMetadataValue"],
) -> type[ConsumerGroupPartitionMetadataValue]: ...
@overload
def message(
    name: Literal["ConsumerGroupRegularExpressionKey"],
) -> type[ConsumerGroupRegularExpressionKey]: ...
@overload
def message(
    name: Literal["ConsumerGroupRegularExpressionValue"],
) -> type[ConsumerGroupRegularExpressionValue]: ...
@overload
def message(
    name: Literal["ConsumerGroupTargetAssignmentMemberKey"],
) -> type[ConsumerGroupTargetAssignmentMemberKey]: ...
@overload
def message(
    name: Literal["ConsumerGroupTargetAssignmentMemberValue"],
) -> type[ConsumerGroupTargetAssignmentMemberValue]: ...
@overload
def message(
    name: Literal["ConsumerGroupTargetAssignmentMetadataKey"],
) -> type[ConsumerGroupTargetAssignmentMetadataKey]: ...
@overload
def message(
    name: Literal["ConsumerGroupTargetAssignmentMetadataValue"],
) -> type[ConsumerGroupTargetAssignmentMetadataValue]: ...
@overload
def message(name: Literal["ConsumerProtocolAssignment"]) -> type[ConsumerProtocolAssignment]: ...
@overload
def message(
    name: Literal["ConsumerProtocolSubscription"],
) -> type[ConsumerProtocolSubscription]: ...
@overload
def message(name: Literal["ControlRecordTypeSchema"]) -> type[ControlRecordTypeSchema]: ...
@overload
def message(name: Literal["ControlledShutdownRequest"]) -> type[ControlledShutdownRequest]: ...
@overload
def message(name: Literal["ControlledShutdownResponse"]) -> type[ControlledShutdownResponse]: ...
@overload
def message(
    name: Literal["ControllerRegistrationRequest"],
) -> type[ControllerRegistrationRequest]: ...
@overload
def message(
    name: Literal["ControllerRegistrationResponse"],
) -> type[ControllerRegistrationResponse]: ...
@overload
def message(name: Literal["CreateAclsRequest"]) -> type[CreateAclsRequest]: ...
@overload
def message(name: Literal["CreateAclsResponse"]) -> type[CreateAclsResponse]: ...
@overload
def message(
    name: Literal["CreateDelegationTokenRequest"],
) -> type[CreateDelegationTokenRequest]: ...
@overload
def message(
    name: Literal["CreateDelegationTokenResponse"],
) -> type[CreateDelegationTokenResponse]: ...
@overload
def message(name: Literal["CreatePartitionsRequest"]) -> type[CreatePartitionsRequest]: ...
@overload
def message(name: Literal["CreatePartitionsResponse"]) -> type[CreatePartitionsResponse]: ...
@overload
def message(name: Literal["CreateTopicsRequest"]) -> type[CreateTopicsRequest]: ...
@overload
def message(name: Literal["CreateTopicsResponse"]) -> type[CreateTopicsResponse]: ...
@overload
def message(name: Literal["DefaultPrincipalData"]) -> type[DefaultPrincipalData]: ...
@overload
def message(name: Literal["DelegationTokenRecord"]) -> type[DelegationTokenRecord]: ...
@overload
def message(name: Literal["DeleteAclsRequest"]) -> type[DeleteAclsRequest]: ...
@overload
def message(name: Literal["DeleteAclsResponse"]) -> type[DeleteAclsResponse]: ...
@overload
def message(name: Literal["DeleteGroupsRequest"]) -> type[DeleteGroupsRequest]: ...
@overload
def message(name: Literal["DeleteGroupsResponse"]) -> type[DeleteGroupsResponse]: ...
@overload
def message(name: Literal["DeleteRecordsRequest"]) -> type[DeleteRecordsRequest]: ...
@overload
def message(name: Literal["DeleteRecordsResponse"]) -> type[DeleteRecordsResponse]: ...
@overload
def message(
    name: Literal["DeleteShareGroupOffsetsRequest"],
) -> type[DeleteShareGroupOffsetsRequest]: ...
@overload
def message(
    name: Literal["DeleteShareGroupOffsetsResponse"],
) -> type[DeleteShareGroupOffsetsResponse]: ...
@overload
def message(
    name: Literal["DeleteShareGroupStateRequest"],
) -> type[DeleteShareGroupStateRequest]: ...
@overload
def message(
    name: Literal["DeleteShareGroupStateResponse"],
) -> type[DeleteShareGroupStateResponse]: ...
@overload
def message(name: Literal["DeleteTopicsRequest"]) -> type[DeleteTopicsRequest]: ...
@overload
def message(name: Literal["DeleteTopicsResponse"]) -> type[DeleteTopicsResponse]: ...
@overload
def message(name: Literal["DescribeAclsRequest"]) -> type[DescribeAclsRequest]: ...
@overload
def message(name: Literal["DescribeAclsResponse"]) -> type[DescribeAclsResponse]: ...
@overload
def message(name: Literal["DescribeClientQuotasRequest"]) -> type[DescribeClientQuotasRequest]: ...
@overload
def message(
    name: Literal["DescribeClientQuotasResponse"],
) -> type[DescribeClientQuotasResponse]: ...
@overload
def message(name: Literal["DescribeClusterRequest"]) -> type[DescribeClusterRequest]: ...
@overload
def message(name: Literal["DescribeClusterResponse"]) -> type[DescribeClusterResponse]: ...
@overload
def message(name: Literal["DescribeConfigsRequest"]) -> type[DescribeConfigsRequest]: ...
@overload
def message(name: Literal["DescribeConfigsResponse"]) -> type[DescribeConfigsResponse]: ...
@overload
def message(
    name: Literal["DescribeDelegationTokenRequest"],
) -> type[DescribeDelegationTokenRequest]: ...
@overload
def message(
    name: Literal["DescribeDelegationTokenResponse"],
) -> type[DescribeDelegationTokenResponse]: ...
@overload
def message(name: Literal["DescribeGroupsRequest"]) -> type[DescribeGroupsRequest]: ...
@overload
def message(name: Literal["DescribeGroupsResponse"]) -> type[DescribeGroupsResponse]: ...
@overload
def message(name: Literal["DescribeLogDirsRequest"]) -> type[DescribeLogDirsRequest]: ...
@overload
def message(name: Literal["DescribeLogDirsResponse"]) -> type[DescribeLogDirsResponse]: ...
@overload
def message(name: Literal["DescribeProducersRequest"]) -> type[DescribeProducersRequest]: ...
@overload
def message(name: Literal["DescribeProducersResponse"]) -> type[DescribeProducersResponse]: ...
@overload
def message(name: Literal["DescribeQuorumRequest"]) -> type[DescribeQuorumRequest]: ...
@overload
def message(name: Literal["DescribeQuorumResponse"]) -> type[DescribeQuorumResponse]: ...
@overload
def message(
    name: Literal["DescribeShareGroupOffsetsRequest"],
) -> type[DescribeShareGroupOffsetsRequest]: ...
@overload
def message(
    name: Literal["DescribeShareGroupOffsetsResponse"],
) -> type[DescribeShareGroupOffsetsResponse]: ...
@overload
def message(
    name: Literal["DescribeTopicPartitionsRequest"],
) -> type[DescribeTopicPartitionsRequest]: ...
@overload
def message(
    name: Literal["DescribeTopicPartitionsResponse"],
) -> type[DescribeTopicPartitionsResponse]: ...
@overload
def message(name: Literal["DescribeTransactionsRequest"]) -> type[DescribeTransactionsRequest]: ...
@overload
def message(
    name: Literal["DescribeTransactionsResponse"],
) -> type[DescribeTransactionsResponse]: ...
@overload
def message(
    name: Literal["DescribeUserScramCredentialsRequest"],
) -> type[DescribeUserScramCredentialsRequest]: ...
@overload
def message(
    name: Literal["DescribeUserScramCredentialsResponse"],
) -> type[DescribeUserScramCredentialsResponse]: ...
@overload
def message(name: Literal["ElectLeadersRequest"]) -> type[ElectLeadersRequest]: ...
@overload
def message(name: Literal["ElectLeadersResponse"]) -> type[ElectLeadersResponse]: ...
@overload
def message(name: Literal["EndQuorumEpochRequest"]) -> type[EndQuorumEpochRequest]: ...
@overload
def message(name: Literal["EndQuorumEpochResponse"]) -> type[EndQuorumEpochResponse]: ...
@overload
def message(name: Literal["EndTransactionRecord"]) -> type[EndTransactionRecord]: ...
@overload
def message(name: Literal["EndTxnMarker"]) -> type[EndTxnMarker]: ...
@overload
def message(name: Literal["EndTxnRequest"]) -> type[EndTxnRequest]: ...
@overload
def message(name: Literal["EndTxnResponse"]) -> type[EndTxnResponse]: ...
@overload
def message(name: Literal["EnvelopeRequest"]) -> type[EnvelopeRequest]: ...
@overload
def message(name: Literal["EnvelopeResponse"]) -> type[EnvelopeResponse]: ...
@overload
def message(
    name: Literal["ExpireDelegationTokenRequest"],
) -> type[ExpireDelegationTokenRequest]: ...
@overload
def message(
    name: Literal["ExpireDelegationTokenResponse"],
) -> type[ExpireDelegationTokenResponse]: ...
@overload
def message(name: Literal["FeatureLevelRecord"]) -> type[FeatureLevelRecord]: ...
@overload
def message(name: Literal["FenceBrokerRecord"]) -> type[FenceBrokerRecord]: ...
@overload
def message(name: Literal["FetchRequest"]) -> type[FetchRequest]: ...
@overload
def message(name: Literal["FetchResponse"]) -> type[FetchResponse]: ...
@overload
def message(name: Literal["FetchSnapshotRequest"]) -> type[FetchSnapshotRequest]: ...
@overload
def message(name: Literal["FetchSnapshotResponse"]) -> type[FetchSnapshotResponse]: ...
@overload
def message(name: Literal["FindCoordinatorRequest"]) -> type[FindCoordinatorRequest]: ...
@overload
def message(name: Literal["FindCoordinatorResponse"]) -> type[FindCoordinatorResponse]: ...
@overload
def message(
    name: Literal["GetTelemetrySubscriptionsRequest"],
) -> type[GetTelemetrySubscriptionsRequest]: ...
@overload
def message(
    name: Literal["GetTelemetrySubscriptionsResponse"],
) -> type[GetTelemetrySubscriptionsResponse]: ...
@overload
def message(name: Literal["GroupMetadataKey"]) -> type[GroupMetadataKey]: ...
@overload
def message(name: Literal["GroupMetadataValue"]) -> type[GroupMetadataValue]: ...
@overload
def message(name: Literal["HeartbeatRequest"]) -> type[HeartbeatRequest]: ...
@overload
def message(name: Literal["HeartbeatResponse"]) -> type[HeartbeatResponse]: ...
@overload
def message(
    name: Literal["IncrementalAlterConfigsRequest"],
) -> type[IncrementalAlterConfigsRequest]: ...
@overload
def message(
    name: Literal["IncrementalAlterConfigsResponse"],
) -> type[IncrementalAlterConfigsResponse]: ...
@overload
def message(name: Literal["InitProducerIdRequest"]) -> type[InitProducerIdRequest]: ...
@overload
def message(name: Literal["InitProducerIdResponse"]) -> type[InitProducerIdResponse]: ...
@overload
def message(
    name: Literal["InitializeShareGroupStateRequest"],
) -> type[InitializeShareGroupStateRequest]: ...
@overload
def message(
    name: Literal["InitializeShareGroupStateResponse"],
) -> type[InitializeShareGroupStateResponse]: ...
@overload
def message(name: Literal["JoinGroupRequest"]) -> type[JoinGroupRequest]: ...
@overload
def message(name: Literal["JoinGroupResponse"]) -> type[JoinGroupResponse]: ...
@overload
def message(name: Literal["KRaftVersionRecord"]) -> type[KRaftVersionRecord]: ...
@overload
def message(name: Literal["LeaderAndIsrRequest"]) -> type[LeaderAndIsrRequest]: ...
@overload
def message(name: Literal["LeaderAndIsrResponse"]) -> type[LeaderAndIsrResponse]: ...
@overload
def message(name: Literal["LeaderChangeMessage"]) -> type[LeaderChangeMessage]: ...
@overload
def message(name: Literal["LeaveGroupRequest"]) -> type[LeaveGroupRequest]: ...
@overload
def message(name: Literal["LeaveGroupResponse"]) -> type[LeaveGroupResponse]: ...
@overload
def message(name: Literal["LegacyOffsetCommitKey"]) -> type[LegacyOffsetCommitKey]: ...
@overload
def message(name: Literal["LegacyOffsetCommitValue"]) -> type[LegacyOffsetCommitValue]: ...
@overload
def message(
    name: Literal["ListClientMetricsResourcesRequest"],
) -> type[ListClientMetricsResourcesRequest]: ...
@overload
def message(
    name: Literal["ListClientMetricsResourcesResponse"],
) -> type[ListClientMetricsResourcesResponse]: ...
@overload
def message(name: Literal["ListConfigResourcesRequest"]) -> type[ListConfigResourcesRequest]: ...
@overload
def message(name: Literal["ListConfigResourcesResponse"]) -> type[ListConfigResourcesResponse]: ...
@overload
def message(name: Literal["ListGroupsRequest"]) -> type[ListGroupsRequest]: ...
@overload
def message(name: Literal["ListGroupsResponse"]) -> type[ListGroupsResponse]: ...
@overload
def message(name: Literal["ListOffsetsRequest"]) -> type[ListOffsetsRequest]: ...
@overload
def message(name: Literal["ListOffsetsResponse"]) -> type[ListOffsetsResponse]: ...
@overload
def message(
    name: Literal["ListPartitionReassignmentsRequest"],
) -> type[ListPartitionReassignmentsRequest]: ...
@overload
def message(
    name: Literal["ListPartitionReassignmentsResponse"],
) -> type[ListPartitionReassignmentsResponse]: ...
@overload
def message(name: Literal["ListTransactionsRequest"]) -> type[ListTransactionsRequest]: ...
@overload
def message(name: Literal["ListTransactionsResponse"]) -> type[ListTransactionsResponse]: ...
@overload
def message(name: Literal["MetadataRequest"]) -> type[MetadataRequest]: ...
@overload
def message(name: Literal["MetadataResponse"]) -> type[MetadataResponse]: ...
@overload
def message(name: Literal["NoOpRecord"]) -> type[NoOpRecord]: ...
@overload
def message(name: Literal["OffsetCommitKey"]) -> type[OffsetCommitKey]: ...
@overload
def message(name: Literal["OffsetCommitRequest"]) -> type[OffsetCommitRequest]: ...
@overload
def message(name: Literal["OffsetCommitResponse"]) -> type[OffsetCommitResponse]: ...
@overload
def message(name: Literal["OffsetCommitValue"]) -> type[OffsetCommitValue]: ...
@overload
def message(name: Literal["OffsetDeleteRequest"]) -> type[OffsetDeleteRequest]: ...
@overload
def message(name: Literal["OffsetDeleteResponse"]) -> type[OffsetDeleteResponse]: ...
@overload
def message(name: Literal["OffsetFetchRequest"]) -> type[OffsetFetchRequest]: ...
@overload
def message(name: Literal["OffsetFetchResponse"]) -> type[OffsetFetchResponse]: ...
@overload
def message(name: Literal["OffsetForLeaderEpochRequest"]) -> type[OffsetForLeaderEpochRequest]: ...
@overload
def message(
    name: Literal["OffsetForLeaderEpochResponse"],
) -> type[OffsetForLeaderEpochResponse]: ...
@overload
def message(name: Literal["PartitionChangeRecord"]) -> type[PartitionChangeRecord]: ...
@overload
def message(name: Literal["PartitionRecord"]) -> type[PartitionRecord]: ...
@overload
def message(name: Literal["ProduceRequest"]) -> type[ProduceRequest]: ...
@overload
def message(name: Literal["ProduceResponse"]) -> type[ProduceResponse]: ...
@overload
def message(name: Literal["ProducerIdsRecord"]) -> type[ProducerIdsRecord]: ...
@overload
def message(name: Literal["ProducerSnapshot"]) -> type[ProducerSnapshot]: ...
@overload
def message(name: Literal["PushTelemetryRequest"]) -> type[PushTelemetryRequest]: ...
@overload
def message(name: Literal["PushTelemetryResponse"]) -> type[PushTelemetryResponse]: ...
@overload
def message(name: Literal["QuorumStateData"]) -> type[QuorumStateData]: ...
@overload
def message(name: Literal["ReadShareGroupStateRequest"]) -> type[ReadShareGroupStateRequest]: ...
@overload
def message(name: Literal["ReadShareGroupStateResponse"]) -> type[ReadShareGroupStateResponse]: ...
@overload
def message(
    name: Literal["ReadShareGroupStateSummaryRequest"],
) -> type[ReadShareGroupStateSummaryRequest]: ...
@overload
def message(
    name: Literal["ReadShareGroupStateSummaryResponse"],
) -> type[ReadShareGroupStateSummaryResponse]: ...
@overload
def message(name: Literal["RegisterBrokerRecord"]) -> type[RegisterBrokerRecord]: ...
@overload
def message(name: Literal["RegisterControllerRecord"]) -> type[RegisterControllerRecord]: ...
@overload
def message(
    name: Literal["RemoteLogSegmentMetadataRecord"],
) -> type[RemoteLogSegmentMetadataRecord]: ...
@overload
def message(
    name: Literal["RemoteLogSegmentMetadataSnapshotRecord"],
) -> type[RemoteLogSegmentMetadataSnapshotRecord]: ...
@overload
def message(
    name: Literal["RemoteLogSegmentMetadataUpdateRecord"],
) -> type[RemoteLogSegmentMetadataUpdateRecord]: ...
@overload
def message(
    name: Literal["RemotePartitionDeleteMetadataRecord"],
) -> type[RemotePartitionDeleteMetadataRecord]: ...
@overload
def message(
    name: Literal["RemoveAccessControlEntryRecord"],
) -> type[RemoveAccessControlEntryRecord]: ...
@overload
def message(name: Literal["RemoveDelegationTokenRecord"]) -> type[RemoveDelegationTokenRecord]: ...
@overload
def message(name: Literal["RemoveRaftVoterRequest"]) -> type[RemoveRaftVoterRequest]: ...
@overload
def message(name: Literal["RemoveRaftVoterResponse"]) -> type[RemoveRaftVoterResponse]: ...
@overload
def message(name: Literal["RemoveTopicRecord"]) -> type[RemoveTopicRecord]: ...
@overload
def message(
    name: Literal["RemoveUserScramCredentialRecord"],
) -> type[RemoveUserScramCredentialRecord]: ...
@overload
def message(name: Literal["RenewDelegationTokenRequest"]) -> type[RenewDelegationTokenRequest]: ...
@overload
def message(
    name: Literal["RenewDelegationTokenResponse"],
) -> type[RenewDelegationTokenResponse]: ...
@overload
def message(name: Literal["RequestHeader"]) -> type[RequestHeader]: ...
@overload
def message(name: Literal["ResponseHeader"]) -> type[ResponseHeader]: ...
@overload
def message(name: Literal["SaslAuthenticateRequest"]) -> type[SaslAuthenticateRequest]: ...
@overload
def message(name: Literal["SaslAuthenticateResponse"]) -> type[SaslAuthenticateResponse]: ...
@overload
def message(name: Literal["SaslHandshakeRequest"]) -> type[SaslHandshakeRequest]: ...
@overload
def message(name: Literal["SaslHandshakeResponse"]) -> type[SaslHandshakeResponse]: ...
@overload
def message(name: Literal["ShareAcknowledgeRequest"]) -> type[ShareAcknowledgeRequest]: ...
@overload
def message(name: Literal["ShareAcknowledgeResponse"]) -> type[ShareAcknowledgeResponse]: ...
@overload
def message(name: Literal["ShareFetchRequest"]) -> type[ShareFetchRequest]: ...
@overload
def message(name: Literal["ShareFetchResponse"]) -> type[ShareFetchResponse]: ...
@overload
def message(
    name: Literal["ShareGroupCurrentMemberAssignmentKey"],
) -> type[ShareGroupCurrentMemberAssignmentKey]: ...
@overload
def message(
    name: Literal["ShareGroupCurrentMemberAssignmentValue"],
) -> type[ShareGroupCurrentMemberAssignmentValue]: ...
@overload
def message(name: Literal["ShareGroupDescribeRequest"]) -> type[ShareGroupDescribeRequest]: ...
@overload
def message(name: Literal["ShareGroupDescribeResponse"]) -> type[ShareGroupDescribeResponse]: ...
@overload
def message(name: Literal["ShareGroupHeartbeatRequest"]) -> type[ShareGroupHeartbeatRequest]: ...
@overload
def message(name: Literal["ShareGroupHeartbeatResponse"]) -> type[ShareGroupHeartbeatResponse]: ...
@overload
def message(name: Literal["ShareGroupMemberMetadataKey"]) -> type[ShareGroupMemberMetadataKey]: ...
@overload
def message(
    name: Literal["ShareGroupMemberMetadataValue"],
) -> type[ShareGroupMemberMetadataValue]: ...
@overload
def message(name: Literal["ShareGroupMetadataKey"]) -> type[ShareGroupMetadataKey]: ...
@overload
def message(name: Literal["ShareGroupMetadataValue"]) -> type[ShareGroupMetadataValue]: ...
@overload
def message(
    name: Literal["ShareGroupPartitionMetadataKey"],
) -> type[ShareGroupPartitionMetadataKey]: ...
@overload
def message(
    name: Literal["ShareGroupPartitionMetadataValue"],
) -> type[ShareGroupPartitionMetadataValue]: ...
@overload
def message(
    name: Literal["ShareGroupStatePartitionMetadataKey"],
) -> type[ShareGroupStatePartitionMetadataKey]: ...
@overload
def message(
    name: Literal["ShareGroupStatePartitionMetadataValue"],
) -> type[ShareGroupStatePartitionMetadataValue]: ...
@overload
def message(
    name: Literal["ShareGroupTargetAssignmentMemberKey"],
) -> type[ShareGroupTargetAssignmentMemberKey]: ...
@overload
def message(
    name: Literal["ShareGroupTargetAssignmentMemberValue"],
) -> type[ShareGroupTargetAssignmentMemberValue]: ...
@overload
def message(
    name: Literal["ShareGroupTargetAssignmentMetadataKey"],
) -> type[ShareGroupTargetAssignmentMetadataKey]: ...
@overload
def message(
    name: Literal["ShareGroupTargetAssignmentMetadataValue"],
) -> type[ShareGroupTargetAssignmentMetadataValue]: ...
@overload
def message(name: Literal["ShareSnapshotKey"]) -> type[ShareSnapshotKey]: ...
@overload
def message(name: Literal["ShareSnapshotValue"]) -> type[ShareSnapshotValue]: ...
@overload
def message(name: Literal["ShareUpdateKey"]) -> type[ShareUpdateKey]: ...
@overload
def message(name: Literal["ShareUpdateValue"]) -> type[ShareUpdateValue]: ...
@overload
def message(name: Literal["SnapshotFooterRecord"]) -> type[SnapshotFooterRecord]: ...
@overload
def message(name: Literal["SnapshotHeaderRecord"]) -> type[SnapshotHeaderRecord]: ...
@overload
def message(name: Literal["StopReplicaRequest"]) -> type[StopReplicaRequest]: ...
@overload
def message(name: Literal["StopReplicaResponse"]) -> type[StopReplicaResponse]: ...
@overload
def message(
    name: Literal["StreamsGroupCurrentMemberAssignmentKey"],
) -> type[StreamsGroupCurrentMemberAssignmentKey]: ...
@overload
def message(
    name: Literal["StreamsGroupCurrentMemberAssignmentValue"],
) -> type[StreamsGroupCurrentMemberAssignmentValue]: ...
@overload
def message(name: Literal["StreamsGroupDescribeRequest"]) -> type[StreamsGroupDescribeRequest]: ...
@overload
def message(
    name: Literal["StreamsGroupDescribeResponse"],
) -> type[StreamsGroupDescribeResponse]: ...
@overload
def message(
    name: Literal["StreamsGroupHeartbeatRequest"],
) -> type[StreamsGroupHeartbeatRequest]: ...
@overload
def message(
    name: Literal["StreamsGroupHeartbeatResponse"],
) -> type[StreamsGroupHeartbeatResponse]: ...
@overload
def message(
    name: Literal["StreamsGroupMemberMetadataKey"],
) -> type[StreamsGroupMemberMetadataKey]: ...
@overload
def message(
    name: Literal["StreamsGroupMemberMetadataValue"],
) -> type[StreamsGroupMemberMetadataValue]: ...
@overload
def message(name: Literal["StreamsGroupMetadataKey"]) -> type[StreamsGroupMetadataKey]: ...
@overload
def message(name: Literal["StreamsGroupMetadataValue"]) -> type[StreamsGroupMetadataValue]: ...
@overload
def message(
    name: Literal["StreamsGroupTargetAssignmentMemberKey"],
) -> type[StreamsGroupTargetAssignmentMemberKey]: ...
@overload
def message(
    name: Literal["StreamsGroupTargetAssignmentMemberValue"],
) -> type[StreamsGroupTargetAssignmentMemberValue]: ...
@overload
def message(
    name: Literal["StreamsGroupTargetAssignmentMetadataKey"],
) -> type[StreamsGroupTargetAssignmentMetadataKey]: ...
@overload
def message(
    name: Literal["StreamsGroupTargetAssignmentMetadataValue"],
) -> type[StreamsGroupTargetAssignmentMetadataValue]: ...
@overload
def message(
    name: Literal["StreamsGroupTopologyDescriptionUpdateRequest"],
) -> type[StreamsGroupTopologyDescriptionUpdateRequest]: ...
@overload
def message(
    name: Literal["StreamsGroupTopologyDescriptionUpdateResponse"],
) -> type[StreamsGroupTopologyDescriptionUpdateResponse]: ...
@overload
def message(name: Literal["StreamsGroupTopologyKey"]) -> type[StreamsGroupTopologyKey]: ...
@overload
def message(name: Literal["StreamsGroupTopologyValue"]) -> type[StreamsGroupTopologyValue]: ...
@overload
def message(name: Literal["SyncGroupRequest"]) -> type[SyncGroupRequest]: ...
@overload
def message(name: Literal["SyncGroupResponse"]) -> type[SyncGroupResponse]: ...
@overload
def message(name: Literal["TopicRecord"]) -> type[TopicRecord]: ...
@overload
def message(name: Literal["TransactionLogKey"]) -> type[TransactionLogKey]: ...
@overload
def message(name: Literal["TransactionLogValue"]) -> type[TransactionLogValue]: ...
@overload
def message(name: Literal["TxnOffsetCommitRequest"]) -> type[TxnOffsetCommitRequest]: ...
@overload
def message(name: Literal["TxnOffsetCommitResponse"]) -> type[TxnOffsetCommitResponse]: ...
@overload
def message(name: Literal["UnfenceBrokerRecord"]) -> type[UnfenceBrokerRecord]: ...
@overload
def message(name: Literal["UnregisterBrokerRecord"]) -> type[UnregisterBrokerRecord]: ...
@overload
def message(name: Literal["UnregisterBrokerRequest"]) -> type[UnregisterBrokerRequest]: ...
@overload
def message(name: Literal["UnregisterBrokerResponse"]) -> type[UnregisterBrokerResponse]: ...
@overload
def message(name: Literal["UnregisterControllerRecord"]) -> type[UnregisterControllerRecord]: ...
@overload
def message(name: Literal["UnregisterControllerRequest"]) -> type[UnregisterControllerRequest]: ...
@overload
def message(
    name: Literal["UnregisterControllerResponse"],
) -> type[UnregisterControllerResponse]: ...
@overload
def message(name: Literal["UpdateFeaturesRequest"]) -> type[UpdateFeaturesRequest]: ...
@overload
def message(name: Literal["UpdateFeaturesResponse"]) -> type[UpdateFeaturesResponse]: ...
@overload
def message(name: Literal["UpdateMetadataRequest"]) -> type[UpdateMetadataRequest]: ...
@overload
def message(name: Literal["UpdateMetadataResponse"]) -> type[UpdateMetadataResponse]: ...
@overload
def message(name: Literal["UpdateRaftVoterRequest"]) -> type[UpdateRaftVoterRequest]: ...
@overload
def message(name: Literal["UpdateRaftVoterResponse"]) -> type[UpdateRaftVoterResponse]: ...
@overload
def message(name: Literal["UserScramCredentialRecord"]) -> type[UserScramCredentialRecord]: ...
@overload
def message(name: Literal["VoteRequest"]) -> type[VoteRequest]: ...
@overload
def message(name: Literal["VoteResponse"]) -> type[VoteResponse]: ...
@overload
def message(name: Literal["VotersRecord"]) -> type[VotersRecord]: ...
@overload
def message(name: Literal["WriteShareGroupStateRequest"]) -> type[WriteShareGroupStateRequest]: ...
@overload
def message(
    name: Literal["WriteShareGroupStateResponse"],
) -> type[WriteShareGroupStateResponse]: ...
@overload
def message(name: Literal["WriteTxnMarkersRequest"]) -> type[WriteTxnMarkersRequest]: ...
@overload
def message(name: Literal["WriteTxnMarkersResponse"]) -> type[WriteTxnMarkersResponse]: ...
@overload
def message(name: Literal["ZkMigrationStateRecord"]) -> type[ZkMigrationStateRecord]: ...
@overload
def message(name: str) -> type[Message]: ...
