"""Every admin operation, one row each: the single truth about whom it asks and what it may do.

Java's `org.apache.kafka.clients.admin.Admin` (4.4) is the list; KIP-919 says which of them
controllers take. The tables of docs/reference/admin.md, the bootstrap options of the commands, the
read-only check and the compatibility matrix are made from these rows. Nothing heavy is imported
here, so that a command can show its help without loading messages.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from enum import Enum


class Route(Enum):
    """The node that an operation, or one key of it, is sent to."""

    ANY_NODE = "any broker, or the active controller"
    CONTROLLER = "active controller"
    NODE = "the node of that id"
    RESOURCE = "the node that a resource names, else any"
    LEADER = "partition leader"
    GROUP = "group coordinator"
    TRANSACTION = "transaction coordinator"
    EVERY_BROKER = "every broker"


class Reach(Enum):
    """The willingness of controllers to answer an operation that comes straight to them."""

    LISTED = "listed by KIP-919 or a later KIP"
    UNLISTED = "served, though not listed"
    OBSERVED = "read from the metadata log"
    NEVER = "not served"


@dataclass(frozen=True, slots=True)
class OperationRow:
    """The facts about one operation.

    name: the function in the module of its theme and the method of AdminClient; in capitals the
    Operation.
    key: the noun of what succeeds or fails separately; "" if the operation is one whole.
    changes: True if it changes the cluster. repeatable: True if sending it twice does no harm.
    other_apis, other_java: the APIs, and the methods of Java's Admin, where they have another name.
    tool: Kafka's tool for it, "" if there is none. command: kwire's, without `kwire`.
    """

    name: str
    route: Route
    reach: Reach = Reach.NEVER
    _: KW_ONLY
    key: str = ""
    changes: bool = False
    repeatable: bool = True
    other_apis: tuple[str, ...] = ()
    other_java: tuple[str, ...] = ()
    tool: str = ""
    command: str = ""

    @property
    def apis(self) -> tuple[str, ...]:
        """The name of the API that is asked, then of those that older nodes are asked instead."""
        return self.other_apis or (self.name.title().replace("_", ""),)

    @property
    def java(self) -> tuple[str, ...]:
        """The names of the methods of Java's Admin."""
        words = self.name.title().replace("_", "")
        return self.other_java or (words[0].lower() + words[1:],)

    @property
    def api(self) -> str:
        """The name of the API that is asked first."""
        return self.apis[0]


# fmt: off
# The lines of a row: how it is asked; names of APIs and of Java that differ; tool and command.

# --- topics ---------------------------------------------------------------------------------------

CREATE_TOPICS = OperationRow(
    "create_topics", Route.CONTROLLER, Reach.UNLISTED, key="topic", changes=True, repeatable=False,
    tool="kafka-topics --create", command="topics create",
)
DELETE_TOPICS = OperationRow(
    "delete_topics", Route.CONTROLLER, Reach.UNLISTED, key="topic", changes=True, repeatable=False,
    tool="kafka-topics --delete", command="topics delete",
)
LIST_TOPICS = OperationRow(
    "list_topics", Route.ANY_NODE, Reach.OBSERVED,
    other_apis=("Metadata",),
    tool="kafka-topics --list", command="topics list",
)
DESCRIBE_TOPICS = OperationRow(
    "describe_topics", Route.ANY_NODE, Reach.OBSERVED, key="topic",
    other_apis=("DescribeTopicPartitions", "Metadata"),
    tool="kafka-topics --describe", command="topics describe",
)
CREATE_PARTITIONS = OperationRow(
    "create_partitions", Route.CONTROLLER, Reach.UNLISTED,
    key="topic", changes=True, repeatable=False,
    tool="kafka-topics --alter --partitions", command="topics grow",
)

# --- partitions -----------------------------------------------------------------------------------

DELETE_RECORDS = OperationRow(
    "delete_records", Route.LEADER, key="partition", changes=True,
    tool="kafka-delete-records", command="partitions trim",
)
LIST_OFFSETS = OperationRow(
    "list_offsets", Route.LEADER, key="partition",
    tool="kafka-get-offsets", command="partitions offsets",
)
ELECT_LEADERS = OperationRow(
    "elect_leaders", Route.CONTROLLER, Reach.LISTED, key="partition", changes=True,
    tool="kafka-leader-election", command="partitions elect",
)
ALTER_PARTITION_REASSIGNMENTS = OperationRow(
    "alter_partition_reassignments", Route.CONTROLLER, Reach.LISTED, key="partition", changes=True,
    tool="kafka-reassign-partitions --execute", command="partitions reassign apply",
)
LIST_PARTITION_REASSIGNMENTS = OperationRow(
    "list_partition_reassignments", Route.CONTROLLER, Reach.LISTED,
    tool="kafka-reassign-partitions --list", command="partitions reassignments",
)

# --- configs --------------------------------------------------------------------------------------

DESCRIBE_CONFIGS = OperationRow(
    "describe_configs", Route.RESOURCE, Reach.LISTED, key="resource",
    tool="kafka-configs --describe", command="configs describe",
)
INCREMENTAL_ALTER_CONFIGS = OperationRow(
    "incremental_alter_configs", Route.RESOURCE, Reach.LISTED, key="resource", changes=True,
    tool="kafka-configs --alter", command="configs set",
)
LIST_CONFIG_RESOURCES = OperationRow(
    "list_config_resources", Route.ANY_NODE, Reach.OBSERVED,
    other_java=("listConfigResources", "listClientMetricsResources"),
    tool="kafka-configs --describe, kafka-client-metrics --list", command="configs list",
)

# --- groups ---------------------------------------------------------------------------------------

LIST_GROUPS = OperationRow(
    "list_groups", Route.EVERY_BROKER, key="broker",
    other_java=("listGroups", "listConsumerGroups"),
    tool="kafka-groups --list", command="groups list",
)
DESCRIBE_CLASSIC_GROUPS = OperationRow(
    "describe_classic_groups", Route.GROUP, key="group",
    other_apis=("DescribeGroups",),
    tool="kafka-consumer-groups --describe", command="groups describe",
)
DESCRIBE_CONSUMER_GROUPS = OperationRow(
    "describe_consumer_groups", Route.GROUP, key="group",
    other_apis=("ConsumerGroupDescribe", "DescribeGroups"),
    tool="kafka-consumer-groups --describe", command="groups describe",
)
DESCRIBE_SHARE_GROUPS = OperationRow(
    "describe_share_groups", Route.GROUP, key="group",
    other_apis=("ShareGroupDescribe",),
    tool="kafka-share-groups --describe", command="groups describe",
)
DESCRIBE_STREAMS_GROUPS = OperationRow(
    "describe_streams_groups", Route.GROUP, key="group",
    other_apis=("StreamsGroupDescribe",),
    tool="kafka-streams-groups --describe", command="groups describe",
)
LIST_GROUP_OFFSETS = OperationRow(
    "list_group_offsets", Route.GROUP, key="group",
    other_apis=("OffsetFetch",), other_java=("listConsumerGroupOffsets", "listStreamsGroupOffsets"),
    tool="kafka-consumer-groups --describe --offsets", command="groups offsets",
)
ALTER_GROUP_OFFSETS = OperationRow(
    "alter_group_offsets", Route.GROUP, key="partition", changes=True,
    other_apis=("OffsetCommit",),
    other_java=("alterConsumerGroupOffsets", "alterStreamsGroupOffsets"),
    tool="kafka-consumer-groups --reset-offsets", command="groups seek",
)
DELETE_GROUP_OFFSETS = OperationRow(
    "delete_group_offsets", Route.GROUP, key="partition", changes=True,
    other_apis=("OffsetDelete",),
    other_java=("deleteConsumerGroupOffsets", "deleteStreamsGroupOffsets"),
    tool="kafka-consumer-groups --delete-offsets", command="groups forget",
)
LIST_SHARE_GROUP_OFFSETS = OperationRow(
    "list_share_group_offsets", Route.GROUP, key="group",
    other_apis=("DescribeShareGroupOffsets",),
    tool="kafka-share-groups --describe --offsets", command="groups offsets",
)
ALTER_SHARE_GROUP_OFFSETS = OperationRow(
    "alter_share_group_offsets", Route.GROUP, key="partition", changes=True,
    tool="kafka-share-groups --reset-offsets", command="groups seek",
)
DELETE_SHARE_GROUP_OFFSETS = OperationRow(
    "delete_share_group_offsets", Route.GROUP, key="topic", changes=True,
    tool="kafka-share-groups --delete-offsets", command="groups forget",
)
DELETE_GROUPS = OperationRow(
    "delete_groups", Route.GROUP, key="group", changes=True, repeatable=False,
    other_java=("deleteConsumerGroups", "deleteShareGroups", "deleteStreamsGroups"),
    tool="kafka-consumer-groups --delete", command="groups delete",
)
REMOVE_GROUP_MEMBERS = OperationRow(
    "remove_group_members", Route.GROUP, key="member", changes=True,
    other_apis=("LeaveGroup",), other_java=("removeMembersFromConsumerGroup",),
    command="groups evict",
)

# --- transactions ---------------------------------------------------------------------------------

DESCRIBE_PRODUCERS = OperationRow(
    "describe_producers", Route.LEADER, key="partition",
    tool="kafka-transactions describe-producers", command="transactions producers",
)
DESCRIBE_TRANSACTIONS = OperationRow(
    "describe_transactions", Route.TRANSACTION, key="transactional id",
    tool="kafka-transactions describe", command="transactions describe",
)
LIST_TRANSACTIONS = OperationRow(
    "list_transactions", Route.EVERY_BROKER, key="broker",
    tool="kafka-transactions list", command="transactions list",
)
ABORT_TRANSACTION = OperationRow(
    "abort_transaction", Route.LEADER, key="partition", changes=True,
    other_apis=("WriteTxnMarkers",),
    tool="kafka-transactions abort", command="transactions abort",
)
FENCE_PRODUCERS = OperationRow(
    "fence_producers", Route.TRANSACTION, key="transactional id", changes=True,
    other_apis=("InitProducerId",),
    command="transactions fence",
)
FORCE_TERMINATE_TRANSACTION = OperationRow(
    "force_terminate_transaction", Route.TRANSACTION, key="transactional id", changes=True,
    other_apis=("InitProducerId",),
    tool="kafka-transactions force-terminate", command="transactions terminate",
)

# --- acls, quotas, scram, tokens ------------------------------------------------------------------

DESCRIBE_ACLS = OperationRow(
    "describe_acls", Route.ANY_NODE, Reach.LISTED,
    tool="kafka-acls --list", command="acls list",
)
CREATE_ACLS = OperationRow(
    "create_acls", Route.ANY_NODE, Reach.LISTED, key="ACL", changes=True,
    tool="kafka-acls --add", command="acls add",
)
DELETE_ACLS = OperationRow(
    "delete_acls", Route.ANY_NODE, Reach.LISTED, key="filter", changes=True,
    tool="kafka-acls --remove", command="acls remove",
)
DESCRIBE_CLIENT_QUOTAS = OperationRow(
    "describe_client_quotas", Route.ANY_NODE, Reach.OBSERVED,
    tool="kafka-configs --describe --entity-type users|clients|ips", command="quotas list",
)
ALTER_CLIENT_QUOTAS = OperationRow(
    "alter_client_quotas", Route.ANY_NODE, Reach.LISTED, key="entity", changes=True,
    tool="kafka-configs --alter --entity-type users|clients|ips", command="quotas set",
)
DESCRIBE_USER_SCRAM_CREDENTIALS = OperationRow(
    "describe_user_scram_credentials", Route.ANY_NODE, Reach.OBSERVED, key="user",
    tool="kafka-configs --describe --entity-type users", command="scram list",
)
ALTER_USER_SCRAM_CREDENTIALS = OperationRow(
    "alter_user_scram_credentials", Route.CONTROLLER, Reach.UNLISTED, key="user", changes=True,
    tool="kafka-configs --alter --add-config SCRAM-SHA-…", command="scram set",
)
CREATE_DELEGATION_TOKEN = OperationRow(
    "create_delegation_token", Route.ANY_NODE, Reach.UNLISTED, changes=True, repeatable=False,
    tool="kafka-delegation-tokens --create", command="tokens create",
)
RENEW_DELEGATION_TOKEN = OperationRow(
    "renew_delegation_token", Route.ANY_NODE, Reach.UNLISTED, changes=True,
    tool="kafka-delegation-tokens --renew", command="tokens renew",
)
EXPIRE_DELEGATION_TOKEN = OperationRow(
    "expire_delegation_token", Route.ANY_NODE, Reach.UNLISTED, changes=True,
    tool="kafka-delegation-tokens --expire", command="tokens expire",
)
DESCRIBE_DELEGATION_TOKEN = OperationRow(
    "describe_delegation_token", Route.ANY_NODE, Reach.OBSERVED,
    tool="kafka-delegation-tokens --describe", command="tokens list",
)

# --- log directories ------------------------------------------------------------------------------

DESCRIBE_LOG_DIRS = OperationRow(
    "describe_log_dirs", Route.NODE, key="broker",
    tool="kafka-log-dirs --describe", command="logdirs describe",
)
DESCRIBE_REPLICA_LOG_DIRS = OperationRow(
    "describe_replica_log_dirs", Route.NODE, key="replica",
    other_apis=("DescribeLogDirs",),
    command="logdirs replicas",
)
ALTER_REPLICA_LOG_DIRS = OperationRow(
    "alter_replica_log_dirs", Route.NODE, key="replica", changes=True,
    tool="kafka-reassign-partitions --execute with log_dirs", command="logdirs move",
)

# --- cluster and brokers, features, quorum --------------------------------------------------------

DESCRIBE_CLUSTER = OperationRow(
    "describe_cluster", Route.ANY_NODE, Reach.LISTED,
    other_apis=("DescribeCluster", "Metadata"),
    tool="kafka-cluster", command="cluster describe",
)
UNREGISTER_BROKER = OperationRow(
    "unregister_broker", Route.ANY_NODE, Reach.LISTED, changes=True,
    tool="kafka-cluster unregister", command="brokers unregister",
)
UNREGISTER_CONTROLLER = OperationRow(
    "unregister_controller", Route.ANY_NODE, Reach.LISTED, changes=True,
    tool="kafka-cluster unregister-controller", command="quorum forget",
)
DESCRIBE_FEATURES = OperationRow(
    "describe_features", Route.ANY_NODE, Reach.LISTED,
    other_apis=("ApiVersions",),
    tool="kafka-features describe", command="features describe",
)
UPDATE_FEATURES = OperationRow(
    "update_features", Route.CONTROLLER, Reach.LISTED, key="feature", changes=True,
    tool="kafka-features upgrade", command="features upgrade",
)
DESCRIBE_METADATA_QUORUM = OperationRow(
    "describe_metadata_quorum", Route.ANY_NODE, Reach.LISTED,
    other_apis=("DescribeQuorum",),
    tool="kafka-metadata-quorum describe --status", command="quorum status",
)
ADD_RAFT_VOTER = OperationRow(
    "add_raft_voter", Route.ANY_NODE, Reach.LISTED, changes=True, repeatable=False,
    tool="kafka-metadata-quorum add-controller", command="quorum add-controller",
)
REMOVE_RAFT_VOTER = OperationRow(
    "remove_raft_voter", Route.ANY_NODE, Reach.LISTED, changes=True, repeatable=False,
    tool="kafka-metadata-quorum remove-controller", command="quorum remove-controller",
)
# fmt: on

OPERATIONS: tuple[OperationRow, ...] = tuple(
    value for value in list(vars().values()) if isinstance(value, OperationRow)
)
"""Every row, in the order of this file."""
