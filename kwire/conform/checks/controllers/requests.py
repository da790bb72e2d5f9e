"""Requests for the active controller that are refused, or change nothing, wherever they arrive."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.codec.declaration import Request
from kwire.conform.quorum import NOBODY, OTHER_DIRECTORY
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.a33_alter_configs import AlterConfigsRequest
from kwire.messages.a33_alter_configs import AlterConfigsResource as WholeResource
from kwire.messages.a37_create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kwire.messages.a49_alter_client_quotas import AlterClientQuotasRequest, EntityData, EntryData
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from kwire.messages.a56_alter_partition import AlterPartitionRequest, PartitionData, TopicData
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.a73_assign_replicas_to_dirs import AssignReplicasToDirsRequest, DirectoryData
from kwire.messages.config_resource import ResourceType

TOPIC = "kwire-conform-no-topic"
"""The name of a topic that nobody creates."""
TIMEOUT_MS = 5000

_SET = 0


def describe_config(kind: ResourceType, name: str) -> DescribeConfigsRequest:
    """Return a request for the whole configuration of a thing."""
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=None
    )
    return DescribeConfigsRequest(resources=[resource])


def set_config(
    kind: ResourceType, name: str, key: str, value: str
) -> IncrementalAlterConfigsRequest:
    """Return a request to have a value checked, not set."""
    config = AlterableConfig(name=key, config_operation=_SET, value=value)
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[config])
    return IncrementalAlterConfigsRequest(resources=[resource], validate_only=True)


_UPDATE = FeatureUpdateKey(feature="kwire.conform", max_version_level=1)

CHANGES: Mapping[str, Request] = {
    "CreateTopics": CreateTopicsRequest(
        topics=[CreatableTopic(name="kwire-conform-/", num_partitions=1, replication_factor=1)],
        timeout_ms=TIMEOUT_MS,
        validate_only=True,
    ),
    "DeleteTopics": DeleteTopicsRequest(
        topics=[DeleteTopicState(name=TOPIC)], timeout_ms=TIMEOUT_MS
    ),
    "CreatePartitions": CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=TOPIC, count=2, assignments=None)],
        timeout_ms=TIMEOUT_MS,
        validate_only=True,
    ),
    "IncrementalAlterConfigs": set_config(ResourceType.TOPIC, TOPIC, "retention.ms", "1"),
    "AlterConfigs": AlterConfigsRequest(
        resources=[WholeResource(resource_type=ResourceType.TOPIC, resource_name=TOPIC)],
        validate_only=True,
    ),
    "ElectLeaders": ElectLeadersRequest(
        topic_partitions=[TopicPartitions(topic=TOPIC, partitions=(0,))], timeout_ms=TIMEOUT_MS
    ),
    "AlterPartitionReassignments": AlterPartitionReassignmentsRequest(
        topics=[
            ReassignableTopic(
                name=TOPIC, partitions=[ReassignablePartition(partition_index=0, replicas=None)]
            )
        ],
        timeout_ms=TIMEOUT_MS,
    ),
    "UpdateFeatures": UpdateFeaturesRequest(
        feature_updates=[_UPDATE], timeout_ms=TIMEOUT_MS, validate_only=True
    ),
    "UnregisterBroker": UnregisterBrokerRequest(broker_id=NOBODY),
    "AllocateProducerIds": AllocateProducerIdsRequest(broker_id=NOBODY, broker_epoch=1),
    "BrokerHeartbeat": BrokerHeartbeatRequest(
        broker_id=NOBODY, broker_epoch=1, current_metadata_offset=1
    ),
    "AlterPartition": AlterPartitionRequest(
        broker_id=NOBODY,
        broker_epoch=1,
        topics=[TopicData(topic_id=OTHER_DIRECTORY, partitions=[PartitionData()])],
    ),
    "AssignReplicasToDirs": AssignReplicasToDirsRequest(
        broker_id=NOBODY, broker_epoch=1, directories=[DirectoryData(id=OTHER_DIRECTORY)]
    ),
    "AlterClientQuotas": AlterClientQuotasRequest(
        entries=[EntryData(entity=[EntityData(entity_type="kwire", entity_name="conform")])],
        validate_only=True,
    ),
    "AlterUserScramCredentials": AlterUserScramCredentialsRequest(
        deletions=[ScramCredentialDeletion(name="kwire-conform-nobody", mechanism=1)]
    ),
}
"""A request of each API that only the active controller carries out."""
