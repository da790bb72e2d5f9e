"""Summaries of ApiVersions, AlterPartition and DescribeCluster (KIP-35, 497, 700)."""

from __future__ import annotations

from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a56_alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    PartitionData,
    ResponsePartitionData,
)
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.messages.endpoint_type import EndpointType
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.summaries.parts import failed, few, ids, leader, with_answer
from kwire.text.ids import uuid_text
from kwire.text.phrases import count

_ENDPOINT_NOUNS: dict[int, str] = {
    endpoint_type: endpoint_type.noun for endpoint_type in EndpointType
}


def api_versions(decoded: DecodedFlow) -> str | None:
    """Tell which software asks and whom it takes the node for, how many APIs and which feature
    levels the node has, and if it is ready for a migration (KIP-866)."""
    request = decoded.request_as(ApiVersionsRequest)
    asked = "which APIs?"
    if request is not None and request.client_software_name:
        asked = f"{request.client_software_name} {request.client_software_version}"
    if request is not None and request.cluster_id is not None:  # KIP-1242
        asked += f", to node {request.node_id} of cluster {request.cluster_id}"
    response = decoded.response_as(ApiVersionsResponse)
    if response is None:
        return asked
    levels = [
        f"{feature.name} {feature.max_version_level}" for feature in response.finalized_features
    ]
    apis = count(len(response.api_keys), "API")
    ready = "ready to migrate from ZooKeeper" if response.zk_migration_ready else ""
    phrases = [failed(response.error_code), apis, *levels, ready]
    return with_answer(asked, ", ".join(phrase for phrase in phrases if phrase))


def alter_partition(decoded: DecodedFlow) -> str | None:
    """Return the in-sync replicas that a leader wants, and those there are now."""
    request = decoded.request_as(AlterPartitionRequest)
    if request is None:
        return None
    wishes = [
        f"{topic.topic_name or uuid_text(topic.topic_id)}-{partition.partition_index}"
        f" ISR {ids(_isr(partition))} at partition epoch {partition.partition_epoch}"
        for topic in request.topics
        for partition in topic.partitions
    ]
    asked = f"broker {request.broker_id} wants {few(wishes)}"
    response = decoded.response_as(AlterPartitionResponse)
    if response is None:
        return asked
    partitions = [
        _partition(partition) for topic in response.topics for partition in topic.partitions
    ]
    return with_answer(asked, failed(response.error_code) or few(partitions))


def _isr(partition: PartitionData) -> list[int]:
    return [*partition.new_isr, *(state.broker_id for state in partition.new_isr_with_epochs)]


def _partition(partition: ResponsePartitionData) -> str:
    leads = leader(partition.leader_id, partition.leader_epoch)
    return failed(partition.error_code) or f"ISR {ids(partition.isr)}, {leads}"


def describe_cluster(decoded: DecodedFlow) -> str | None:
    """Return the nodes of the asked kind, and the controller."""
    request = decoded.request_as(DescribeClusterRequest)
    if request is None:
        return None
    kind = _ENDPOINT_NOUNS.get(request.endpoint_type, f"endpoint type {request.endpoint_type}")
    response = decoded.response_as(DescribeClusterResponse)
    if response is None:
        return f"which {kind}s?"
    if response.error_code:
        return with_answer(f"which {kind}s?", failed(response.error_code, response.error_message))
    nodes = [f"{node.broker_id} {node.host}:{node.port}" for node in response.brokers]
    active = f", active controller {response.controller_id}" if response.controller_id >= 0 else ""
    return f"cluster {response.cluster_id}, {count(len(nodes), kind)} {few(nodes)}{active}"
