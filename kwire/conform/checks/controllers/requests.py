"""Requests for the active controller that are refused, or change nothing, wherever they arrive."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.codec.declaration import Request
from kwire.conform.quorum import NOBODY, OTHER_DIRECTORY
from kwire.conform.whole_answer import filled
from kwire.messages import (
    AllocateProducerIdsRequest,
    AlterClientQuotasRequest,
    AlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    AlterPartitionRequest,
    AlterUserScramCredentialsRequest,
    AssignReplicasToDirsRequest,
    BrokerHeartbeatRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    UnregisterBrokerRequest,
    UpdateFeaturesRequest,
)
from kwire.messages.config_resource import ResourceType

TOPIC = "kwire-conform-no-topic"
"""The name of a topic that nobody creates."""
TIMEOUT_MS = 5000


def describe_config(kind: ResourceType, name: str) -> DescribeConfigsRequest:
    """Return a request for the whole configuration of a thing."""
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": None}
    return filled(DescribeConfigsRequest, resources=[resource])


def set_config(
    kind: ResourceType, name: str, key: str, value: str
) -> IncrementalAlterConfigsRequest:
    """Return a request to have a value checked, not set."""
    configs = [{"name": key, "value": value}]
    resource = {"resource_type": kind, "resource_name": name, "configs": configs}
    return filled(IncrementalAlterConfigsRequest, resources=[resource], validate_only=True)


CHANGES: Mapping[str, Request] = {
    "CreateTopics": filled(
        CreateTopicsRequest,
        topics=[{"name": "kwire-conform-/", "num_partitions": 1, "replication_factor": 1}],
        timeout_ms=TIMEOUT_MS,
        validate_only=True,
    ),
    "DeleteTopics": filled(DeleteTopicsRequest, topics=[{"name": TOPIC}], timeout_ms=TIMEOUT_MS),
    "CreatePartitions": filled(
        CreatePartitionsRequest,
        topics=[{"name": TOPIC, "count": 2, "assignments": None}],
        timeout_ms=TIMEOUT_MS,
        validate_only=True,
    ),
    "IncrementalAlterConfigs": set_config(ResourceType.TOPIC, TOPIC, "retention.ms", "1"),
    "AlterConfigs": filled(
        AlterConfigsRequest,
        resources=[{"resource_type": ResourceType.TOPIC, "resource_name": TOPIC}],
        validate_only=True,
    ),
    "ElectLeaders": filled(
        ElectLeadersRequest,
        topic_partitions=[{"topic": TOPIC, "partitions": (0,)}],
        timeout_ms=TIMEOUT_MS,
    ),
    "AlterPartitionReassignments": filled(
        AlterPartitionReassignmentsRequest,
        topics=[{"name": TOPIC, "partitions": [{"replicas": None}]}],
        timeout_ms=TIMEOUT_MS,
    ),
    "UpdateFeatures": filled(
        UpdateFeaturesRequest,
        feature_updates=[{"feature": "kwire.conform", "max_version_level": 1}],
        timeout_ms=TIMEOUT_MS,
        validate_only=True,
    ),
    "UnregisterBroker": UnregisterBrokerRequest(broker_id=NOBODY),
    "AllocateProducerIds": AllocateProducerIdsRequest(broker_id=NOBODY, broker_epoch=1),
    "BrokerHeartbeat": BrokerHeartbeatRequest(
        broker_id=NOBODY, broker_epoch=1, current_metadata_offset=1
    ),
    "AlterPartition": filled(
        AlterPartitionRequest,
        broker_id=NOBODY,
        broker_epoch=1,
        topics=[{"topic_id": OTHER_DIRECTORY, "partitions": [{}]}],
    ),
    "AssignReplicasToDirs": filled(
        AssignReplicasToDirsRequest,
        broker_id=NOBODY,
        broker_epoch=1,
        directories=[{"id": OTHER_DIRECTORY}],
    ),
    "AlterClientQuotas": filled(
        AlterClientQuotasRequest,
        entries=[{"entity": [{"entity_type": "kwire", "entity_name": "conform"}]}],
        validate_only=True,
    ),
    "AlterUserScramCredentials": filled(
        AlterUserScramCredentialsRequest,
        deletions=[{"name": "kwire-conform-nobody", "mechanism": 1}],
    ),
}
"""A request of each API that only the active controller carries out."""
