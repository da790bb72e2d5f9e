"""Where each message is declared. Written by `python -m declarations`."""

MODULES: dict[str, tuple[str, ...]] = {
    "apis.a00_produce": (
        "ProduceRequest",
        "ProduceResponse",
    ),
    "apis.a01_fetch": (
        "FetchRequest",
        "FetchResponse",
    ),
    "apis.a02_list_offsets": (
        "ListOffsetsRequest",
        "ListOffsetsResponse",
    ),
    "apis.a03_metadata": (
        "MetadataRequest",
        "MetadataResponse",
    ),
    "apis.a04_leader_and_isr": (
        "LeaderAndIsrRequest",
        "LeaderAndIsrResponse",
    ),
    "apis.a05_stop_replica": (
        "StopReplicaRequest",
        "StopReplicaResponse",
    ),
    "apis.a06_update_metadata": (
        "UpdateMetadataRequest",
        "UpdateMetadataResponse",
    ),
    "apis.a07_controlled_shutdown": (
        "ControlledShutdownRequest",
        "ControlledShutdownResponse",
    ),
    "apis.a08_offset_commit": (
        "OffsetCommitRequest",
        "OffsetCommitResponse",
    ),
    "apis.a09_offset_fetch": (
        "OffsetFetchRequest",
        "OffsetFetchResponse",
    ),
    "apis.a10_find_coordinator": (
        "FindCoordinatorRequest",
        "FindCoordinatorResponse",
    ),
    "apis.a11_join_group": (
        "JoinGroupRequest",
        "JoinGroupResponse",
    ),
    "apis.a12_heartbeat": (
        "HeartbeatRequest",
        "HeartbeatResponse",
    ),
    "apis.a13_leave_group": (
        "LeaveGroupRequest",
        "LeaveGroupResponse",
    ),
    "apis.a14_sync_group": (
        "SyncGroupRequest",
        "SyncGroupResponse",
    ),
    "apis.a15_describe_groups": (
        "DescribeGroupsRequest",
        "DescribeGroupsResponse",
    ),
    "apis.a16_list_groups": (
        "ListGroupsRequest",
        "ListGroupsResponse",
    ),
    "apis.a17_sasl_handshake": (
        "SaslHandshakeRequest",
        "SaslHandshakeResponse",
    ),
    "apis.a18_api_versions": (
        "ApiVersionsRequest",
        "ApiVersionsResponse",
    ),
    "apis.a19_create_topics": (
        "CreateTopicsRequest",
        "CreateTopicsResponse",
    ),
    "apis.a20_delete_topics": (
        "DeleteTopicsRequest",
        "DeleteTopicsResponse",
    ),
    "apis.a21_delete_records": (
        "DeleteRecordsRequest",
        "DeleteRecordsResponse",
    ),
    "apis.a22_init_producer_id": (
        "InitProducerIdRequest",
        "InitProducerIdResponse",
    ),
    "apis.a23_offset_for_leader_epoch": (
        "OffsetForLeaderEpochRequest",
        "OffsetForLeaderEpochResponse",
    ),
    "apis.a24_add_partitions_to_txn": (
        "AddPartitionsToTxnRequest",
        "AddPartitionsToTxnResponse",
    ),
    "apis.a25_add_offsets_to_txn": (
        "AddOffsetsToTxnRequest",
        "AddOffsetsToTxnResponse",
    ),
    "apis.a26_end_txn": (
        "EndTxnRequest",
        "EndTxnResponse",
    ),
    "apis.a27_write_txn_markers": (
        "WriteTxnMarkersRequest",
        "WriteTxnMarkersResponse",
    ),
    "apis.a28_txn_offset_commit": (
        "TxnOffsetCommitRequest",
        "TxnOffsetCommitResponse",
    ),
    "apis.a29_describe_acls": (
        "DescribeAclsRequest",
        "DescribeAclsResponse",
    ),
    "apis.a30_create_acls": (
        "CreateAclsRequest",
        "CreateAclsResponse",
    ),
    "apis.a31_delete_acls": (
        "DeleteAclsRequest",
        "DeleteAclsResponse",
    ),
    "apis.a32_describe_configs": (
        "DescribeConfigsRequest",
        "DescribeConfigsResponse",
    ),
    "apis.a33_alter_configs": (
        "AlterConfigsRequest",
        "AlterConfigsResponse",
    ),
    "apis.a34_alter_replica_log_dirs": (
        "AlterReplicaLogDirsRequest",
        "AlterReplicaLogDirsResponse",
    ),
    "apis.a35_describe_log_dirs": (
        "DescribeLogDirsRequest",
        "DescribeLogDirsResponse",
    ),
    "apis.a36_sasl_authenticate": (
        "SaslAuthenticateRequest",
        "SaslAuthenticateResponse",
    ),
    "apis.a37_create_partitions": (
        "CreatePartitionsRequest",
        "CreatePartitionsResponse",
    ),
    "apis.a38_create_delegation_token": (
        "CreateDelegationTokenRequest",
        "CreateDelegationTokenResponse",
    ),
    "apis.a39_renew_delegation_token": (
        "RenewDelegationTokenRequest",
        "RenewDelegationTokenResponse",
    ),
    "apis.a40_expire_delegation_token": (
        "ExpireDelegationTokenRequest",
        "ExpireDelegationTokenResponse",
    ),
    "apis.a41_describe_delegation_token": (
        "DescribeDelegationTokenRequest",
        "DescribeDelegationTokenResponse",
    ),
    "apis.a42_delete_groups": (
        "DeleteGroupsRequest",
        "DeleteGroupsResponse",
    ),
    "apis.a43_elect_leaders": (
        "ElectLeadersRequest",
        "ElectLeadersResponse",
    ),
    "apis.a44_incremental_alter_configs": (
        "IncrementalAlterConfigsRequest",
        "IncrementalAlterConfigsResponse",
    ),
    "apis.a45_alter_partition_reassignments": (
        "AlterPartitionReassignmentsRequest",
        "AlterPartitionReassignmentsResponse",
    ),
    "apis.a46_list_partition_reassignments": (
        "ListPartitionReassignmentsRequest",
        "ListPartitionReassignmentsResponse",
    ),
    "apis.a47_offset_delete": (
        "OffsetDeleteRequest",
        "OffsetDeleteResponse",
    ),
    "apis.a48_describe_client_quotas": (
        "DescribeClientQuotasRequest",
        "DescribeClientQuotasResponse",
    ),
    "apis.a49_alter_client_quotas": (
        "AlterClientQuotasRequest",
        "AlterClientQuotasResponse",
    ),
    "apis.a50_describe_user_scram_credentials": (
        "DescribeUserScramCredentialsRequest",
        "DescribeUserScramCredentialsResponse",
    ),
    "apis.a51_alter_user_scram_credentials": (
        "AlterUserScramCredentialsRequest",
        "AlterUserScramCredentialsResponse",
    ),
    "apis.a52_vote": (
        "VoteRequest",
        "VoteResponse",
    ),
    "apis.a53_begin_quorum_epoch": (
        "BeginQuorumEpochRequest",
        "BeginQuorumEpochResponse",
    ),
    "apis.a54_end_quorum_epoch": (
        "EndQuorumEpochRequest",
        "EndQuorumEpochResponse",
    ),
    "apis.a55_describe_quorum": (
        "DescribeQuorumRequest",
        "DescribeQuorumResponse",
    ),
    "apis.a56_alter_partition": (
        "AlterPartitionRequest",
        "AlterPartitionResponse",
    ),
    "apis.a57_update_features": (
        "UpdateFeaturesRequest",
        "UpdateFeaturesResponse",
    ),
    "apis.a58_envelope": (
        "EnvelopeRequest",
        "EnvelopeResponse",
    ),
    "apis.a59_fetch_snapshot": (
        "FetchSnapshotRequest",
        "FetchSnapshotResponse",
    ),
    "apis.a60_describe_cluster": (
        "DescribeClusterRequest",
        "DescribeClusterResponse",
    ),
    "apis.a61_describe_producers": (
        "DescribeProducersRequest",
        "DescribeProducersResponse",
    ),
    "apis.a62_broker_registration": (
        "BrokerRegistrationRequest",
        "BrokerRegistrationResponse",
    ),
    "apis.a63_broker_heartbeat": (
        "BrokerHeartbeatRequest",
        "BrokerHeartbeatResponse",
    ),
    "apis.a64_unregister_broker": (
        "UnregisterBrokerRequest",
        "UnregisterBrokerResponse",
    ),
    "apis.a65_describe_transactions": (
        "DescribeTransactionsRequest",
        "DescribeTransactionsResponse",
    ),
    "apis.a66_list_transactions": (
        "ListTransactionsRequest",
        "ListTransactionsResponse",
    ),
    "apis.a67_allocate_producer_ids": (
        "AllocateProducerIdsRequest",
        "AllocateProducerIdsResponse",
    ),
    "apis.a68_consumer_group_heartbeat": (
        "ConsumerGroupHeartbeatRequest",
        "ConsumerGroupHeartbeatResponse",
    ),
    "apis.a69_consumer_group_describe": (
        "ConsumerGroupDescribeRequest",
        "ConsumerGroupDescribeResponse",
    ),
    "apis.a70_controller_registration": (
        "ControllerRegistrationRequest",
        "ControllerRegistrationResponse",
    ),
    "apis.a71_get_telemetry_subscriptions": (
        "GetTelemetrySubscriptionsRequest",
        "GetTelemetrySubscriptionsResponse",
    ),
    "apis.a72_push_telemetry": (
        "PushTelemetryRequest",
        "PushTelemetryResponse",
    ),
    "apis.a73_assign_replicas_to_dirs": (
        "AssignReplicasToDirsRequest",
        "AssignReplicasToDirsResponse",
    ),
    "apis.a74_list_client_metrics_resources": (
        "ListClientMetricsResourcesRequest",
        "ListClientMetricsResourcesResponse",
    ),
    "apis.a74_list_config_resources": (
        "ListConfigResourcesRequest",
        "ListConfigResourcesResponse",
    ),
    "apis.a75_describe_topic_partitions": (
        "DescribeTopicPartitionsRequest",
        "DescribeTopicPartitionsResponse",
    ),
    "apis.a76_share_group_heartbeat": (
        "ShareGroupHeartbeatRequest",
        "ShareGroupHeartbeatResponse",
    ),
    "apis.a77_share_group_describe": (
        "ShareGroupDescribeRequest",
        "ShareGroupDescribeResponse",
    ),
    "apis.a78_share_fetch": (
        "ShareFetchRequest",
        "ShareFetchResponse",
    ),
    "apis.a79_share_acknowledge": (
        "ShareAcknowledgeRequest",
        "ShareAcknowledgeResponse",
    ),
    "apis.a80_add_raft_voter": (
        "AddRaftVoterRequest",
        "AddRaftVoterResponse",
    ),
    "apis.a81_remove_raft_voter": (
        "RemoveRaftVoterRequest",
        "RemoveRaftVoterResponse",
    ),
    "apis.a82_update_raft_voter": (
        "UpdateRaftVoterRequest",
        "UpdateRaftVoterResponse",
    ),
    "apis.a83_initialize_share_group_state": (
        "InitializeShareGroupStateRequest",
        "InitializeShareGroupStateResponse",
    ),
    "apis.a84_read_share_group_state": (
        "ReadShareGroupStateRequest",
        "ReadShareGroupStateResponse",
    ),
    "apis.a85_write_share_group_state": (
        "WriteShareGroupStateRequest",
        "WriteShareGroupStateResponse",
    ),
    "apis.a86_delete_share_group_state": (
        "DeleteShareGroupStateRequest",
        "DeleteShareGroupStateResponse",
    ),
    "apis.a87_read_share_group_state_summary": (
        "ReadShareGroupStateSummaryRequest",
        "ReadShareGroupStateSummaryResponse",
    ),
    "apis.a88_streams_group_heartbeat": (
        "StreamsGroupHeartbeatRequest",
        "StreamsGroupHeartbeatResponse",
    ),
    "apis.a89_streams_group_describe": (
        "StreamsGroupDescribeRequest",
        "StreamsGroupDescribeResponse",
    ),
    "apis.a90_describe_share_group_offsets": (
        "DescribeShareGroupOffsetsRequest",
        "DescribeShareGroupOffsetsResponse",
    ),
    "apis.a91_alter_share_group_offsets": (
        "AlterShareGroupOffsetsRequest",
        "AlterShareGroupOffsetsResponse",
    ),
    "apis.a92_delete_share_group_offsets": (
        "DeleteShareGroupOffsetsRequest",
        "DeleteShareGroupOffsetsResponse",
    ),
    "apis.a93_streams_group_topology_description_update": (
        "StreamsGroupTopologyDescriptionUpdateRequest",
        "StreamsGroupTopologyDescriptionUpdateResponse",
    ),
    "apis.a94_unregister_controller": (
        "UnregisterControllerRequest",
        "UnregisterControllerResponse",
    ),
    "apis.headers": (
        "RequestHeader",
        "ResponseHeader",
    ),
    "coordinators.consumer_group_current_member_assignment": (
        "ConsumerGroupCurrentMemberAssignmentKey",
        "ConsumerGroupCurrentMemberAssignmentValue",
    ),
    "coordinators.consumer_group_member_metadata": (
        "ConsumerGroupMemberMetadataKey",
        "ConsumerGroupMemberMetadataValue",
    ),
    "coordinators.consumer_group_metadata": (
        "ConsumerGroupMetadataKey",
        "ConsumerGroupMetadataValue",
    ),
    "coordinators.consumer_group_partition_metadata": (
        "ConsumerGroupPartitionMetadataKey",
        "ConsumerGroupPartitionMetadataValue",
    ),
    "coordinators.consumer_group_regular_expression": (
        "ConsumerGroupRegularExpressionKey",
        "ConsumerGroupRegularExpressionValue",
    ),
    "coordinators.consumer_group_target_assignment_member": (
        "ConsumerGroupTargetAssignmentMemberKey",
        "ConsumerGroupTargetAssignmentMemberValue",
    ),
    "coordinators.consumer_group_target_assignment_metadata": (
        "ConsumerGroupTargetAssignmentMetadataKey",
        "ConsumerGroupTargetAssignmentMetadataValue",
    ),
    "coordinators.group_metadata": (
        "GroupMetadataKey",
        "GroupMetadataValue",
    ),
    "coordinators.legacy_offset_commit": (
        "LegacyOffsetCommitKey",
        "LegacyOffsetCommitValue",
    ),
    "coordinators.offset_commit": (
        "OffsetCommitKey",
        "OffsetCommitValue",
    ),
    "coordinators.share_group_current_member_assignment": (
        "ShareGroupCurrentMemberAssignmentKey",
        "ShareGroupCurrentMemberAssignmentValue",
    ),
    "coordinators.share_group_member_metadata": (
        "ShareGroupMemberMetadataKey",
        "ShareGroupMemberMetadataValue",
    ),
    "coordinators.share_group_metadata": (
        "ShareGroupMetadataKey",
        "ShareGroupMetadataValue",
    ),
    "coordinators.share_group_state_partition_metadata": (
        "ShareGroupStatePartitionMetadataKey",
        "ShareGroupStatePartitionMetadataValue",
    ),
    "coordinators.share_group_target_assignment_member": (
        "ShareGroupTargetAssignmentMemberKey",
        "ShareGroupTargetAssignmentMemberValue",
    ),
    "coordinators.share_group_target_assignment_metadata": (
        "ShareGroupTargetAssignmentMetadataKey",
        "ShareGroupTargetAssignmentMetadataValue",
    ),
    "coordinators.share_snapshot": (
        "ShareSnapshotKey",
        "ShareSnapshotValue",
    ),
    "coordinators.share_update": (
        "ShareUpdateKey",
        "ShareUpdateValue",
    ),
    "coordinators.streams_group_current_member_assignment": (
        "StreamsGroupCurrentMemberAssignmentKey",
        "StreamsGroupCurrentMemberAssignmentValue",
    ),
    "coordinators.streams_group_member_metadata": (
        "StreamsGroupMemberMetadataKey",
        "StreamsGroupMemberMetadataValue",
    ),
    "coordinators.streams_group_metadata": (
        "StreamsGroupMetadataKey",
        "StreamsGroupMetadataValue",
    ),
    "coordinators.streams_group_target_assignment_member": (
        "StreamsGroupTargetAssignmentMemberKey",
        "StreamsGroupTargetAssignmentMemberValue",
    ),
    "coordinators.streams_group_target_assignment_metadata": (
        "StreamsGroupTargetAssignmentMetadataKey",
        "StreamsGroupTargetAssignmentMetadataValue",
    ),
    "coordinators.streams_group_topology": (
        "StreamsGroupTopologyKey",
        "StreamsGroupTopologyValue",
    ),
    "coordinators.transaction_log": (
        "TransactionLogKey",
        "TransactionLogValue",
    ),
    "data.aborted_txn": ("AbortedTxn",),
    "data.consumer_protocol_assignment": ("ConsumerProtocolAssignment",),
    "data.consumer_protocol_subscription": ("ConsumerProtocolSubscription",),
    "data.control_record_type_schema": ("ControlRecordTypeSchema",),
    "data.default_principal_data": ("DefaultPrincipalData",),
    "data.end_txn_marker": ("EndTxnMarker",),
    "data.k_raft_version_record": ("KRaftVersionRecord",),
    "data.leader_change_message": ("LeaderChangeMessage",),
    "data.producer_snapshot": ("ProducerSnapshot",),
    "data.quorum_state_data": ("QuorumStateData",),
    "data.share_group_partition_metadata_key": ("ShareGroupPartitionMetadataKey",),
    "data.share_group_partition_metadata_value": ("ShareGroupPartitionMetadataValue",),
    "data.snapshot_footer_record": ("SnapshotFooterRecord",),
    "data.snapshot_header_record": ("SnapshotHeaderRecord",),
    "data.voters_record": ("VotersRecord",),
    "records.abort_transaction": ("AbortTransactionRecord",),
    "records.access_control_entry": ("AccessControlEntryRecord",),
    "records.begin_transaction": ("BeginTransactionRecord",),
    "records.broker_registration_change": ("BrokerRegistrationChangeRecord",),
    "records.clear_elr": ("ClearElrRecord",),
    "records.client_quota": ("ClientQuotaRecord",),
    "records.config": ("ConfigRecord",),
    "records.delegation_token": ("DelegationTokenRecord",),
    "records.end_transaction": ("EndTransactionRecord",),
    "records.feature_level": ("FeatureLevelRecord",),
    "records.fence_broker": ("FenceBrokerRecord",),
    "records.no_op": ("NoOpRecord",),
    "records.partition": ("PartitionRecord",),
    "records.partition_change": ("PartitionChangeRecord",),
    "records.producer_ids": ("ProducerIdsRecord",),
    "records.register_broker": ("RegisterBrokerRecord",),
    "records.register_controller": ("RegisterControllerRecord",),
    "records.remote_log_segment_metadata": ("RemoteLogSegmentMetadataRecord",),
    "records.remote_log_segment_metadata_snapshot": ("RemoteLogSegmentMetadataSnapshotRecord",),
    "records.remote_log_segment_metadata_update": ("RemoteLogSegmentMetadataUpdateRecord",),
    "records.remote_partition_delete_metadata": ("RemotePartitionDeleteMetadataRecord",),
    "records.remove_access_control_entry": ("RemoveAccessControlEntryRecord",),
    "records.remove_delegation_token": ("RemoveDelegationTokenRecord",),
    "records.remove_topic": ("RemoveTopicRecord",),
    "records.remove_user_scram_credential": ("RemoveUserScramCredentialRecord",),
    "records.topic": ("TopicRecord",),
    "records.unfence_broker": ("UnfenceBrokerRecord",),
    "records.unregister_broker": ("UnregisterBrokerRecord",),
    "records.unregister_controller": ("UnregisterControllerRecord",),
    "records.user_scram_credential": ("UserScramCredentialRecord",),
    "records.zk_migration_state": ("ZkMigrationStateRecord",),
}
"""Module below `kwire` to the schema names it declares."""

APIS: dict[int, str] = {
    0: "Produce",
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    4: "LeaderAndIsr",
    5: "StopReplica",
    6: "UpdateMetadata",
    7: "ControlledShutdown",
    8: "OffsetCommit",
    9: "OffsetFetch",
    10: "FindCoordinator",
    11: "JoinGroup",
    12: "Heartbeat",
    13: "LeaveGroup",
    14: "SyncGroup",
    15: "DescribeGroups",
    16: "ListGroups",
    17: "SaslHandshake",
    18: "ApiVersions",
    19: "CreateTopics",
    20: "DeleteTopics",
    21: "DeleteRecords",
    22: "InitProducerId",
    23: "OffsetForLeaderEpoch",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    27: "WriteTxnMarkers",
    28: "TxnOffsetCommit",
    29: "DescribeAcls",
    30: "CreateAcls",
    31: "DeleteAcls",
    32: "DescribeConfigs",
    33: "AlterConfigs",
    34: "AlterReplicaLogDirs",
    35: "DescribeLogDirs",
    36: "SaslAuthenticate",
    37: "CreatePartitions",
    38: "CreateDelegationToken",
    39: "RenewDelegationToken",
    40: "ExpireDelegationToken",
    41: "DescribeDelegationToken",
    42: "DeleteGroups",
    43: "ElectLeaders",
    44: "IncrementalAlterConfigs",
    45: "AlterPartitionReassignments",
    46: "ListPartitionReassignments",
    47: "OffsetDelete",
    48: "DescribeClientQuotas",
    49: "AlterClientQuotas",
    50: "DescribeUserScramCredentials",
    51: "AlterUserScramCredentials",
    52: "Vote",
    53: "BeginQuorumEpoch",
    54: "EndQuorumEpoch",
    55: "DescribeQuorum",
    56: "AlterPartition",
    57: "UpdateFeatures",
    58: "Envelope",
    59: "FetchSnapshot",
    60: "DescribeCluster",
    61: "DescribeProducers",
    62: "BrokerRegistration",
    63: "BrokerHeartbeat",
    64: "UnregisterBroker",
    65: "DescribeTransactions",
    66: "ListTransactions",
    67: "AllocateProducerIds",
    68: "ConsumerGroupHeartbeat",
    69: "ConsumerGroupDescribe",
    70: "ControllerRegistration",
    71: "GetTelemetrySubscriptions",
    72: "PushTelemetry",
    73: "AssignReplicasToDirs",
    74: "ListConfigResources",
    75: "DescribeTopicPartitions",
    76: "ShareGroupHeartbeat",
    77: "ShareGroupDescribe",
    78: "ShareFetch",
    79: "ShareAcknowledge",
    80: "AddRaftVoter",
    81: "RemoveRaftVoter",
    82: "UpdateRaftVoter",
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
    88: "StreamsGroupHeartbeat",
    89: "StreamsGroupDescribe",
    90: "DescribeShareGroupOffsets",
    91: "AlterShareGroupOffsets",
    92: "DeleteShareGroupOffsets",
    93: "StreamsGroupTopologyDescriptionUpdate",
    94: "UnregisterController",
}
"""API key to the API's name."""

METADATA_RECORDS: dict[int, str] = {
    0: "RegisterBrokerRecord",
    1: "UnregisterBrokerRecord",
    2: "TopicRecord",
    3: "PartitionRecord",
    4: "ConfigRecord",
    5: "PartitionChangeRecord",
    7: "FenceBrokerRecord",
    8: "UnfenceBrokerRecord",
    9: "RemoveTopicRecord",
    10: "DelegationTokenRecord",
    11: "UserScramCredentialRecord",
    12: "FeatureLevelRecord",
    14: "ClientQuotaRecord",
    15: "ProducerIdsRecord",
    17: "BrokerRegistrationChangeRecord",
    18: "AccessControlEntryRecord",
    19: "RemoveAccessControlEntryRecord",
    20: "NoOpRecord",
    21: "ZkMigrationStateRecord",
    22: "RemoveUserScramCredentialRecord",
    23: "BeginTransactionRecord",
    24: "EndTransactionRecord",
    25: "AbortTransactionRecord",
    26: "RemoveDelegationTokenRecord",
    27: "RegisterControllerRecord",
    28: "ClearElrRecord",
    29: "UnregisterControllerRecord",
}
"""Record type to schema name, cluster metadata log."""

REMOTE_LOG_METADATA_RECORDS: dict[int, str] = {
    0: "RemoteLogSegmentMetadataRecord",
    1: "RemoteLogSegmentMetadataUpdateRecord",
    2: "RemotePartitionDeleteMetadataRecord",
    3: "RemoteLogSegmentMetadataSnapshotRecord",
}
"""The same of the remote log."""
