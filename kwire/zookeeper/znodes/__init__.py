"""Everything that Kafka 3.9 keeps in ZooKeeper, as typed values (kafka.zk.ZkData).

Each kind has `path`, `parse` and `encode`. `encode` returns the bytes that Kafka 3.9 writes, with
the fields in its order; `parse` also reads older versions, and ignores fields it does not know.
"""

from kwire.zookeeper.znodes.acl import AclResource, AclZnode, AclZnodeEntry
from kwire.zookeeper.znodes.acl_change import AclChangeZnode
from kwire.zookeeper.znodes.broker import BrokerEndpoint, BrokerZnode
from kwire.zookeeper.znodes.cluster_id import ClusterIdZnode
from kwire.zookeeper.znodes.config import (
    ConfigChangeZnode,
    ConfigEntityType,
    ConfigZnode,
    entity_name,
    entity_path,
    parse_entity_name,
    user_client_path,
)
from kwire.zookeeper.znodes.controller import ControllerEpochZnode, ControllerZnode
from kwire.zookeeper.znodes.delegation_token import DelegationTokenZnode
from kwire.zookeeper.znodes.feature import FeatureZnode
from kwire.zookeeper.znodes.migration import MigrationZnode
from kwire.zookeeper.znodes.partition_state import PartitionStateZnode
from kwire.zookeeper.znodes.producer_ids import ProducerIdsZnode
from kwire.zookeeper.znodes.sanitized_names import DEFAULT_ENTITY, desanitize, sanitize
from kwire.zookeeper.znodes.scram import ScramText
from kwire.zookeeper.znodes.top_level import (
    DELETE_TOPICS,
    PERSISTENT_PATHS,
    pending_deletion_path,
    with_parents,
)
from kwire.zookeeper.znodes.topic import AssignedReplicas, TopicZnode

__all__ = [
    "DEFAULT_ENTITY",
    "DELETE_TOPICS",
    "PERSISTENT_PATHS",
    "AclChangeZnode",
    "AclResource",
    "AclZnode",
    "AclZnodeEntry",
    "AssignedReplicas",
    "BrokerEndpoint",
    "BrokerZnode",
    "ClusterIdZnode",
    "ConfigChangeZnode",
    "ConfigEntityType",
    "ConfigZnode",
    "ControllerEpochZnode",
    "ControllerZnode",
    "DelegationTokenZnode",
    "FeatureZnode",
    "MigrationZnode",
    "PartitionStateZnode",
    "ProducerIdsZnode",
    "ScramText",
    "TopicZnode",
    "desanitize",
    "entity_name",
    "entity_path",
    "parse_entity_name",
    "pending_deletion_path",
    "sanitize",
    "user_client_path",
    "with_parents",
]
