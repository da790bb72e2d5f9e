"""Requests for every API that change nothing: they read, are validated only, or are refused.

Names that nothing has, a cluster id that is not the server's, nodes that do not exist. Defaults
are not safe: DescribeAcls of resource type 0 makes Kafka close the connection. Every entry has the
fields of all versions; those that a version does not have are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kwire.codec.declaration import Request
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import of_version
from kwire.messages.registry import api_key, api_name, request
from kwire.net.negotiation import NodeApiVersions

ABSENT = "kwire-conform-absent"
"""The name of a topic, group, transaction or user that does not exist."""
ABSENT_TOPIC_ID = "6b776972-6520-4000-8000-000000000001"
ABSENT_MEMBER = "a3dpcmUgY29uZm9ybSAxMQ"
"""A member id in the form that share groups demand: a UUID in base64."""
ABSENT_NODE = 2_000_000_000
OTHER_CLUSTER = "kwire-conform-no-cluster"

_READ_ONLY = ("DescribeQuorum", "DescribeCluster", "Metadata", "ListGroups")

_Fields = Mapping[str, Any]

_TOPIC = {"name": ABSENT, "topic": ABSENT, "topic_name": ABSENT, "topic_id": ABSENT_TOPIC_ID}
"""A topic, by each name that the field for it has."""
_PRODUCER = {"producer_id": 1 << 40, "producer_epoch": 0}
_INDEXES = {"partitions": [0], "partition_indexes": [0]}
_QUORUM = [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]
_MEMBER = {"group_id": ABSENT, "member_id": ABSENT_MEMBER, "generation_id": 5, "member_epoch": 5}
_ANY_ACL = {
    "resource_type_filter": 1,
    "pattern_type_filter": 1,
    "operation": 1,
    "permission_type": 1,
}
_STALE = {"broker_id": ABSENT_NODE, "broker_epoch": -1}

_FIELDS: dict[str, _Fields] = {
    "Produce": {"acks": 1, "timeout_ms": 1000},
    "Fetch": {"topics": [{**_TOPIC, "partitions": [{"partition": 0, "partition_max_bytes": 99}]}]},
    "ListOffsets": {
        "replica_id": -1,
        "topics": [{**_TOPIC, "partitions": [{"partition_index": 0, "timestamp": -1}]}],
    },
    # Up to v3 a topic that is asked for is created: none is, which means all in v0.
    "Metadata": {"topics": [], "allow_auto_topic_creation": False},
    "ControlledShutdown": _STALE,
    "OffsetCommit": {
        **_MEMBER,
        "generation_id_or_member_epoch": 5,
        "topics": [{**_TOPIC, "partitions": [{"partition_index": 0, "committed_offset": 1}]}],
    },
    "OffsetFetch": {
        "group_id": ABSENT,
        "topics": [{**_TOPIC, **_INDEXES}],
        "groups": [{"group_id": ABSENT, "topics": [{**_TOPIC, **_INDEXES}]}],
    },
    "FindCoordinator": {"key": ABSENT, "coordinator_keys": [ABSENT]},
    "JoinGroup": {
        **_MEMBER,
        "session_timeout_ms": 10_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range"}],
    },
    "Heartbeat": _MEMBER,
    "LeaveGroup": {**_MEMBER, "members": [{"member_id": ABSENT_MEMBER}]},
    "SyncGroup": {**_MEMBER, "protocol_type": "consumer", "protocol_name": "range"},
    "DescribeGroups": {"groups": [ABSENT]},
    "ListGroups": {"states_filter": ["Empty"], "types_filter": ["classic"]},
    "SaslHandshake": {"mechanism": "NONE"},
    "ApiVersions": {"client_software_name": ABSENT, "client_software_version": "1"},
    "CreateTopics": {"timeout_ms": 1000, "validate_only": True},
    "DeleteTopics": {"topics": [{"name": ABSENT}], "topic_names": [ABSENT], "timeout_ms": 1000},
    "DeleteRecords": {
        "topics": [{**_TOPIC, "partitions": [{"partition_index": 0}]}],
        "timeout_ms": 1000,
    },
    "InitProducerId": {"transactional_id": None, "transaction_timeout_ms": 60_000},
    "OffsetForLeaderEpoch": {"topics": [{**_TOPIC, "partitions": [{"partition": 0}]}]},
    "AddPartitionsToTxn": {
        "transactions": [
            {"transactional_id": ABSENT, **_PRODUCER, "topics": [{**_TOPIC, **_INDEXES}]}
        ],
        "v3_and_below_transactional_id": ABSENT,
        "v3_and_below_producer_id": 1 << 40,
        "v3_and_below_topics": [{**_TOPIC, **_INDEXES}],
    },
    "AddOffsetsToTxn": {"transactional_id": ABSENT, "group_id": ABSENT, **_PRODUCER},
    "EndTxn": {"transactional_id": ABSENT, **_PRODUCER},
    "WriteTxnMarkers": {"markers": [{**_PRODUCER, "topics": [{**_TOPIC, **_INDEXES}]}]},
    "TxnOffsetCommit": {
        "transactional_id": ABSENT,
        "group_id": ABSENT,
        **_PRODUCER,
        "topics": [{**_TOPIC, "partitions": [{"partition_index": 0, "committed_offset": 1}]}],
    },
    "DescribeAcls": _ANY_ACL,
    "CreateAcls": {},
    "DeleteAcls": {},
    "DescribeConfigs": {"resources": [{"resource_type": 2, "resource_name": ABSENT}]},
    "AlterConfigs": {
        "resources": [{"resource_type": 2, "resource_name": ABSENT}],
        "validate_only": True,
    },
    "AlterReplicaLogDirs": {"dirs": [{"path": f"/{ABSENT}", "topics": [{**_TOPIC, **_INDEXES}]}]},
    "DescribeLogDirs": {"topics": [{**_TOPIC, **_INDEXES}]},
    "SaslAuthenticate": {},
    "CreatePartitions": {
        "topics": [{"name": ABSENT, "count": 2, "assignments": None}],
        "timeout_ms": 1000,
        "validate_only": True,
    },
    "RenewDelegationToken": {"hmac": ABSENT.encode(), "renew_period_ms": 1},
    "ExpireDelegationToken": {"hmac": ABSENT.encode(), "expiry_time_period_ms": 1},
    "DescribeDelegationToken": {"owners": [{"principal_type": "User", "principal_name": ABSENT}]},
    "DeleteGroups": {"groups_names": [ABSENT]},
    "ElectLeaders": {"topic_partitions": [{**_TOPIC, **_INDEXES}], "timeout_ms": 1000},
    "IncrementalAlterConfigs": {
        "resources": [{"resource_type": 2, "resource_name": ABSENT}],
        "validate_only": True,
    },
    "AlterPartitionReassignments": {
        "timeout_ms": 1000,
        "topics": [{"name": ABSENT, "partitions": [{"partition_index": 0, "replicas": None}]}],
    },
    "ListPartitionReassignments": {"timeout_ms": 1000, "topics": [{**_TOPIC, **_INDEXES}]},
    "OffsetDelete": {
        "group_id": ABSENT,
        "topics": [{**_TOPIC, "partitions": [{"partition_index": 0}]}],
    },
    "DescribeClientQuotas": {
        "components": [{"entity_type": "user", "match_type": 0, "match": ABSENT}],
        "strict": True,
    },
    "AlterClientQuotas": {"validate_only": True},
    "DescribeUserScramCredentials": {"users": [{"name": ABSENT}]},
    "AlterUserScramCredentials": {"deletions": [{"name": ABSENT, "mechanism": 1}]},
    "Vote": {"cluster_id": OTHER_CLUSTER, "topics": _QUORUM},
    "BeginQuorumEpoch": {"cluster_id": OTHER_CLUSTER, "topics": _QUORUM},
    "EndQuorumEpoch": {"cluster_id": OTHER_CLUSTER, "topics": _QUORUM},
    "DescribeQuorum": {"topics": _QUORUM},
    "AlterPartition": _STALE,
    "UpdateFeatures": {
        "timeout_ms": 1000,
        "feature_updates": [{"feature": ABSENT, "max_version_level": 1}],
        "validate_only": True,
    },
    "FetchSnapshot": {"cluster_id": OTHER_CLUSTER},
    "DescribeCluster": {},
    "DescribeProducers": {"topics": [{**_TOPIC, **_INDEXES}]},
    "BrokerRegistration": {"broker_id": ABSENT_NODE, "cluster_id": OTHER_CLUSTER},
    "BrokerHeartbeat": _STALE,
    "UnregisterBroker": {"broker_id": ABSENT_NODE},
    "DescribeTransactions": {"transactional_ids": [ABSENT]},
    "ListTransactions": {"producer_id_filters": [1 << 40]},
    "AllocateProducerIds": _STALE,
    "ConsumerGroupHeartbeat": _MEMBER,
    "ConsumerGroupDescribe": {"group_ids": [ABSENT]},
    "GetTelemetrySubscriptions": {"client_instance_id": ABSENT_TOPIC_ID},
    "AssignReplicasToDirs": _STALE,
    "ListConfigResources": {},
    "DescribeTopicPartitions": {"topics": [{"name": ABSENT}]},
    "ShareGroupHeartbeat": _MEMBER,
    "ShareGroupDescribe": {"group_ids": [ABSENT]},
    "ShareFetch": {**_MEMBER, "share_session_epoch": 5},
    "ShareAcknowledge": {**_MEMBER, "share_session_epoch": 5},
    "AddRaftVoter": {"cluster_id": OTHER_CLUSTER, "timeout_ms": 1000, "voter_id": ABSENT_NODE},
    "RemoveRaftVoter": {"cluster_id": OTHER_CLUSTER, "voter_id": ABSENT_NODE},
    "UpdateRaftVoter": {"cluster_id": OTHER_CLUSTER, "voter_id": ABSENT_NODE},
    "InitializeShareGroupState": {"group_id": ABSENT},
    "ReadShareGroupState": {"group_id": ABSENT},
    "WriteShareGroupState": {"group_id": ABSENT},
    "DeleteShareGroupState": {"group_id": ABSENT},
    "ReadShareGroupStateSummary": {"group_id": ABSENT},
    "StreamsGroupHeartbeat": _MEMBER,
    "StreamsGroupDescribe": {"group_ids": [ABSENT]},
    "DescribeShareGroupOffsets": {"groups": [{"group_id": ABSENT, "topics": None}]},
    "AlterShareGroupOffsets": {"group_id": ABSENT},
    "DeleteShareGroupOffsets": {"group_id": ABSENT},
    "StreamsGroupTopologyDescriptionUpdate": {**_MEMBER, "topology_epoch": 5},
    "UnregisterController": {"controller_id": ABSENT_NODE},
}

UNSAFE_APIS = {
    "LeaderAndIsr": "it changes what a broker leads",
    "StopReplica": "it takes replicas from a broker",
    "UpdateMetadata": "it changes what a broker knows",
    "CreateDelegationToken": "it creates a token where tokens are configured",
    "Envelope": "it carries another request in the name of a principal",
    "ControllerRegistration": "it is written to the metadata log",
    "PushTelemetry": "it is handed to whatever gathers metrics",
}
"""APIs that are not asked, and why."""


def safe_request(key: int, version: int) -> Request | None:
    """Return a request for a version of an API; None if no request for it is safe."""
    content = _FIELDS.get(api_name(key))
    if content is None:
        return None
    body: Request = msgspec.convert(content, request(key), strict=True)
    return of_version(body, version)


def first_request(versions: NodeApiVersions) -> tuple[Request, int]:
    """Return a read-only request other than ApiVersions. Raises Skipped if none is offered."""
    for name in _READ_ONLY:
        key = api_key(name)
        offered = versions.api_versions.get(key)
        known = [version for version in request(key).versions if offered and version in offered]
        body = safe_request(key, known[-1]) if known else None
        if body is not None:
            return body, known[-1]
    raise Skipped(f"the server offers none of {', '.join(_READ_ONLY)}")
