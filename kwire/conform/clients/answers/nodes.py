"""Answers about the cluster itself: versions, metadata, topics, logins, the quorum."""

from __future__ import annotations

import re
from uuid import UUID

from kwire.codec.declaration import Response
from kwire.conform.clients.answers.ask import NodeAnswers, NodeAsk
from kwire.conform.clients.cluster import CLUSTER_ID, NODES, ClusterTopic, PartitionLog
from kwire.conform.vocabulary import ServerRole
from kwire.error_codes import ErrorCode
from kwire.messages.a03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a18_api_versions import (
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kwire.messages.a19_create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a20_delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from kwire.messages.a60_describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""Names and versions of clients (KIP-511)."""
_BROKER, _CONTROLLER = 1, 2
"""Endpoint types of DescribeCluster (KIP-919)."""


def api_versions(ask: NodeAsk) -> Response:
    """Return the finalized features; the node adds what APIs it offers."""
    body, features = ask.body, ask.cluster.features
    if ask.version >= 3 and not all(
        _SOFTWARE.fullmatch(text)
        for text in (body.client_software_name, body.client_software_version)
    ):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    if ask.version >= 5 and (body.cluster_id or CLUSTER_ID, body.node_id) not in (
        (CLUSTER_ID, -1),
        (CLUSTER_ID, ask.node_id),
    ):
        return ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    return ApiVersionsResponse(
        supported_features=[
            SupportedFeatureKey(name=name, min_version=0, max_version=level)
            for name, level in features.items()
        ],
        finalized_features_epoch=1 if features else -1,
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
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
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=node, host=address.host, port=address.port)
            for node, address in cluster.addresses.items()
        ],
        cluster_id=CLUSTER_ID,
        controller_id=NODES[0],
        topics=topics,
    )


def _asked_topic(ask: NodeAsk, name: str | None, topic_id: UUID) -> MetadataResponseTopic:
    topic = ask.cluster.topic_by(name, topic_id)
    if topic is not None:
        return _topic_metadata(topic)
    code = ErrorCode.UNKNOWN_TOPIC_ID if topic_id.int else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return MetadataResponseTopic(error_code=code, name=name, topic_id=topic_id)


def _topic_metadata(topic: ClusterTopic) -> MetadataResponseTopic:
    def partition(index: int, log: PartitionLog) -> MetadataResponsePartition:
        return MetadataResponsePartition(
            partition_index=index,
            leader_id=log.leader,
            leader_epoch=log.leader_epoch,
            replica_nodes=NODES,
            isr_nodes=NODES,
        )

    partitions = [partition(index, log) for index, log in enumerate(topic.partitions)]
    return MetadataResponseTopic(name=topic.name, topic_id=topic.id, partitions=partitions)


def describe_cluster(ask: NodeAsk) -> Response:
    """Return the nodes; a controller has no brokers to tell, a broker no controllers (KIP-919)."""
    cluster = ask.cluster
    own_type = _CONTROLLER if cluster.role is ServerRole.CONTROLLER else _BROKER
    if ask.version >= 1 and ask.body.endpoint_type != own_type:
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        return DescribeClusterResponse(error_code=code, endpoint_type=own_type)
    return DescribeClusterResponse(
        endpoint_type=own_type,
        cluster_id=CLUSTER_ID,
        controller_id=NODES[0],
        brokers=[
            DescribeClusterBroker(broker_id=node, host=address.host, port=address.port)
            for node, address in cluster.addresses.items()
        ],
    )


def create_topics(ask: NodeAsk) -> Response:
    """Create topics that there are not."""
    results = []
    for wanted in ask.body.topics:
        if wanted.name in ask.cluster.topics:
            code = ErrorCode.TOPIC_ALREADY_EXISTS
            results.append(CreatableTopicResult(name=wanted.name, error_code=code))
            continue
        topic = ask.cluster.create(wanted.name, len(wanted.assignments) or wanted.num_partitions)
        results.append(
            CreatableTopicResult(
                name=topic.name,
                topic_id=topic.id,
                num_partitions=len(topic.partitions),
                replication_factor=len(NODES),
                configs=[],
            )
        )
    return CreateTopicsResponse(topics=results)


def delete_topics(ask: NodeAsk) -> Response:
    """Delete topics, by name or by id."""
    named = [(name, UUID(int=0)) for name in ask.body.topic_names]
    results = []
    for name, topic_id in named or [(topic.name, topic.topic_id) for topic in ask.body.topics]:
        by_name = ask.cluster.topics.get(name or "")
        topic = ask.cluster.topic_by(None, topic_id) if topic_id.int else by_name
        missing = (
            ErrorCode.UNKNOWN_TOPIC_ID if topic_id.int else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
        code = ErrorCode.NONE if topic else missing
        if topic is not None:
            ask.cluster.topics.pop(topic.name)
            name, topic_id = topic.name, topic.id
        results.append(DeletableTopicResult(name=name, topic_id=topic_id, error_code=code))
    return DeleteTopicsResponse(responses=results)


def describe_configs(ask: NodeAsk) -> Response:
    """Return no configs of what is asked for: all have their defaults."""
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
                error_message=None,
            )
            for resource in ask.body.resources
        ]
    )


def describe_quorum(ask: NodeAsk) -> Response:
    """Return a quorum of all nodes, led by the first."""
    state = [ReplicaState(replica_id=node, log_end_offset=1) for node in NODES]
    partition = ResponsePartitionData(
        partition_index=0,
        leader_id=NODES[0],
        leader_epoch=1,
        high_watermark=1,
        current_voters=state,
    )
    topic = ResponseTopicData(topic_name="__cluster_metadata", partitions=[partition])
    return DescribeQuorumResponse(topics=[topic])


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
