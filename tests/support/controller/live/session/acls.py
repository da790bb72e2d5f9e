"""Requests about ACLs, and requests of those who may not send them, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Request
from kwire.controller.handlers.registry import HANDLERS
from kwire.controller.raft import API_KEYS
from kwire.errors import EncodeError
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.a30_create_acls import AclCreation, CreateAclsRequest
from kwire.messages.a31_delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.a37_create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.access_control import CLUSTER_NAME, AclOperation, AclResourceType, PatternType
from kwire.messages.registry import api_name, request

ALICE, MALLORY = "User:alice", "User:mallory"
DISTANT = "10.1.2.3"
"""An address that an ACL denies."""

TYPES = {"topic": 2, "broker": 4, "logger": 8, "metrics": 16, "group": 32}


def creation(operation: int, name: str = "t", **changes: Any) -> AclCreation:
    """An ACL that allows alice an operation on a topic."""
    return AclCreation(
        resource_type=AclResourceType.TOPIC,
        resource_name=name,
        resource_pattern_type=PatternType.LITERAL,
        principal=ALICE,
        host="*",
        operation=operation,
        permission_type=3,
    ).replace(**changes)


def wanted(**changes: Any) -> DeleteAclsFilter:
    """A filter that matches everything."""
    return DeleteAclsFilter(
        resource_type_filter=1,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    ).replace(**changes)


def described(**changes: Any) -> DescribeAclsRequest:
    """Ask for every ACL."""
    return DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    ).replace(**changes)


def _topics(*names: str) -> CreateTopicsRequest:
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    return CreateTopicsRequest(topics=topics, timeout_ms=10_000)


def _deletion(*states: DeleteTopicState) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=list(states), timeout_ms=10_000)


def _growth(*names: str) -> CreatePartitionsRequest:
    topics = [CreatePartitionsTopic(name=name, count=2, assignments=None) for name in names]
    return CreatePartitionsRequest(topics=topics, timeout_ms=10_000)


def _alteration(type: int, name: str, key: str, value: str) -> IncrementalAlterConfigsRequest:
    config = AlterableConfig(name=key, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=type, resource_name=name, configs=[config])
    return IncrementalAlterConfigsRequest(resources=[resource])


def _description(*resources: tuple[int, str]) -> DescribeConfigsRequest:
    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=type, resource_name=name, configuration_keys=("retention.ms",)
            )
            for type, name in resources
        ]
    )


_KEYS = {
    "topic": ("t", "retention.ms", "1000"),
    "broker": ("3000", "max.connections", "10"),
    "logger": ("3000", "kafka", "INFO"),
    "metrics": ("m", "interval.ms", "1000"),
    "group": ("g", "consumer.session.timeout.ms", "45000"),
}

REQUESTS: Mapping[str, Request] = {
    "CreateTopics": _topics("a", "b", "b", "__cluster_metadata"),
    "DeleteTopics": _deletion(
        DeleteTopicState(name="a"),
        DeleteTopicState(topic_id=UUID(int=5)),
        DeleteTopicState(),
    ),
    "CreatePartitions": _growth("a", "b", "b"),
    "ElectLeaders": ElectLeadersRequest(
        topic_partitions=[TopicPartitions(topic="a", partitions=(0, 1))]
    ),
    "CreateAcls": CreateAclsRequest(creations=[creation(3), creation(4)]),
    "DeleteAcls": DeleteAclsRequest(filters=[wanted(), wanted(operation=3)]),
    "DescribeAcls": described(),
    "DescribeCluster": DescribeClusterRequest(
        endpoint_type=2, include_cluster_authorized_operations=True
    ),
    "UpdateFeatures": UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(feature="metadata.version", max_version_level=7, upgrade_type=1)
        ]
    ),
    "DescribeConfigs": _description(*((TYPES[type], _KEYS[type][0]) for type in _KEYS)),
    **{
        f"IncrementalAlterConfigs of a {type}": _alteration(TYPES[type], *_KEYS[type])
        for type in _KEYS
    },
}
"""Requests that say more than an empty one."""


def every_request() -> dict[str, tuple[Request, int]]:
    """Return a request of each API that needs anything, at its lowest and highest version."""
    found: dict[str, tuple[Request, int]] = {}
    named = {name.split()[0] for name in REQUESTS}
    empty = {
        api_name(key): request(key)()
        for key in sorted({*HANDLERS, *API_KEYS, EnvelopeRequest.key or 0})
        if api_name(key) not in named
    }
    for name, asked in {**empty, **REQUESTS}.items():
        key = type(asked).key or 0
        versions = HANDLERS[key].versions if key in HANDLERS else type(asked).versions
        # raft's fetches have topic ids, and directories from 17 on (KIP-853)
        first = 17 if name == "Fetch" else versions.first
        able = [v for v in versions if v >= first and _can_be_sent(asked, v)]
        for version in sorted({able[0], able[-1]}):
            found[f"{name} v{version}"] = asked, version
    return found


def _can_be_sent(asked: Request, version: int) -> bool:
    try:
        asked.encode(version)
    except EncodeError:
        return False
    return True


_CLUSTER = {"resource_type": AclResourceType.CLUSTER}
_WRONG_CREATIONS: Mapping[str, AclCreation] = {
    "a cluster of another name": creation(3, "c", **_CLUSTER),
    "no name": creation(3, ""),
    "type 99": creation(3, resource_type=99),
    "pattern 99": creation(3, resource_pattern_type=99),
    "operation 99": creation(99),
    "permission 99": creation(3, permission_type=99),
    "type ANY": creation(3, resource_type=1),
    "pattern ANY": creation(3, resource_pattern_type=1),
    "pattern MATCH": creation(3, resource_pattern_type=2),
    "operation ANY": creation(1),
    "permission ANY": creation(3, permission_type=1),
    "type UNKNOWN": creation(3, resource_type=0),
    "operation UNKNOWN": creation(0),
    "a principal without a colon": creation(3, principal="nobody"),
    "a principal without a name": creation(3, principal="User:"),
    "a principal without a type": creation(3, principal=":nobody"),
    "no principal": creation(3, principal=""),
}

GRANTS = (
    creation(AclOperation.DELETE, "deletable"),
    creation(AclOperation.DESCRIBE, "describable"),
    creation(AclOperation.DESCRIBE, "unknown"),
    creation(AclOperation.CREATE, "new"),
    creation(AclOperation.CREATE, "shown", resource_pattern_type=PatternType.PREFIXED),
    creation(AclOperation.DESCRIBE_CONFIGS, "shown"),
    creation(AclOperation.ALTER, "describable"),
    creation(AclOperation.ALTER_CONFIGS, "describable"),
    creation(AclOperation.ALTER_CONFIGS, "g", resource_type=AclResourceType.GROUP),
    creation(AclOperation.DESCRIBE, CLUSTER_NAME, **_CLUSTER),
    creation(AclOperation.ALTER, CLUSTER_NAME, **_CLUSTER, host="127.0.0.1"),
    creation(AclOperation.ALL, "*", host=DISTANT, principal="User:*", permission_type=2),
)
"""The rights of alice; from DISTANT all are denied every topic."""

OF_ACLS: Mapping[str, Request] = {
    "CreateAcls twice the same": CreateAclsRequest(creations=[creation(3), creation(3)]),
    "CreateAcls once more": CreateAclsRequest(creations=[creation(3)]),
    **{
        f"CreateAcls with {name}": CreateAclsRequest(creations=[creation(3, "u"), wrong])
        for name, wrong in _WRONG_CREATIONS.items()
    },
    "CreateAcls alice's": CreateAclsRequest(creations=list(GRANTS)),
    "CreateAcls of none": CreateAclsRequest(),
    **{
        f"DescribeAcls {' '.join(f'{name} {value}' for name, value in filter.items())}": described(
            **filter
        )
        for filter in (
            {},
            {"resource_type_filter": 2},
            {"resource_type_filter": 99},
            {"resource_type_filter": 0},
            {"resource_name_filter": "shown"},
            {"resource_name_filter": "shown", "pattern_type_filter": 2},
            {"resource_name_filter": "shown", "pattern_type_filter": 4},
            {"resource_name_filter": "shown too", "pattern_type_filter": 2},
            {"pattern_type_filter": 99},
            {"principal_filter": ALICE},
            {"principal_filter": "User:*"},
            {"host_filter": DISTANT},
            {"operation": 7},
            {"operation": 99},
            {"permission_type": 2},
            {"permission_type": 99},
        )
    },
    "DeleteAcls of none": DeleteAclsRequest(),
    "DeleteAcls some": DeleteAclsRequest(
        filters=[
            wanted(resource_name_filter="t"),
            wanted(resource_name_filter="t"),
            wanted(resource_name_filter="u", pattern_type_filter=2, operation=3),
            wanted(resource_name_filter="absent"),
            wanted(resource_type_filter=99),
            wanted(pattern_type_filter=99),
            wanted(operation=99),
            wanted(permission_type=99),
        ]
    ),
    "DeleteAcls UNKNOWN": DeleteAclsRequest(filters=[wanted(operation=0)]),
    "DescribeAcls that are left": described(),
    "CreateTopics": _topics("deletable", "describable", "hidden"),
    "CreateAcls with no host": CreateAclsRequest(creations=[creation(3, host="")]),
    "CreateAcls with a range": CreateAclsRequest(creations=[creation(3, host="10.0.0.0/8")]),
    **{
        f"CreateAcls with the range {host}": CreateAclsRequest(creations=[creation(3, host=host)])
        for host in ("10.0.0.0/99", "10.0.0.1/32", "010.0.0.0/8", "10.0.0.0/", "/8", "::/0", "a/b")
    },
}
"""As the super user, in this order."""

FORWARDED: Mapping[str, Request] = {
    "CreateTopics": _topics("new", "shown", "shown too", "other", "new.1", "__cluster_metadata"),
    "CreatePartitions": _growth("describable", "hidden", "unknown"),
    "DescribeConfigs": _description((2, "shown"), (2, "describable"), (2, "hidden"), (32, "g")),
    "IncrementalAlterConfigs": _alteration(2, "describable", "retention.ms", "5000"),
    "IncrementalAlterConfigs of another": _alteration(2, "hidden", "retention.ms", "5000"),
    "IncrementalAlterConfigs of a group": _alteration(
        32, "g", "consumer.session.timeout.ms", "46000"
    ),
    "IncrementalAlterConfigs of another group": _alteration(
        32, "h", "consumer.session.timeout.ms", "46000"
    ),
    "IncrementalAlterConfigs of brokers": _alteration(4, "", "max.connections", "10"),
    "IncrementalAlterConfigs of metrics": _alteration(16, "m", "interval.ms", "1000"),
    "ElectLeaders": ElectLeadersRequest(topic_partitions=None),
    "ListPartitionReassignments": request(46)(),
    "DescribeAcls": described(),
    "CreateAcls": CreateAclsRequest(creations=[creation(3, "more")]),
    "DeleteAcls": DeleteAclsRequest(filters=[wanted(resource_name_filter="more")]),
    "UnregisterBroker": request(64)().replace(broker_id=77),
    "AllocateProducerIds": request(67)(),
    "AddRaftVoter": request(80)().replace(cluster_id="another", voter_id=9),
    "DeleteTopics": _deletion(
        *(
            DeleteTopicState(name=name)
            for name in ("deletable", "describable", "hidden", "unknown", "absent")
        )
    ),
}
"""In Envelopes of a broker: as alice, as alice from DISTANT, as mallory, who has no rights."""
