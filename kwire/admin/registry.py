"""Every admin operation, one row each: the single truth about whom it asks and what it may do.

Java's `org.apache.kafka.clients.admin.Admin` (4.4) is the list; KIP-919 says which of them
controllers take. The tables of docs/admin.md, the bootstrap options of the commands, the read-only
check and the compatibility matrix are made from these rows. Nothing heavy is imported here, so that
a command can show its help without loading messages.
"""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRow:
    """The facts about one operation.

    name: the method of AdminClient, and in capitals the Operation. java: methods of Java's Admin.
    apis: the API that is asked, then those that older nodes are asked instead.
    key: the noun of what succeeds or fails separately; "" if the operation is one whole.
    repeatable: True if sending it twice does no harm. changes: True if it changes the cluster.
    tool: Kafka's tool for it, "" if there is none. command: kwire's, without `kwire`.
    theme: the module of kwire.admin that has it.
    """

    name: str
    java: tuple[str, ...]
    apis: tuple[str, ...]
    theme: str
    route: Route
    reach: Reach = Reach.NEVER
    key: str = ""
    repeatable: bool = True
    changes: bool = False
    tool: str = ""
    command: str = ""

    @property
    def api(self) -> str:
        """The name of the API that is asked first."""
        return self.apis[0]


# --- topics ---------------------------------------------------------------------------------------

CREATE_TOPICS = OperationRow(
    name="create_topics",
    java=("createTopics",),
    apis=("CreateTopics",),
    theme="topics",
    route=Route.CONTROLLER,
    reach=Reach.UNLISTED,
    key="topic",
    repeatable=False,
    changes=True,
    tool="kafka-topics --create",
    command="topics create",
)
DELETE_TOPICS = OperationRow(
    name="delete_topics",
    java=("deleteTopics",),
    apis=("DeleteTopics",),
    theme="topics",
    route=Route.CONTROLLER,
    reach=Reach.UNLISTED,
    key="topic",
    repeatable=False,
    changes=True,
    tool="kafka-topics --delete",
    command="topics delete",
)
LIST_TOPICS = OperationRow(
    name="list_topics",
    java=("listTopics",),
    apis=("Metadata",),
    theme="topics",
    route=Route.ANY_NODE,
    reach=Reach.OBSERVED,
    tool="kafka-topics --list",
    command="topics list",
)
DESCRIBE_TOPICS = OperationRow(
    name="describe_topics",
    java=("describeTopics",),
    apis=("DescribeTopicPartitions", "Metadata"),
    theme="topics",
    route=Route.ANY_NODE,
    reach=Reach.OBSERVED,
    key="topic",
    tool="kafka-topics --describe",
    command="topics describe",
)
CREATE_PARTITIONS = OperationRow(
    name="create_partitions",
    java=("createPartitions",),
    apis=("CreatePartitions",),
    theme="topics",
    route=Route.CONTROLLER,
    reach=Reach.UNLISTED,
    key="topic",
    repeatable=False,
    changes=True,
    tool="kafka-topics --alter --partitions",
    command="topics grow",
)

# --- partitions -----------------------------------------------------------------------------------

DELETE_RECORDS = OperationRow(
    name="delete_records",
    java=("deleteRecords",),
    apis=("DeleteRecords",),
    theme="partitions",
    route=Route.LEADER,
    key="partition",
    changes=True,
    tool="kafka-delete-records",
    command="partitions trim",
)
LIST_OFFSETS = OperationRow(
    name="list_offsets",
    java=("listOffsets",),
    apis=("ListOffsets",),
    theme="partitions",
    route=Route.LEADER,
    key="partition",
    tool="kafka-get-offsets",
    command="partitions offsets",
)
ELECT_LEADERS = OperationRow(
    name="elect_leaders",
    java=("electLeaders",),
    apis=("ElectLeaders",),
    theme="partitions",
    route=Route.CONTROLLER,
    reach=Reach.LISTED,
    key="partition",
    changes=True,
    tool="kafka-leader-election",
    command="partitions elect",
)
ALTER_PARTITION_REASSIGNMENTS = OperationRow(
    name="alter_partition_reassignments",
    java=("alterPartitionReassignments",),
    apis=("AlterPartitionReassignments",),
    theme="reassignments",
    route=Route.CONTROLLER,
    reach=Reach.LISTED,
    key="partition",
    changes=True,
    tool="kafka-reassign-partitions --execute",
    command="partitions reassign apply",
)
LIST_PARTITION_REASSIGNMENTS = OperationRow(
    name="list_partition_reassignments",
    java=("listPartitionReassignments",),
    apis=("ListPartitionReassignments",),
    theme="reassignments",
    route=Route.CONTROLLER,
    reach=Reach.LISTED,
    tool="kafka-reassign-partitions --list",
    command="partitions reassignments",
)

# --- configs --------------------------------------------------------------------------------------

DESCRIBE_CONFIGS = OperationRow(
    name="describe_configs",
    java=("describeConfigs",),
    apis=("DescribeConfigs",),
    theme="configs",
    route=Route.RESOURCE,
    reach=Reach.LISTED,
    key="resource",
    tool="kafka-configs --describe",
    command="configs describe",
)
INCREMENTAL_ALTER_CONFIGS = OperationRow(
    name="incremental_alter_configs",
    java=("incrementalAlterConfigs",),
    apis=("IncrementalAlterConfigs",),
    theme="configs",
    route=Route.RESOURCE,
    reach=Reach.LISTED,
    key="resource",
    changes=True,
    tool="kafka-configs --alter",
    command="configs set",
)
LIST_CONFIG_RESOURCES = OperationRow(
    name="list_config_resources",
    java=("listConfigResources", "listClientMetricsResources"),
    apis=("ListConfigResources",),
    theme="configs",
    route=Route.ANY_NODE,
    tool="kafka-configs --describe, kafka-client-metrics --list",
    command="configs list",
)

# --- groups ---------------------------------------------------------------------------------------

LIST_GROUPS = OperationRow(
    name="list_groups",
    java=("listGroups", "listConsumerGroups"),
    apis=("ListGroups",),
    theme="groups",
    route=Route.EVERY_BROKER,
    key="broker",
    tool="kafka-groups --list",
    command="groups list",
)
DESCRIBE_CLASSIC_GROUPS = OperationRow(
    name="describe_classic_groups",
    java=("describeClassicGroups",),
    apis=("DescribeGroups",),
    theme="groups",
    route=Route.GROUP,
    key="group",
    tool="kafka-consumer-groups --describe",
    command="groups describe",
)
DESCRIBE_CONSUMER_GROUPS = OperationRow(
    name="describe_consumer_groups",
    java=("describeConsumerGroups",),
    apis=("ConsumerGroupDescribe", "DescribeGroups"),
    theme="groups",
    route=Route.GROUP,
    key="group",
    tool="kafka-consumer-groups --describe",
    command="groups describe",
)
DESCRIBE_SHARE_GROUPS = OperationRow(
    name="describe_share_groups",
    java=("describeShareGroups",),
    apis=("ShareGroupDescribe",),
    theme="groups",
    route=Route.GROUP,
    key="group",
    tool="kafka-share-groups --describe",
    command="groups describe",
)
DESCRIBE_STREAMS_GROUPS = OperationRow(
    name="describe_streams_groups",
    java=("describeStreamsGroups",),
    apis=("StreamsGroupDescribe",),
    theme="groups",
    route=Route.GROUP,
    key="group",
    tool="kafka-streams-groups --describe",
    command="groups describe",
)
LIST_GROUP_OFFSETS = OperationRow(
    name="list_group_offsets",
    java=("listConsumerGroupOffsets", "listStreamsGroupOffsets"),
    apis=("OffsetFetch",),
    theme="group_offsets",
    route=Route.GROUP,
    key="group",
    tool="kafka-consumer-groups --describe --offsets",
    command="groups offsets",
)
ALTER_GROUP_OFFSETS = OperationRow(
    name="alter_group_offsets",
    java=("alterConsumerGroupOffsets", "alterStreamsGroupOffsets"),
    apis=("OffsetCommit",),
    theme="group_offsets",
    route=Route.GROUP,
    key="partition",
    changes=True,
    tool="kafka-consumer-groups --reset-offsets",
    command="groups seek",
)
DELETE_GROUP_OFFSETS = OperationRow(
    name="delete_group_offsets",
    java=("deleteConsumerGroupOffsets", "deleteStreamsGroupOffsets"),
    apis=("OffsetDelete",),
    theme="group_offsets",
    route=Route.GROUP,
    key="partition",
    changes=True,
    tool="kafka-consumer-groups --delete-offsets",
    command="groups forget",
)
LIST_SHARE_GROUP_OFFSETS = OperationRow(
    name="list_share_group_offsets",
    java=("listShareGroupOffsets",),
    apis=("DescribeShareGroupOffsets",),
    theme="group_offsets",
    route=Route.GROUP,
    key="group",
    tool="kafka-share-groups --describe --offsets",
    command="groups offsets",
)
ALTER_SHARE_GROUP_OFFSETS = OperationRow(
    name="alter_share_group_offsets",
    java=("alterShareGroupOffsets",),
    apis=("AlterShareGroupOffsets",),
    theme="group_offsets",
    route=Route.GROUP,
    key="partition",
    changes=True,
    tool="kafka-share-groups --reset-offsets",
    command="groups seek",
)
DELETE_SHARE_GROUP_OFFSETS = OperationRow(
    name="delete_share_group_offsets",
    java=("deleteShareGroupOffsets",),
    apis=("DeleteShareGroupOffsets",),
    theme="group_offsets",
    route=Route.GROUP,
    key="topic",
    changes=True,
    tool="kafka-share-groups --delete-offsets",
    command="groups forget",
)
DELETE_GROUPS = OperationRow(
    name="delete_groups",
    java=("deleteConsumerGroups", "deleteShareGroups", "deleteStreamsGroups"),
    apis=("DeleteGroups",),
    theme="groups",
    route=Route.GROUP,
    key="group",
    repeatable=False,
    changes=True,
    tool="kafka-consumer-groups --delete",
    command="groups delete",
)
REMOVE_GROUP_MEMBERS = OperationRow(
    name="remove_group_members",
    java=("removeMembersFromConsumerGroup",),
    apis=("LeaveGroup",),
    theme="groups",
    route=Route.GROUP,
    key="member",
    changes=True,
    command="groups evict",
)

# --- transactions ---------------------------------------------------------------------------------

DESCRIBE_PRODUCERS = OperationRow(
    name="describe_producers",
    java=("describeProducers",),
    apis=("DescribeProducers",),
    theme="producers",
    route=Route.LEADER,
    key="partition",
    tool="kafka-transactions describe-producers",
    command="transactions producers",
)
DESCRIBE_TRANSACTIONS = OperationRow(
    name="describe_transactions",
    java=("describeTransactions",),
    apis=("DescribeTransactions",),
    theme="transactions",
    route=Route.TRANSACTION,
    key="transactional id",
    tool="kafka-transactions describe",
    command="transactions describe",
)
LIST_TRANSACTIONS = OperationRow(
    name="list_transactions",
    java=("listTransactions",),
    apis=("ListTransactions",),
    theme="transactions",
    route=Route.EVERY_BROKER,
    key="broker",
    tool="kafka-transactions list",
    command="transactions list",
)
ABORT_TRANSACTION = OperationRow(
    name="abort_transaction",
    java=("abortTransaction",),
    apis=("WriteTxnMarkers",),
    theme="transactions",
    route=Route.LEADER,
    key="partition",
    changes=True,
    tool="kafka-transactions abort",
    command="transactions abort",
)
FENCE_PRODUCERS = OperationRow(
    name="fence_producers",
    java=("fenceProducers",),
    apis=("InitProducerId",),
    theme="producers",
    route=Route.TRANSACTION,
    key="transactional id",
    changes=True,
    command="transactions fence",
)
FORCE_TERMINATE_TRANSACTION = OperationRow(
    name="force_terminate_transaction",
    java=("forceTerminateTransaction",),
    apis=("InitProducerId",),
    theme="transactions",
    route=Route.TRANSACTION,
    key="transactional id",
    changes=True,
    tool="kafka-transactions force-terminate",
    command="transactions terminate",
)

# --- acls, quotas, scram, tokens ------------------------------------------------------------------

DESCRIBE_ACLS = OperationRow(
    name="describe_acls",
    java=("describeAcls",),
    apis=("DescribeAcls",),
    theme="acls",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    tool="kafka-acls --list",
    command="acls list",
)
CREATE_ACLS = OperationRow(
    name="create_acls",
    java=("createAcls",),
    apis=("CreateAcls",),
    theme="acls",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    key="ACL",
    changes=True,
    tool="kafka-acls --add",
    command="acls add",
)
DELETE_ACLS = OperationRow(
    name="delete_acls",
    java=("deleteAcls",),
    apis=("DeleteAcls",),
    theme="acls",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    key="filter",
    changes=True,
    tool="kafka-acls --remove",
    command="acls remove",
)
DESCRIBE_CLIENT_QUOTAS = OperationRow(
    name="describe_client_quotas",
    java=("describeClientQuotas",),
    apis=("DescribeClientQuotas",),
    theme="quotas",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    tool="kafka-configs --describe --entity-type users|clients|ips",
    command="quotas list",
)
ALTER_CLIENT_QUOTAS = OperationRow(
    name="alter_client_quotas",
    java=("alterClientQuotas",),
    apis=("AlterClientQuotas",),
    theme="quotas",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    key="entity",
    changes=True,
    tool="kafka-configs --alter --entity-type users|clients|ips",
    command="quotas set",
)
DESCRIBE_USER_SCRAM_CREDENTIALS = OperationRow(
    name="describe_user_scram_credentials",
    java=("describeUserScramCredentials",),
    apis=("DescribeUserScramCredentials",),
    theme="scram",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    key="user",
    tool="kafka-configs --describe --entity-type users",
    command="scram list",
)
ALTER_USER_SCRAM_CREDENTIALS = OperationRow(
    name="alter_user_scram_credentials",
    java=("alterUserScramCredentials",),
    apis=("AlterUserScramCredentials",),
    theme="scram",
    route=Route.CONTROLLER,
    reach=Reach.UNLISTED,
    key="user",
    changes=True,
    tool="kafka-configs --alter --add-config SCRAM-SHA-…",
    command="scram set",
)
CREATE_DELEGATION_TOKEN = OperationRow(
    name="create_delegation_token",
    java=("createDelegationToken",),
    apis=("CreateDelegationToken",),
    theme="tokens",
    route=Route.ANY_NODE,
    reach=Reach.UNLISTED,
    repeatable=False,
    changes=True,
    tool="kafka-delegation-tokens --create",
    command="tokens create",
)
RENEW_DELEGATION_TOKEN = OperationRow(
    name="renew_delegation_token",
    java=("renewDelegationToken",),
    apis=("RenewDelegationToken",),
    theme="tokens",
    route=Route.ANY_NODE,
    reach=Reach.UNLISTED,
    changes=True,
    tool="kafka-delegation-tokens --renew",
    command="tokens renew",
)
EXPIRE_DELEGATION_TOKEN = OperationRow(
    name="expire_delegation_token",
    java=("expireDelegationToken",),
    apis=("ExpireDelegationToken",),
    theme="tokens",
    route=Route.ANY_NODE,
    reach=Reach.UNLISTED,
    changes=True,
    tool="kafka-delegation-tokens --expire",
    command="tokens expire",
)
DESCRIBE_DELEGATION_TOKEN = OperationRow(
    name="describe_delegation_token",
    java=("describeDelegationToken",),
    apis=("DescribeDelegationToken",),
    theme="tokens",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    tool="kafka-delegation-tokens --describe",
    command="tokens list",
)

# --- log directories ------------------------------------------------------------------------------

DESCRIBE_LOG_DIRS = OperationRow(
    name="describe_log_dirs",
    java=("describeLogDirs",),
    apis=("DescribeLogDirs",),
    theme="logdirs",
    route=Route.NODE,
    key="broker",
    tool="kafka-log-dirs --describe",
    command="logdirs describe",
)
DESCRIBE_REPLICA_LOG_DIRS = OperationRow(
    name="describe_replica_log_dirs",
    java=("describeReplicaLogDirs",),
    apis=("DescribeLogDirs",),
    theme="logdirs",
    route=Route.NODE,
    key="replica",
    command="logdirs replicas",
)
ALTER_REPLICA_LOG_DIRS = OperationRow(
    name="alter_replica_log_dirs",
    java=("alterReplicaLogDirs",),
    apis=("AlterReplicaLogDirs",),
    theme="logdirs",
    route=Route.NODE,
    key="replica",
    changes=True,
    tool="kafka-reassign-partitions --execute with log_dirs",
    command="logdirs move",
)

# --- cluster and brokers, features, quorum --------------------------------------------------------

DESCRIBE_CLUSTER = OperationRow(
    name="describe_cluster",
    java=("describeCluster",),
    apis=("DescribeCluster", "Metadata"),
    theme="cluster",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    tool="kafka-cluster",
    command="cluster describe",
)
UNREGISTER_BROKER = OperationRow(
    name="unregister_broker",
    java=("unregisterBroker",),
    apis=("UnregisterBroker",),
    theme="cluster",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    changes=True,
    tool="kafka-cluster unregister",
    command="brokers unregister",
)
UNREGISTER_CONTROLLER = OperationRow(
    name="unregister_controller",
    java=("unregisterController",),
    apis=("UnregisterController",),
    theme="cluster",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    changes=True,
    tool="kafka-cluster unregister-controller",
    command="quorum forget",
)
DESCRIBE_FEATURES = OperationRow(
    name="describe_features",
    java=("describeFeatures",),
    apis=("ApiVersions",),
    theme="features",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    tool="kafka-features describe",
    command="features describe",
)
UPDATE_FEATURES = OperationRow(
    name="update_features",
    java=("updateFeatures",),
    apis=("UpdateFeatures",),
    theme="features",
    route=Route.CONTROLLER,
    reach=Reach.LISTED,
    key="feature",
    changes=True,
    tool="kafka-features upgrade",
    command="features upgrade",
)
DESCRIBE_METADATA_QUORUM = OperationRow(
    name="describe_metadata_quorum",
    java=("describeMetadataQuorum",),
    apis=("DescribeQuorum",),
    theme="quorum",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    tool="kafka-metadata-quorum describe --status",
    command="quorum status",
)
ADD_RAFT_VOTER = OperationRow(
    name="add_raft_voter",
    java=("addRaftVoter",),
    apis=("AddRaftVoter",),
    theme="voters",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    repeatable=False,
    changes=True,
    tool="kafka-metadata-quorum add-controller",
    command="quorum add-controller",
)
REMOVE_RAFT_VOTER = OperationRow(
    name="remove_raft_voter",
    java=("removeRaftVoter",),
    apis=("RemoveRaftVoter",),
    theme="voters",
    route=Route.ANY_NODE,
    reach=Reach.LISTED,
    repeatable=False,
    changes=True,
    tool="kafka-metadata-quorum remove-controller",
    command="quorum remove-controller",
)

OPERATIONS: tuple[OperationRow, ...] = tuple(
    value for value in list(vars().values()) if isinstance(value, OperationRow)
)
"""Every row, in the order of this file."""
