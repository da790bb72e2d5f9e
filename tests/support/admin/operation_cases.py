"""One call of every operation, for the matrix: what a cluster answers to it, in a few words.

The calls are safe on a cluster of the test's own, and their answers the same each time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from kwire.admin import AdminClient
from kwire.admin.acls import AclBinding, AclFilter
from kwire.admin.configs import ConfigChange
from kwire.admin.errors import OutcomeUnknown
from kwire.admin.features import FeatureUpdate
from kwire.admin.group_offsets import OffsetAndMetadata
from kwire.admin.outcomes import Outcomes
from kwire.admin.partitions import OffsetSpec
from kwire.admin.quorum import RaftVoterEndpoint
from kwire.admin.quotas import QuotaEntity
from kwire.admin.scram import ScramMechanism, ScramUpsertion
from kwire.admin.topic_partition import TopicPartition, TopicPartitionReplica
from kwire.admin.topics import NewTopic, TopicGrowth
from kwire.errors import BrokerError, KwireError, UnsupportedEndpointType, UnsupportedVersion
from kwire.messages.access_control import AclOperation, AclResourceType
from kwire.messages.config_resource import ConfigResource, ResourceType


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The cluster around a call. name: of what the target creates. node_id: of the target."""

    name: str
    node_id: int
    broker_id: int
    closed_port: int

    @property
    def partition(self) -> TopicPartition:
        """A partition that is there, with a leader."""
        return TopicPartition("given", 0)

    @property
    def created(self) -> str:
        """The topic that this target creates, grows and deletes."""
        return f"created-{self.name}"


Case = Callable[[AdminClient, Surroundings], Awaitable[object]]
STRANGER = UUID(int=99)


def acl(at: Surroundings) -> AclBinding:
    """Return the ACL that a target adds and removes."""
    return AclBinding(
        resource_type=AclResourceType.TOPIC,
        resource_name="given",
        principal=f"User:{at.name}",
        operation=AclOperation.READ,
    )


CASES: dict[str, Case] = {
    "create_topics": lambda admin, at: admin.create_topics([NewTopic(name=at.created)]),
    "list_topics": lambda admin, at: admin.list_topics(),
    "describe_topics": lambda admin, at: admin.describe_topics(["given"]),
    "create_partitions": lambda admin, at: admin.create_partitions(
        {at.created: TopicGrowth(partitions=2)}
    ),
    "delete_records": lambda admin, at: admin.delete_records({at.partition: 0}),
    "list_offsets": lambda admin, at: admin.list_offsets({at.partition: OffsetSpec.LATEST}),
    "elect_leaders": lambda admin, at: admin.elect_leaders([at.partition]),
    "alter_partition_reassignments": lambda admin, at: admin.alter_partition_reassignments(
        {at.partition: None}
    ),
    "list_partition_reassignments": lambda admin, at: admin.list_partition_reassignments(),
    "describe_configs": lambda admin, at: admin.describe_configs(
        [ConfigResource(ResourceType.BROKER, str(at.node_id))]
    ),
    "incremental_alter_configs": lambda admin, at: admin.incremental_alter_configs(
        {
            ConfigResource(ResourceType.TOPIC, "given"): [
                ConfigChange(name="retention.ms", value="3600000")
            ]
        }
    ),
    "list_config_resources": lambda admin, at: admin.list_config_resources(),
    "list_groups": lambda admin, at: admin.list_groups(),
    "alter_group_offsets": lambda admin, at: admin.alter_group_offsets(
        at.name, {at.partition: OffsetAndMetadata(offset=0)}
    ),
    "list_group_offsets": lambda admin, at: admin.list_group_offsets([at.name]),
    "describe_classic_groups": lambda admin, at: admin.describe_classic_groups([at.name]),
    "describe_consumer_groups": lambda admin, at: admin.describe_consumer_groups([at.name]),
    "describe_share_groups": lambda admin, at: admin.describe_share_groups([at.name]),
    "describe_streams_groups": lambda admin, at: admin.describe_streams_groups([at.name]),
    "remove_group_members": lambda admin, at: admin.remove_group_members(at.name),
    "delete_group_offsets": lambda admin, at: admin.delete_group_offsets(at.name, [at.partition]),
    "list_share_group_offsets": lambda admin, at: admin.list_share_group_offsets([at.name]),
    "alter_share_group_offsets": lambda admin, at: admin.alter_share_group_offsets(
        f"share-{at.name}", {at.partition: 0}
    ),
    "delete_share_group_offsets": lambda admin, at: admin.delete_share_group_offsets(
        f"share-{at.name}", ["given"]
    ),
    "delete_groups": lambda admin, at: admin.delete_groups([at.name]),
    "describe_producers": lambda admin, at: admin.describe_producers([at.partition]),
    "describe_transactions": lambda admin, at: admin.describe_transactions(["nobody"]),
    "list_transactions": lambda admin, at: admin.list_transactions(),
    "abort_transaction": lambda admin, at: admin.abort_transaction(
        at.partition, producer_id=1, producer_epoch=0, coordinator_epoch=-1
    ),
    "fence_producers": lambda admin, at: admin.fence_producers([at.name]),
    "force_terminate_transaction": lambda admin, at: admin.force_terminate_transaction(at.name),
    "create_acls": lambda admin, at: admin.create_acls([acl(at)]),
    "describe_acls": lambda admin, at: admin.describe_acls(),
    "delete_acls": lambda admin, at: admin.delete_acls([AclFilter(principal=f"User:{at.name}")]),
    "alter_client_quotas": lambda admin, at: admin.alter_client_quotas(
        {QuotaEntity.of(user=at.name): {"producer_byte_rate": 1000.0}}
    ),
    "describe_client_quotas": lambda admin, at: admin.describe_client_quotas(),
    "alter_user_scram_credentials": lambda admin, at: admin.alter_user_scram_credentials(
        [ScramUpsertion(user=at.name, mechanism=ScramMechanism.SCRAM_SHA_256, password="secret")]
    ),
    "describe_user_scram_credentials": lambda admin, at: admin.describe_user_scram_credentials(
        timeout=3.0  # controllers never answer
    ),
    "create_delegation_token": lambda admin, at: admin.create_delegation_token(),
    "renew_delegation_token": lambda admin, at: admin.renew_delegation_token(b"nobody's"),
    "expire_delegation_token": lambda admin, at: admin.expire_delegation_token(b"nobody's"),
    "describe_delegation_token": lambda admin, at: admin.describe_delegation_token(),
    "describe_log_dirs": lambda admin, at: admin.describe_log_dirs([at.broker_id]),
    "describe_replica_log_dirs": lambda admin, at: admin.describe_replica_log_dirs(
        [TopicPartitionReplica("given", 0, at.broker_id)]
    ),
    "alter_replica_log_dirs": lambda admin, at: admin.alter_replica_log_dirs(
        {TopicPartitionReplica("given", 0, at.broker_id): "/no/such/directory"}
    ),
    "describe_cluster": lambda admin, at: admin.describe_cluster(),
    "unregister_broker": lambda admin, at: admin.unregister_broker(99),
    "unregister_controller": lambda admin, at: admin.unregister_controller(99),
    "describe_features": lambda admin, at: admin.describe_features(),
    "update_features": lambda admin, at: admin.update_features(
        {"transaction.version": FeatureUpdate(level=2)}, validate_only=True
    ),
    "describe_metadata_quorum": lambda admin, at: admin.describe_metadata_quorum(),
    "add_raft_voter": lambda admin, at: admin.add_raft_voter(
        99, STRANGER, [RaftVoterEndpoint(name="CONTROLLER", host="127.0.0.1", port=at.closed_port)]
    ),
    "remove_raft_voter": lambda admin, at: admin.remove_raft_voter(99, STRANGER),
    "delete_topics": lambda admin, at: admin.delete_topics([at.created]),
}
"""A call by the name of its row; in an order in which the later ones find what the earlier made."""


async def outcome(case: Case, admin: AdminClient, at: Surroundings) -> str:
    """Make a call and return `done`, the codes of a refusal, `not sent` or `not offered`."""
    try:
        result = await case(admin, at)
    except UnsupportedEndpointType:
        return "not sent"
    except UnsupportedVersion:
        return "not offered"
    except KwireError as error:
        return _error_text(error)
    if isinstance(result, Outcomes) and result.failed:
        return ", ".join(sorted({_error_text(error) for error in result.failed.values()}))
    return "done"


def _error_text(error: KwireError) -> str:
    if isinstance(error, BrokerError):
        return error.name
    if isinstance(error, OutcomeUnknown):
        return "unknown"
    return type(error).__name__
