"""The module of each message. Written by `python -m declarations`."""

MODULES: dict[str, tuple[str, ...]] = {
    "a00_produce": (
        "ProduceRequest",
        "ProduceResponse",
    ),
    "a01_fetch": (
        "FetchRequest",
        "FetchResponse",
    ),
    "a02_list_offsets": (
        "ListOffsetsRequest",
        "ListOffsetsResponse",
    ),
    "a03_metadata": (
        "MetadataRequest",
        "MetadataResponse",
    ),
    "a04_leader_and_isr": (
        "LeaderAndIsrRequest",
        "LeaderAndIsrResponse",
    ),
    "a05_stop_replica": (
        "StopReplicaRequest",
        "StopReplicaResponse",
    ),
    "a06_update_metadata": (
        "UpdateMetadataRequest",
        "UpdateMetadataResponse",
    ),
    "a07_controlled_shutdown": (
        "ControlledShutdownRequest",
        "ControlledShutdownResponse",
    ),
    "a08_offset_commit": (
        "OffsetCommitRequest",
        "OffsetCommitResponse",
    ),
    "a09_offset_fetch": (
        "OffsetFetchRequest",
        "OffsetFetchResponse",
    ),
    "a10_find_coordinator": (
        "FindCoordinatorRequest",
        "FindCoordinatorResponse",
    ),
    "a11_join_group": (
        "JoinGroupRequest",
        "JoinGroupResponse",
    ),
    "a12_heartbeat": (
        "HeartbeatRequest",
        "HeartbeatResponse",
    ),
    "a13_leave_group": (
        "LeaveGroupRequest",
        "LeaveGroupResponse",
    ),
    "a14_sync_group": (
        "SyncGroupRequest",
        "SyncGroupResponse",
    ),
    "a15_describe_groups": (
        "DescribeGroupsRequest",
        "DescribeGroupsResponse",
    ),
    "a16_list_groups": (
        "ListGroupsRequest",
        "ListGroupsResponse",
    ),
    "a17_sasl_handshake": (
        "SaslHandshakeRequest",
        "SaslHandshakeResponse",
    ),
    "a18_api_versions": (
        "ApiVersionsRequest",
        "ApiVersionsResponse",
    ),
    "a19_create_topics": (
        "CreateTopicsRequest",
        "CreateTopicsResponse",
    ),
    "a20_delete_topics": (
        "DeleteTopicsRequest",
        "DeleteTopicsResponse",
    ),
    "a21_delete_records": (
        "DeleteRecordsRequest",
        "DeleteRecordsResponse",
    ),
    "a22_init_producer_id": (
        "InitProducerIdRequest",
        "InitProducerIdResponse",
    ),
    "a23_offset_for_leader_epoch": (
        "OffsetForLeaderEpochRequest",
        "OffsetForLeaderEpochResponse",
    ),
    "a24_add_partitions_to_txn": (
        "AddPartitionsToTxnRequest",
        "AddPartitionsToTxnResponse",
    ),
    "a25_add_offsets_to_txn": (
        "AddOffsetsToTxnRequest",
        "AddOffsetsToTxnResponse",
    ),
    "a26_end_txn": (
        "EndTxnRequest",
        "EndTxnResponse",
    ),
    "a27_write_txn_markers": (
        "WriteTxnMarkersRequest",
        "WriteTxnMarkersResponse",
    ),
    "a28_txn_offset_commit": (
        "TxnOffsetCommitRequest",
        "TxnOffsetCommitResponse",
    ),
    "a29_describe_acls": (
        "DescribeAclsRequest",
        "DescribeAclsResponse",
    ),
    "a30_create_acls": (
        "CreateAclsRequest",
        "CreateAclsResponse",
    ),
    "a31_delete_acls": (
        "DeleteAclsRequest",
        "DeleteAclsResponse",
    ),
    "a32_describe_configs": (
        "DescribeConfigsRequest",
        "DescribeConfigsResponse",
    ),
    "a33_alter_configs": (
        "AlterConfigsRequest",
        "AlterConfigsResponse",
    ),
    "a34_alter_replica_log_dirs": (
        "AlterReplicaLogDirsRequest",
        "AlterReplicaLogDirsResponse",
    ),
    "a35_describe_log_dirs": (
        "DescribeLogDirsRequest",
        "DescribeLogDirsResponse",
    ),
    "a36_sasl_authenticate": (
        "SaslAuthenticateRequest",
        "SaslAuthenticateResponse",
    ),
    "a37_create_partitions": (
        "CreatePartitionsRequest",
        "CreatePartitionsResponse",
    ),
    "a38_create_delegation_token": (
        "CreateDelegationTokenRequest",
        "CreateDelegationTokenResponse",
    ),
    "a39_renew_delegation_token": (
        "RenewDelegationTokenRequest",
        "RenewDelegationTokenResponse",
    ),
    "a40_expire_delegation_token": (
        "ExpireDelegationTokenRequest",
        "ExpireDelegationTokenResponse",
    ),
    "a41_describe_delegation_token": (
        "DescribeDelegationTokenRequest",
        "DescribeDelegationTokenResponse",
    ),
    "a42_delete_groups": (
        "DeleteGroupsRequest",
        "DeleteGroupsResponse",
    ),
    "a43_elect_leaders": (
        "ElectLeadersRequest",
        "ElectLeadersResponse",
    ),
    "a44_incremental_alter_configs": (
        "IncrementalAlterConfigsRequest",
        "IncrementalAlterConfigsResponse",
    ),
    "a45_alter_partition_reassignments": (
        "AlterPartitionReassignmentsRequest",
        "AlterPartitionReassignmentsResponse",
    ),
    "a46_list_partition_reassignments": (
        "ListPartitionReassignmentsRequest",
        "ListPartitionReassignmentsResponse",
    ),
    "a47_offset_delete": (
        "OffsetDeleteRequest",
        "OffsetDeleteResponse",
    ),
    "a48_describe_client_quotas": (
        "DescribeClientQuotasRequest",
        "DescribeClientQuotasResponse",
    ),
    "a49_alter_client_quotas": (
        "AlterClientQuotasRequest",
        "AlterClientQuotasResponse",
    ),
    "a50_describe_user_scram_credentials": (
        "DescribeUserScramCredentialsRequest",
        "DescribeUserScramCredentialsResponse",
    ),
    "a51_alter_user_scram_credentials": (
        "AlterUserScramCredentialsRequest",
        "AlterUserScramCredentialsResponse",
    ),
    "a52_vote": (
        "VoteRequest",
        "VoteResponse",
    ),
    "a53_begin_quorum_epoch": (
        "BeginQuorumEpochRequest",
        "BeginQuorumEpochResponse",
    ),
    "a54_end_quorum_epoch": (
        "EndQuorumEpochRequest",
        "EndQuorumEpochResponse",
    ),
    "a55_describe_quorum": (
        "DescribeQuorumRequest",
        "DescribeQuorumResponse",
    ),
    "a56_alter_partition": (
        "AlterPartitionRequest",
        "AlterPartitionResponse",
    ),
    "a57_update_features": (
        "UpdateFeaturesRequest",
        "UpdateFeaturesResponse",
    ),
    "a58_envelope": (
        "EnvelopeRequest",
        "EnvelopeResponse",
    ),
    "a59_fetch_snapshot": (
        "FetchSnapshotRequest",
        "FetchSnapshotResponse",
    ),
    "a60_describe_cluster": (
        "DescribeClusterRequest",
        "DescribeClusterResponse",
    ),
    "a61_describe_producers": (
        "DescribeProducersRequest",
        "DescribeProducersResponse",
    ),
    "a62_broker_registration": (
        "BrokerRegistrationRequest",
        "BrokerRegistrationResponse",
    ),
    "a63_broker_heartbeat": (
        "BrokerHeartbeatRequest",
        "BrokerHeartbeatResponse",
    ),
    "a64_unregister_broker": (
        "UnregisterBrokerRequest",
        "UnregisterBrokerResponse",
    ),
    "a65_describe_transactions": (
        "DescribeTransactionsRequest",
        "DescribeTransactionsResponse",
    ),
    "a66_list_transactions": (
        "ListTransactionsRequest",
        "ListTransactionsResponse",
    ),
    "a67_allocate_producer_ids": (
        "AllocateProducerIdsRequest",
        "AllocateProducerIdsResponse",
    ),
    "a68_consumer_group_heartbeat": (
        "ConsumerGroupHeartbeatRequest",
        "ConsumerGroupHeartbeatResponse",
    ),
    "a69_consumer_group_describe": (
        "ConsumerGroupDescribeRequest",
        "ConsumerGroupDescribeResponse",
    ),
    "a70_controller_registration": (
        "ControllerRegistrationRequest",
        "ControllerRegistrationResponse",
    ),
    "a71_get_telemetry_subscriptions": (
        "GetTelemetrySubscriptionsRequest",
        "GetTelemetrySubscriptionsResponse",
    ),
    "a72_push_telemetry": (
        "PushTelemetryRequest",
        "PushTelemetryResponse",
    ),
    "a73_assign_replicas_to_dirs": (
        "AssignReplicasToDirsRequest",
        "AssignReplicasToDirsResponse",
    ),
    "a74_list_client_metrics_resources": (
        "ListClientMetricsResourcesRequest",
        "ListClientMetricsResourcesResponse",
    ),
    "a74_list_config_resources": (
        "ListConfigResourcesRequest",
        "ListConfigResourcesResponse",
    ),
    "a75_describe_topic_partitions": (
        "DescribeTopicPartitionsRequest",
        "DescribeTopicPartitionsResponse",
    ),
    "a76_share_group_heartbeat": (
        "ShareGroupHeartbeatRequest",
        "ShareGroupHeartbeatResponse",
    ),
    "a77_share_group_describe": (
        "ShareGroupDescribeRequest",
        "ShareGroupDescribeResponse",
    ),
    "a78_share_fetch": (
        "ShareFetchRequest",
        "ShareFetchResponse",
    ),
    "a79_share_acknowledge": (
        "ShareAcknowledgeRequest",
        "ShareAcknowledgeResponse",
    ),
    "a80_add_raft_voter": (
        "AddRaftVoterRequest",
        "AddRaftVoterResponse",
    ),
    "a81_remove_raft_voter": (
        "RemoveRaftVoterRequest",
        "RemoveRaftVoterResponse",
    ),
    "a82_update_raft_voter": (
        "UpdateRaftVoterRequest",
        "UpdateRaftVoterResponse",
    ),
    "a83_initialize_share_group_state": (
        "InitializeShareGroupStateRequest",
        "InitializeShareGroupStateResponse",
    ),
    "a84_read_share_group_state": (
        "ReadShareGroupStateRequest",
        "ReadShareGroupStateResponse",
    ),
    "a85_write_share_group_state": (
        "WriteShareGroupStateRequest",
        "WriteShareGroupStateResponse",
    ),
    "a86_delete_share_group_state": (
        "DeleteShareGroupStateRequest",
        "DeleteShareGroupStateResponse",
    ),
    "a87_read_share_group_state_summary": (
        "ReadShareGroupStateSummaryRequest",
        "ReadShareGroupStateSummaryResponse",
    ),
    "a88_streams_group_heartbeat": (
        "StreamsGroupHeartbeatRequest",
        "StreamsGroupHeartbeatResponse",
    ),
    "a89_streams_group_describe": (
        "StreamsGroupDescribeRequest",
        "StreamsGroupDescribeResponse",
    ),
    "a90_describe_share_group_offsets": (
        "DescribeShareGroupOffsetsRequest",
        "DescribeShareGroupOffsetsResponse",
    ),
    "a91_alter_share_group_offsets": (
        "AlterShareGroupOffsetsRequest",
        "AlterShareGroupOffsetsResponse",
    ),
    "a92_delete_share_group_offsets": (
        "DeleteShareGroupOffsetsRequest",
        "DeleteShareGroupOffsetsResponse",
    ),
    "a93_streams_group_topology_description_update": (
        "StreamsGroupTopologyDescriptionUpdateRequest",
        "StreamsGroupTopologyDescriptionUpdateResponse",
    ),
    "a94_unregister_controller": (
        "UnregisterControllerRequest",
        "UnregisterControllerResponse",
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
    "headers": (
        "RequestHeader",
        "ResponseHeader",
    ),
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
"""Module below `kwire.messages` to the schema names it declares."""

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
