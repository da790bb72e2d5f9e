"""Answers about the cluster itself: versions, metadata, topics, logins, the quorum."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Response
from kwire.conform.clients.answers.ask import NodeAnswers, NodeAsk, missing
from kwire.conform.clients.cluster import CLUSTER_ID, NODES, Cluster, ClusterTopic
from kwire.conform.vocabulary import ServerRole
from kwire.conform.whole_answer import filled, mirrored
from kwire.error_codes import ErrorCode
from kwire.messages import (
    ApiVersionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    MetadataRequest,
    MetadataResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kwire.messages.a32_describe_configs import DescribeConfigsResult

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""Names and versions of clients (KIP-511)."""
_BROKER, _CONTROLLER = 1, 2
"""Endpoint types of DescribeCluster (KIP-919)."""


def api_versions(ask: NodeAsk) -> Response:
    """Return the finalized features; the node adds what APIs it offers."""
    body, features = ask.body, ask.cluster.features
    words = (body.client_software_name, body.client_software_version)
    if ask.version >= 3 and not all(map(_SOFTWARE.fullmatch, words)):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    here = body.cluster_id in (None, "", CLUSTER_ID) and body.node_id in (-1, ask.node_id)
    if ask.version >= 5 and not here:
        return ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    return filled(
        ApiVersionsResponse,
        supported_features=[
            {"name": name, "min_version": 0, "max_version": level}
            for name, level in features.items()
        ],
        finalized_features_epoch=1 if features else -1,
        finalized_features=[
            {"name": name, "max_version_level": level, "min_version_level": level}
            for name, level in features.items()
        ],
    )


def metadata(ask: NodeAsk) -> Response:
    """Return the nodes, and the topics that are asked for: all for null, for none in v0 too."""
    cluster, wanted = ask.cluster, ask.body.topics
    if wanted is None or (ask.version == 0 and not wanted):
        topics = [_topic_metadata(topic) for topic in cluster.topics.values()]
    else:
        topics = [_asked_topic(ask, topic.name, topic.topic_id) for topic in wanted]
    return filled(
        MetadataResponse,
        brokers=_nodes(cluster, "node_id"),
        cluster_id=CLUSTER_ID,
        controller_id=NODES[0],
        topics=topics,
    )


def _nodes(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    """Return the nodes with their addresses. name: of the field with their ids."""
    return [{name: n, "host": at.host, "port": at.port} for n, at in cluster.addresses.items()]


def _asked_topic(ask: NodeAsk, name: str | None, topic_id: UUID) -> dict[str, Any]:
    topic = ask.cluster.topic_by(name, topic_id)
    if topic is not None:
        return _topic_metadata(topic)
    code = missing(by_id=topic_id.int != 0)
    return {"error_code": code, "name": name, "topic_id": topic_id}


def _topic_metadata(topic: ClusterTopic) -> dict[str, Any]:
    nodes = {"replica_nodes": NODES, "isr_nodes": NODES}
    logs = enumerate(topic.partitions)
    partitions = [{"partition_index": index, **log.led(), **nodes} for index, log in logs]
    return {"name": topic.name, "topic_id": topic.id, "partitions": partitions}


def describe_cluster(ask: NodeAsk) -> Response:
    """Return the nodes; a controller has no brokers to tell, a broker no controllers (KIP-919)."""
    cluster = ask.cluster
    own_type = _CONTROLLER if cluster.role is ServerRole.CONTROLLER else _BROKER
    if ask.version >= 1 and ask.body.endpoint_type != own_type:
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        return DescribeClusterResponse(error_code=code, endpoint_type=own_type)
    return filled(
        DescribeClusterResponse,
        endpoint_type=own_type,
        cluster_id=CLUSTER_ID,
        controller_id=NODES[0],
        brokers=_nodes(cluster, "broker_id"),
    )


def create_topics(ask: NodeAsk) -> Response:
    """Create topics that there are not."""
    results = []
    for wanted in ask.body.topics:
        result = {"name": wanted.name, "error_code": ErrorCode.TOPIC_ALREADY_EXISTS}
        if wanted.name not in ask.cluster.topics:
            count = len(wanted.assignments) or wanted.num_partitions
            topic = ask.cluster.create(wanted.name, count)
            size = {"num_partitions": len(topic.partitions), "replication_factor": len(NODES)}
            result = {"name": topic.name, "topic_id": topic.id, **size, "configs": []}
        results.append(result)
    return filled(CreateTopicsResponse, topics=results)


def delete_topics(ask: NodeAsk) -> Response:
    """Delete topics, by name or by id."""
    named = [(name, UUID(int=0)) for name in ask.body.topic_names]
    results = []
    for name, topic_id in named or [(topic.name, topic.topic_id) for topic in ask.body.topics]:
        by_name = ask.cluster.topics.get(name or "")
        topic = ask.cluster.topic_by(None, topic_id) if topic_id.int else by_name
        code = ErrorCode.NONE if topic else missing(by_id=topic_id.int != 0)
        if topic is not None:
            ask.cluster.topics.pop(topic.name)
            name, topic_id = topic.name, topic.id
        results.append({"name": name, "topic_id": topic_id, "error_code": code})
    return filled(DeleteTopicsResponse, responses=results)


def describe_configs(ask: NodeAsk) -> Response:
    """Return no configs of what is asked for: all have their defaults."""
    results = [
        mirrored(DescribeConfigsResult, resource, error_message=None)
        for resource in ask.body.resources
    ]
    return DescribeConfigsResponse(results=results)


def describe_quorum(ask: NodeAsk) -> Response:
    """Return a quorum of all nodes, led by the first."""
    partition = {
        "leader_id": NODES[0],
        "leader_epoch": 1,
        "high_watermark": 1,
        "current_voters": [{"replica_id": node, "log_end_offset": 1} for node in NODES],
    }
    topic = {"topic_name": "__cluster_metadata", "partitions": [partition]}
    return filled(DescribeQuorumResponse, topics=[topic])


def sasl_handshake(ask: NodeAsk) -> Response:
    """Offer PLAIN, where the cluster has a password."""
    offered = ask.cluster.password is not None and ask.body.mechanism == "PLAIN"
    code = ErrorCode.NONE if offered else ErrorCode.UNSUPPORTED_SASL_MECHANISM
    return SaslHandshakeResponse(error_code=code, mechanisms=("PLAIN",))


def sasl_authenticate(ask: NodeAsk) -> Response:
    """Take the password of PLAIN (RFC 4616), for as long as a session lasts (KIP-368)."""
    if tuple(ask.body.auth_bytes.decode(errors="replace").split("\0")[1:]) != ask.cluster.password:
        code = ErrorCode.SASL_AUTHENTICATION_FAILED
        return SaslAuthenticateResponse(error_code=code, error_message="wrong password")
    return SaslAuthenticateResponse(session_lifetime_ms=ask.cluster.session_lifetime_ms)


ANSWERS: NodeAnswers = {
    MetadataRequest: metadata,
    CreateTopicsRequest: create_topics,
    DeleteTopicsRequest: delete_topics,
    DescribeClusterRequest: describe_cluster,
    DescribeConfigsRequest: describe_configs,
}
LOGIN: NodeAnswers = {
    SaslHandshakeRequest: sasl_handshake,
    SaslAuthenticateRequest: sasl_authenticate,
}
CONTROLLERS: NodeAnswers = {
    CreateTopicsRequest: create_topics,
    DeleteTopicsRequest: delete_topics,
    DescribeClusterRequest: describe_cluster,
    DescribeQuorumRequest: describe_quorum,
}
"""A controller offers no Metadata (KIP-919)."""
