"""AdminClient: asks brokers, or controllers directly (KIP-919), as Java's Admin does.

Written by `python -m admin_clients` from the functions that it calls. A method loads what it needs
when it is first called: a command of one operation decodes the messages of no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.admin.cluster_client import ClusterClient
from kwire.admin.partition_options import ElectionType, IsolationLevel

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from uuid import UUID

    from kwire.admin.acls import AclBinding, AclFilter
    from kwire.admin.cluster_description import ClusterDescription
    from kwire.admin.configs import ConfigChange, ConfigEntry
    from kwire.admin.features import FeatureMetadata, FeatureUpdate
    from kwire.admin.ghost_controllers import Disarming
    from kwire.admin.group_descriptions import (
        ClassicGroupDescription,
        ConsumerGroupDescription,
        GroupDescription,
        ShareGroupDescription,
    )
    from kwire.admin.group_lag import GroupLag
    from kwire.admin.group_offsets import CommittedOffsets, OffsetAndMetadata, WantedOffsets
    from kwire.admin.group_seek import SeekPlan, TopicChoice
    from kwire.admin.group_seek_target import SeekTarget
    from kwire.admin.hanging_transactions import HangingSearch
    from kwire.admin.list_groups import GroupListing
    from kwire.admin.logdirs import LogDirByReplica, LogDirsByPath, ReplicaLogDirs
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.partitions import ElectionOutcome, ListOffsetsResultInfo
    from kwire.admin.producers import ActiveProducer, ProducerIdAndEpoch
    from kwire.admin.quorum import QuorumInfo, RaftVoterEndpoint
    from kwire.admin.quotas import QuotaEntity, QuotaFilter, Quotas
    from kwire.admin.reassignments import OngoingReassignment, TargetsByPartition
    from kwire.admin.remove_group_members import MemberToRemove
    from kwire.admin.scram import ScramAlteration, ScramCredentialInfo, ScramKey
    from kwire.admin.share_group_offsets import SharePartitionOffsetInfo
    from kwire.admin.streams_group_descriptions import StreamsGroupDescription
    from kwire.admin.tokens import DelegationTokenInfo
    from kwire.admin.topic_descriptions import TopicDescription, TopicKey, TopicListing
    from kwire.admin.topic_partition import TopicPartition, TopicPartitionReplica
    from kwire.admin.topics import CreatedTopic, NewTopic, TopicGrowth
    from kwire.admin.transactions import TransactionDescription, TransactionListing
    from kwire.messages.config_resource import ConfigResource
    from kwire.net.negotiation import NodeApiVersions


class AdminClient(ClusterClient):
    """Every operation in one client; the parameters are those of ClusterClient.

    async with AdminClient(bootstrap_controllers="127.0.0.1:9093") as admin:
        quorum = await admin.describe_metadata_quorum()
    """

    async def create_topics(
        self,
        topics: Iterable[NewTopic],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, CreatedTopic]:
        """Create topics; return the outcome of each name.

        validate_only: True to have the controller check them and create none.

        Refused: TOPIC_ALREADY_EXISTS (36), INVALID_TOPIC_EXCEPTION (17), INVALID_PARTITIONS (37),
        INVALID_REPLICATION_FACTOR (38), INVALID_REPLICA_ASSIGNMENT (39), INVALID_CONFIG (40),
        POLICY_VIOLATION (44). A topic whose answer was lost is OutcomeUnknown: another request
        would be refused if the first was carried out.
        """
        from kwire.admin.topics import create_topics

        return await create_topics(
            self.driver, topics, validate_only=validate_only, timeout=timeout
        )

    async def delete_topics(
        self, topics: Iterable[TopicKey], *, timeout: float | None = None
    ) -> Outcomes[TopicKey, None]:
        """Delete topics by name, or by id (Kafka 2.8); return the outcome of each.

        Refused: UNKNOWN_TOPIC_OR_PARTITION (3), UNKNOWN_TOPIC_ID (100), TOPIC_DELETION_DISABLED
        (73), TOPIC_AUTHORIZATION_FAILED (29).
        """
        from kwire.admin.topics import delete_topics

        return await delete_topics(self.driver, topics, timeout=timeout)

    async def list_topics(self, *, timeout: float | None = None) -> list[TopicListing]:
        """Return every topic that the user may describe, by name.

        With controllers as bootstrap the answer is read from the metadata log.
        """
        from kwire.admin.topics import list_topics

        return await list_topics(self.driver, timeout=timeout)

    async def describe_topics(
        self, topics: Iterable[TopicKey] | None = None, *, timeout: float | None = None
    ) -> Outcomes[TopicKey, TopicDescription]:
        """Describe topics by name or id, by default every topic that the user may describe.

        With controllers as bootstrap the answer is read from the metadata log.

        Refused: UNKNOWN_TOPIC_OR_PARTITION (3), UNKNOWN_TOPIC_ID (100), INVALID_TOPIC_EXCEPTION
        (17), TOPIC_AUTHORIZATION_FAILED (29).
        """
        from kwire.admin.topics import describe_topics

        return await describe_topics(self.driver, topics, timeout=timeout)

    async def create_partitions(
        self,
        topics: Mapping[str, TopicGrowth],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, None]:
        """Give topics more partitions; return the outcome of each name.

        Refused: UNKNOWN_TOPIC_OR_PARTITION (3), INVALID_PARTITIONS (37), also if it has as many
        already; INVALID_REPLICA_ASSIGNMENT (39), REASSIGNMENT_IN_PROGRESS (60). A topic whose
        answer was lost is OutcomeUnknown: describe it to see.
        """
        from kwire.admin.topics import create_partitions

        return await create_partitions(
            self.driver, topics, validate_only=validate_only, timeout=timeout
        )

    async def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Outcomes[TopicPartition, int]:
        """Delete the records before an offset, or HIGH_WATERMARK; return the new first offsets.

        The leaders are asked, and wait until every live replica has deleted them. Refused with
        OFFSET_OUT_OF_RANGE beyond the high watermark, and with POLICY_VIOLATION for a compacted
        topic.
        """
        from kwire.admin.partitions import delete_records

        return await delete_records(self.driver, before, timeout=timeout)

    async def list_offsets(
        self,
        times: Mapping[TopicPartition, int],
        *,
        isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, ListOffsetsResultInfo]:
        """Return the offset of each partition at a time in ms since 1970, or at an OffsetSpec.

        Each leader is asked once for all its partitions. A partition that does not exist is
        UNKNOWN_TOPIC_OR_PARTITION after about a second, one without a leader
        LEADER_NOT_AVAILABLE when time is up.
        """
        from kwire.admin.partitions import list_offsets

        return await list_offsets(
            self.driver, times, isolation_level=isolation_level, timeout=timeout
        )

    async def elect_leaders(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        election_type: ElectionType = ElectionType.PREFERRED,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, ElectionOutcome]:
        """Elect the leaders of partitions, of all if None.

        Of all partitions the answer names only those that an election was held for. Refused with
        PREFERRED_LEADER_NOT_AVAILABLE or ELIGIBLE_LEADERS_NOT_AVAILABLE where nobody can lead.
        """
        from kwire.admin.partitions import elect_leaders

        return await elect_leaders(
            self.driver, partitions, election_type=election_type, timeout=timeout
        )

    async def alter_partition_reassignments(
        self,
        replicas: TargetsByPartition,
        *,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, None]:
        """Begin to move partitions to other replicas; None takes a running move back.

        It is done when the controller has noted it: `list_partition_reassignments` shows the move
        until every new replica is in sync. Refused with INVALID_REPLICA_ASSIGNMENT for brokers that
        are unknown or named twice, and with NO_REASSIGNMENT_IN_PROGRESS for None where nothing
        moves.
        """
        from kwire.admin.reassignments import alter_partition_reassignments

        return await alter_partition_reassignments(
            self.driver,
            replicas,
            allow_replication_factor_change=allow_replication_factor_change,
            timeout=timeout,
        )

    async def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None, *, timeout: float | None = None
    ) -> Mapping[TopicPartition, OngoingReassignment]:
        """Return the partitions that are on the move, among these or of all, sorted."""
        from kwire.admin.reassignments import list_partition_reassignments

        return await list_partition_reassignments(self.driver, partitions, timeout=timeout)

    async def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        names: Iterable[str] | None = None,
        synonyms: bool = False,
        documentation: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[ConfigResource, Mapping[str, ConfigEntry]]:
        """Return the keys of each resource with their values, as the node knows them.

        names: the keys to return; by default all. A name that a resource does not have is left out.
        synonyms, documentation: ask also for the values in all places, and for Kafka's sentences.

        Fails per resource: UNKNOWN_TOPIC_OR_PARTITION (3), INVALID_REQUEST (42) for a type or a
        name that does not exist, the AUTHORIZATION_FAILED codes, NodeNotFound for a node's id.
        """
        from kwire.admin.configs import describe_configs

        return await describe_configs(
            self.driver,
            resources,
            names=names,
            synonyms=synonyms,
            documentation=documentation,
            timeout=timeout,
        )

    async def incremental_alter_configs(
        self,
        changes: Mapping[ConfigResource, Iterable[ConfigChange]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[ConfigResource, None]:
        """Change single keys and leave the others alone; one resource's changes all, or none.

        validate_only: have the node check the changes, and make none.

        Fails per resource: INVALID_CONFIG (40) for a value or a key, INVALID_REQUEST (42) for a key
        that comes twice, UNKNOWN_TOPIC_OR_PARTITION (3), POLICY_VIOLATION (44), the
        AUTHORIZATION_FAILED codes, NodeNotFound for a node's id.
        """
        from kwire.admin.configs import incremental_alter_configs

        return await incremental_alter_configs(
            self.driver, changes, validate_only=validate_only, timeout=timeout
        )

    async def list_config_resources(
        self, types: Iterable[int] = (), *, timeout: float | None = None
    ) -> tuple[ConfigResource, ...]:
        """Return the resources of these types, by default of all, that may have configuration.

        Topics and nodes are all listed, groups and client metrics only if a key of them is set.

        Raises UnsupportedVersion before Kafka 4.1 for any type but CLIENT_METRICS.
        """
        from kwire.admin.configs import list_config_resources

        return await list_config_resources(self.driver, types, timeout=timeout)

    async def list_groups(
        self,
        *,
        types: Iterable[str] = (),
        states: Iterable[str] = (),
        protocols: Iterable[str] = (),
        timeout: float | None = None,
    ) -> Outcomes[int, tuple[GroupListing, ...]]:
        """Return the groups that each broker coordinates, by node id; see `listed_groups`.

        types: of GroupType (KIP-848); states: as `Stable` (KIP-518); protocols: as `consumer`
        (KIP-1043), which is chosen here. A broker that fails leaves the others' groups usable; one
        older than KIP-518 refuses states with UnsupportedVersion.
        """
        from kwire.admin.groups import list_groups

        return await list_groups(
            self.driver, types=types, states=states, protocols=protocols, timeout=timeout
        )

    async def describe_classic_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, ClassicGroupDescription]:
        """Describe groups of the classic protocol, of consumers or others.

        Refused: GROUP_ID_NOT_FOUND (69), also where an older broker answers with state Dead;
        GROUP_AUTHORIZATION_FAILED (30).
        """
        from kwire.admin.groups import describe_classic_groups

        return await describe_classic_groups(
            self.driver,
            group_ids,
            include_authorized_operations=include_authorized_operations,
            timeout=timeout,
        )

    async def describe_consumer_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, ConsumerGroupDescription]:
        """Describe groups of consumers, of the protocol of KIP-848 or of the classic one.

        1. Ask ConsumerGroupDescribe for all groups of a coordinator, if it has it.
        2. Ask DescribeGroups for those that it does not know by that protocol.

        Refused: as describe_classic_groups; WrongGroupType for a group that is not of consumers.
        """
        from kwire.admin.groups import describe_consumer_groups

        return await describe_consumer_groups(
            self.driver,
            group_ids,
            include_authorized_operations=include_authorized_operations,
            timeout=timeout,
        )

    async def describe_share_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, ShareGroupDescription]:
        """Describe share groups (KIP-932).

        Refused: GROUP_ID_NOT_FOUND (69), also for a group of another type;
        GROUP_AUTHORIZATION_FAILED (30); UnsupportedVersion before Kafka 4.1.
        """
        from kwire.admin.groups import describe_share_groups

        return await describe_share_groups(
            self.driver,
            group_ids,
            include_authorized_operations=include_authorized_operations,
            timeout=timeout,
        )

    async def describe_streams_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, StreamsGroupDescription]:
        """Describe streams groups (KIP-1071). Refused as share groups."""
        from kwire.admin.groups import describe_streams_groups

        return await describe_streams_groups(
            self.driver,
            group_ids,
            include_authorized_operations=include_authorized_operations,
            timeout=timeout,
        )

    async def list_group_offsets(
        self,
        groups: Iterable[str] | WantedOffsets,
        *,
        require_stable: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, CommittedOffsets]:
        """Return the committed offsets of many groups; each coordinator is asked once.

        groups: ids, for all partitions of each; or partitions by id.
        require_stable: wait for open transactions that commit offsets (KIP-447); the offsets are
        UNSTABLE_OFFSET_COMMIT (88) if they are still open when time is up.

        A group that does not exist has no offsets: that is what Kafka answers. Refused:
        GROUP_AUTHORIZATION_FAILED (30); a partition alone TOPIC_AUTHORIZATION_FAILED (29).
        """
        from kwire.admin.group_offsets import list_group_offsets

        return await list_group_offsets(
            self.driver, groups, require_stable=require_stable, timeout=timeout
        )

    async def alter_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        *,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, None]:
        """Commit offsets in the place of a group without members; makes the group if need be.

        Refused: UNKNOWN_MEMBER_ID (25) while it has members, UNKNOWN_TOPIC_OR_PARTITION (3),
        OFFSET_METADATA_TOO_LARGE (12), GROUP_AUTHORIZATION_FAILED (30), and for a share group
        GROUP_ID_NOT_FOUND (69).
        """
        from kwire.admin.group_offsets import alter_group_offsets

        return await alter_group_offsets(self.driver, group_id, offsets, timeout=timeout)

    async def delete_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Make a group forget its offsets of partitions; to forget what is not there is no error.

        Refused: GROUP_SUBSCRIBED_TO_TOPIC (86) while a member reads the topic, GROUP_ID_NOT_FOUND
        (69), NON_EMPTY_GROUP (68) where the members are no consumers.
        """
        from kwire.admin.group_offsets import delete_group_offsets

        return await delete_group_offsets(self.driver, group_id, partitions, timeout=timeout)

    async def list_share_group_offsets(
        self, groups: Iterable[str] | WantedOffsets, *, timeout: float | None = None
    ) -> Outcomes[str, Outcomes[TopicPartition, SharePartitionOffsetInfo | None]]:
        """Return the start offsets of share groups (KIP-932); as list_group_offsets.

        Refused: GROUP_ID_NOT_FOUND (69); UnsupportedVersion before Kafka 4.1.
        """
        from kwire.admin.group_offsets import list_share_group_offsets

        return await list_share_group_offsets(self.driver, groups, timeout=timeout)

    async def alter_share_group_offsets(
        self, group_id: str, offsets: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Set the start offsets of a share group without members; makes the group if need be.

        Refused: NON_EMPTY_GROUP (68), UNKNOWN_TOPIC_OR_PARTITION (3), GROUP_ID_NOT_FOUND (69) for
        a group of another type.
        """
        from kwire.admin.group_offsets import alter_share_group_offsets

        return await alter_share_group_offsets(self.driver, group_id, offsets, timeout=timeout)

    async def delete_share_group_offsets(
        self, group_id: str, topics: Iterable[str], *, timeout: float | None = None
    ) -> Outcomes[str, None]:
        """Make a share group without members forget topics, all partitions of each.

        Refused: NON_EMPTY_GROUP (68), GROUP_ID_NOT_FOUND (69), UNKNOWN_TOPIC_OR_PARTITION (3).
        """
        from kwire.admin.group_offsets import delete_share_group_offsets

        return await delete_share_group_offsets(self.driver, group_id, topics, timeout=timeout)

    async def delete_groups(
        self, group_ids: Iterable[str], *, timeout: float | None = None
    ) -> Outcomes[str, None]:
        """Delete groups of any type with their offsets; return the outcome of each.

        Refused: NON_EMPTY_GROUP (68), GROUP_ID_NOT_FOUND (69), GROUP_AUTHORIZATION_FAILED (30),
        GROUP_DELETION_FAILED (134). A group whose answer was lost is OutcomeUnknown: another
        request would be refused with GROUP_ID_NOT_FOUND if the first was carried out.
        """
        from kwire.admin.groups import delete_groups

        return await delete_groups(self.driver, group_ids, timeout=timeout)

    async def remove_group_members(
        self,
        group_id: str,
        members: Collection[MemberToRemove] | None = None,
        *,
        reason: str = "removed by an administrator",
        timeout: float | None = None,
    ) -> Outcomes[MemberToRemove, None]:
        """Remove members from a classic or consumer group; a live one joins again at once.

        members: None for all that the group has now.

        Refused: UNKNOWN_MEMBER_ID (25) for a member that is not there. Kafka 4.3.1 and 4.4.0 also
        remove members that speak the protocol of KIP-848.
        """
        from kwire.admin.groups import remove_group_members

        return await remove_group_members(
            self.driver, group_id, members, reason=reason, timeout=timeout
        )

    async def describe_producers(
        self,
        partitions: Iterable[TopicPartition],
        *,
        broker_id: int | None = None,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, tuple[ActiveProducer, ...]]:
        """Return the producers that each partition's leader remembers.

        broker_id: ask the replicas on this broker instead; NOT_LEADER_OR_FOLLOWER (6) of a
        partition then means that it has none.

        Outcomes: UNKNOWN_TOPIC_OR_PARTITION (3) after about a second, TOPIC_AUTHORIZATION_FAILED.
        """
        from kwire.admin.producers import describe_producers

        return await describe_producers(
            self.driver, partitions, broker_id=broker_id, timeout=timeout
        )

    async def describe_transactions(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None
    ) -> Outcomes[str, TransactionDescription]:
        """Return the transaction of each transactional id, from its coordinator.

        Outcomes: TRANSACTIONAL_ID_NOT_FOUND (105), TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53).
        """
        from kwire.admin.transactions import describe_transactions

        return await describe_transactions(self.driver, transactional_ids, timeout=timeout)

    async def list_transactions(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        longer_than_ms: int | None = None,
        pattern: str | None = None,
        timeout: float | None = None,
    ) -> Outcomes[int, tuple[TransactionListing, ...]]:
        """Return the transactional ids that each broker coordinates, by broker.

        states: Kafka's words, as `Ongoing`.
        longer_than_ms: only transactions that run for longer; from Kafka 3.8 on.
        pattern: a regular expression for the whole transactional id; from Kafka 4.1 on.

        Outcomes: InvalidValue for a state that the broker does not know, UnsupportedVersion for a
        broker that cannot filter so, INVALID_REGULAR_EXPRESSION
        (128), COORDINATOR_NOT_AVAILABLE (15) for a broker that shuts down.
        """
        from kwire.admin.transactions import list_transactions

        return await list_transactions(
            self.driver,
            states=states,
            producer_ids=producer_ids,
            longer_than_ms=longer_than_ms,
            pattern=pattern,
            timeout=timeout,
        )

    async def abort_transaction(
        self,
        partition: TopicPartition,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int = 0,
        *,
        timeout: float | None = None,
    ) -> None:
        """Have a partition's leader write the abort marker of a transaction that hangs there.

        That overrules the coordinator: do it only to a transaction that the coordinator knows
        nothing of (`find_hanging_transactions`). The values are those of `describe_producers`.

        Raises BrokerError INVALID_PRODUCER_EPOCH (47), TRANSACTION_COORDINATOR_FENCED (52) for an
        older coordinator epoch than the last marker's, CLUSTER_AUTHORIZATION_FAILED (31).
        """
        from kwire.admin.transactions import abort_transaction

        await abort_transaction(
            self.driver, partition, producer_id, producer_epoch, coordinator_epoch, timeout=timeout
        )

    async def fence_producers(
        self, transactional_ids: Collection[str], *, timeout: float | None = None
    ) -> Outcomes[str, ProducerIdAndEpoch]:
        """Give each transactional id a new epoch: its producers can write no more.

        1. The coordinator aborts an open transaction first, and says CONCURRENT_TRANSACTIONS (51)
           until that is done; it is asked again.
        2. A transactional id that did not exist exists after that.

        Outcomes: TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53).
        """
        from kwire.admin.producers import fence_producers

        return await fence_producers(self.driver, transactional_ids, timeout=timeout)

    async def force_terminate_transaction(
        self, transactional_id: str, *, timeout: float | None = None
    ) -> ProducerIdAndEpoch:
        """Abort the transaction of a transactional id through its coordinator (KIP-939).

        The same request as `fence_producers` sends: the producer is fenced, too.
        """
        from kwire.admin.transactions import force_terminate_transaction

        return await force_terminate_transaction(self.driver, transactional_id, timeout=timeout)

    async def describe_acls(
        self, acl_filter: AclFilter | None = None, *, timeout: float | None = None
    ) -> tuple[AclBinding, ...]:
        """Return the ACLs that a filter matches, by default all.

        Raises BrokerError SECURITY_DISABLED (54), CLUSTER_AUTHORIZATION_FAILED (31);
        UnsupportedVersion for users before Kafka 3.3.
        """
        from kwire.admin.acls import describe_acls

        return await describe_acls(self.driver, acl_filter, timeout=timeout)

    async def create_acls(
        self, bindings: Iterable[AclBinding], *, timeout: float | None = None
    ) -> Outcomes[AclBinding, None]:
        """Add ACLs; one that exists already stays as it is, and counts as done.

        Refused: SECURITY_DISABLED (54), INVALID_REQUEST (42) for ANY, MATCH or an empty name,
        CLUSTER_AUTHORIZATION_FAILED (31). An operation that such a resource does not have is not
        refused, and has no effect.
        """
        from kwire.admin.acls import create_acls

        return await create_acls(self.driver, bindings, timeout=timeout)

    async def delete_acls(
        self, filters: Iterable[AclFilter], *, timeout: float | None = None
    ) -> Outcomes[AclFilter, Outcomes[AclBinding, None]]:
        """Remove every ACL that a filter matches; return the outcomes of each filter's ACLs.

        A filter that matches nothing is done, with no ACLs. Refused: SECURITY_DISABLED (54),
        CLUSTER_AUTHORIZATION_FAILED (31).
        """
        from kwire.admin.acls import delete_acls

        return await delete_acls(self.driver, filters, timeout=timeout)

    async def describe_client_quotas(
        self, quota_filter: QuotaFilter | None = None, *, timeout: float | None = None
    ) -> dict[QuotaEntity, Quotas]:
        """Return the quotas that a filter matches, by entity; by default all.

        Raises BrokerError INVALID_REQUEST (42) for components that do not go together,
        CLUSTER_AUTHORIZATION_FAILED (31).
        """
        from kwire.admin.quotas import describe_client_quotas

        return await describe_client_quotas(self.driver, quota_filter, timeout=timeout)

    async def alter_client_quotas(
        self,
        changes: Mapping[QuotaEntity, Mapping[str, float | None]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[QuotaEntity, None]:
        """Set quotas, or remove those whose value is None; return the outcome of each entity.

        validate_only: have the controller check the changes, and make none.

        Refused: INVALID_REQUEST (42) for a key or a value that there is not, or an entity of types
        that do not go together; CLUSTER_AUTHORIZATION_FAILED (31).
        """
        from kwire.admin.quotas import alter_client_quotas

        return await alter_client_quotas(
            self.driver, changes, validate_only=validate_only, timeout=timeout
        )

    async def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> Outcomes[str, tuple[ScramCredentialInfo, ...]]:
        """Return mechanism and iterations of users' credentials, by default of all users.

        A user's credentials come in the order of their mechanisms.

        Refused: RESOURCE_NOT_FOUND (91) for a user without any, DUPLICATE_RESOURCE (92),
        CLUSTER_AUTHORIZATION_FAILED (31).
        """
        from kwire.admin.scram import describe_user_scram_credentials

        return await describe_user_scram_credentials(self.driver, users, timeout=timeout)

    async def alter_user_scram_credentials(
        self, alterations: Iterable[ScramAlteration], *, timeout: float | None = None
    ) -> Outcomes[ScramKey, None]:
        """Set and delete credentials; return the outcome of each user and mechanism.

        Raises InvalidValue for two changes of one credential.

        Refused: RESOURCE_NOT_FOUND (91) for a deletion of what there is not,
        UNACCEPTABLE_CREDENTIAL (93), UNSUPPORTED_SASL_MECHANISM (33),
        CLUSTER_AUTHORIZATION_FAILED (31).
        """
        from kwire.admin.scram import alter_user_scram_credentials

        return await alter_user_scram_credentials(self.driver, alterations, timeout=timeout)

    async def create_delegation_token(
        self,
        *,
        owner: str | None = None,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int = -1,
        timeout: float | None = None,
    ) -> DelegationTokenInfo:
        """Have a token made, by default for the user of this client.

        owner, renewers: principals as `User:alice`; the owner may always renew.

        Raises OutcomeUnknown if the answer was lost: describe the tokens to see. BrokerError
        DELEGATION_TOKEN_AUTHORIZATION_FAILED (65), INVALID_PRINCIPAL_TYPE (67).
        """
        from kwire.admin.tokens import create_delegation_token

        return await create_delegation_token(
            self.driver,
            owner=owner,
            renewers=renewers,
            max_lifetime_ms=max_lifetime_ms,
            timeout=timeout,
        )

    async def renew_delegation_token(
        self, hmac: bytes, *, period_ms: int = -1, timeout: float | None = None
    ) -> int:
        """Prolong a token's life; return its new end in ms since 1970.

        Raises BrokerError DELEGATION_TOKEN_NOT_FOUND (62), DELEGATION_TOKEN_OWNER_MISMATCH (63),
        DELEGATION_TOKEN_EXPIRED (66).
        """
        from kwire.admin.tokens import renew_delegation_token

        return await renew_delegation_token(self.driver, hmac, period_ms=period_ms, timeout=timeout)

    async def expire_delegation_token(
        self, hmac: bytes, *, period_ms: int = -1, timeout: float | None = None
    ) -> int:
        """End a token, now or so many ms from now; return its end in ms since 1970.

        Raises as renew_delegation_token; DELEGATION_TOKEN_NOT_FOUND after a lost answer means done.
        """
        from kwire.admin.tokens import expire_delegation_token

        return await expire_delegation_token(
            self.driver, hmac, period_ms=period_ms, timeout=timeout
        )

    async def describe_delegation_token(
        self, owners: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> tuple[DelegationTokenInfo, ...]:
        """Return the tokens of these owners that the user may see, by default of all owners."""
        from kwire.admin.tokens import describe_delegation_token

        return await describe_delegation_token(self.driver, owners, timeout=timeout)

    async def describe_log_dirs(
        self, broker_ids: Iterable[int] | None = None, *, timeout: float | None = None
    ) -> Outcomes[int, LogDirsByPath]:
        """Return the directories of each broker by path, with the replicas in them.

        broker_ids: by default every broker that is not fenced.

        Outcomes: NodeNotFound, CLUSTER_AUTHORIZATION_FAILED (31). A directory that failed has its
        own error.
        """
        from kwire.admin.logdirs import describe_log_dirs

        return await describe_log_dirs(self.driver, broker_ids, timeout=timeout)

    async def describe_replica_log_dirs(
        self, replicas: Iterable[TopicPartitionReplica], *, timeout: float | None = None
    ) -> Outcomes[TopicPartitionReplica, ReplicaLogDirs]:
        """Return the directory of each replica, and the one it is being moved to.

        Outcomes: NodeNotFound, ReplicaNotFound, CLUSTER_AUTHORIZATION_FAILED (31).
        """
        from kwire.admin.logdirs import describe_replica_log_dirs

        return await describe_replica_log_dirs(self.driver, replicas, timeout=timeout)

    async def alter_replica_log_dirs(
        self, directories: LogDirByReplica, *, timeout: float | None = None
    ) -> Outcomes[TopicPartitionReplica, None]:
        """Have brokers move replicas to other directories of theirs; they copy in the background.

        Outcomes: LOG_DIR_NOT_FOUND (57) if the broker has no such directory, KAFKA_STORAGE_ERROR
        (56), CLUSTER_AUTHORIZATION_FAILED (31). REPLICA_NOT_AVAILABLE (9): the broker has no such
        replica yet, and remembers where to create it until it is restarted.
        """
        from kwire.admin.logdirs import alter_replica_log_dirs

        return await alter_replica_log_dirs(self.driver, directories, timeout=timeout)

    async def describe_cluster(
        self,
        *,
        include_fenced_brokers: bool = False,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """Return the cluster's id and nodes: brokers, or controllers if those are the bootstrap.

        The first node that answers is asked; its view may lag behind the active controller's. Where
        controllers may not tell it, as to a principal without ALTER on the cluster, the leader
        describes its voters instead: the cluster id is None then.

        Raises UnsupportedEndpointType for `include_fenced_brokers` with controllers as bootstrap,
        MismatchedEndpointType if a node of the other kind answers, NoReachableLeader if controllers
        that have just started find no leader, ConnectionFailed if no node answers; the controllers'
        own reason, UnsupportedVersion before KIP-919, if their leader tells no endpoints, either.
        """
        from kwire.admin.cluster import describe_cluster

        return await describe_cluster(
            self.driver,
            include_fenced_brokers=include_fenced_brokers,
            include_authorized_operations=include_authorized_operations,
            timeout=timeout,
        )

    async def unregister_broker(self, broker_id: int, *, timeout: float | None = None) -> None:
        """Have the controller forget a broker (KIP-631).

        Kafka also forgets a broker that runs, which then cannot go on: look whether it is fenced
        first (`describe_cluster(include_fenced_brokers=True)`).

        Raises BrokerError BROKER_ID_NOT_REGISTERED (102), which after a lost answer means done.
        """
        from kwire.admin.cluster import unregister_broker

        await unregister_broker(self.driver, broker_id, timeout=timeout)

    async def unregister_controller(
        self, controller_id: int, *, timeout: float | None = None
    ) -> None:
        """Have the active controller forget a controller that is gone (KIP-1312, Kafka 4.4).

        Raises BrokerError CONTROLLER_ID_NOT_REGISTERED (136), which after a lost answer means
        done; UnsupportedVersion where the nodes are older.
        """
        from kwire.admin.cluster import unregister_controller

        await unregister_controller(self.driver, controller_id, timeout=timeout)

    async def describe_features(
        self, *, node_id: int | None = None, timeout: float | None = None
    ) -> FeatureMetadata:
        """Return supported and finalized features, from the answer to ApiVersions.

        node_id: the node to ask, a controller or a broker as the bootstrap is; by default the
        active controller, or any broker.

        A controller that has found no leader since it started does not know what is finalized, and
        another is asked, until time is up.

        Raises NodeNotFound for a node id the cluster does not have, else as
        `describe_metadata_quorum`.
        """
        from kwire.admin.features import describe_features

        return await describe_features(self.driver, node_id=node_id, timeout=timeout)

    async def update_features(
        self,
        updates: Mapping[str, FeatureUpdate],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, None]:
        """Change the finalized levels of features, all of them or none since Kafka 4.0.

        validate_only: have the active controller check the updates and change nothing.

        1. The active controller refuses levels that a registered node does not support, and
           downgrades that the update's type does not allow.
        2. Since version 2 of the API the refusal of one feature is the outcome of all.
        3. A lost answer is asked for again: a level that is reached already is no error.

        Outcomes: INVALID_UPDATE_VERSION (95), FEATURE_UPDATE_FAILED (96), INVALID_REQUEST (42).
        Raises InvalidValue for no update at all or an empty name, else as
        `describe_metadata_quorum`.
        """
        from kwire.admin.features import update_features

        return await update_features(
            self.driver, updates, validate_only=validate_only, timeout=timeout
        )

    async def describe_metadata_quorum(self, *, timeout: float | None = None) -> QuorumInfo:
        """Return leader, voters and observers of the metadata quorum, from the leader itself.

        1. Ask the active controller, or a broker, which forwards.
        2. A follower answers NOT_LEADER_OR_FOLLOWER (6) with zeros for leader and epoch, whether or
           not there is a leader: such an answer is dropped and the next node asked.

        Raises NoReachableLeader within about a second if too few controllers answer to elect a
        leader, unless one of them has just started; else when time is up; MismatchedEndpointType;
        ConnectionFailed.
        """
        from kwire.admin.quorum import describe_metadata_quorum

        return await describe_metadata_quorum(self.driver, timeout=timeout)

    async def add_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        endpoints: Iterable[RaftVoterEndpoint],
        *,
        cluster_id: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Make an observer, a controller that follows the quorum, a voter.

        voter_directory_id: a UUID, or any text that `parse_uuid` reads.
        endpoints: its controller listeners, that of the quorum's own listener name among them.
        cluster_id: refused by the leader if it is not its own; by default the one that was found.

        1. Ask the active controller; follow NOT_LEADER_OR_FOLLOWER (6) to the next.
        2. It asks the new voter for its versions, waits until it has caught up, and answers when
           the new voter set is committed.
        3. If the answer is lost, or the leader stops leading, ask again: DUPLICATE_VOTER with this
           directory id among the voters then means that the first request was carried out.

        Raises DuplicateVoter (126), whatever the directory id of the voter that has this id;
        InconsistentClusterId (104); BrokerError REQUEST_TIMED_OUT (7), whose message tells whether
        another change is pending (try again), the new voter does not answer at its endpoint or lags
        behind, or time ran out; INVALID_REQUEST (42) for unusable ids or endpoints;
        UNSUPPORTED_VERSION (35) while kraft.version is 0.
        """
        from kwire.admin.voters import add_raft_voter

        await add_raft_voter(
            self.driver,
            voter_id,
            voter_directory_id,
            endpoints,
            cluster_id=cluster_id,
            timeout=timeout,
        )

    async def remove_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        *,
        cluster_id: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Take a voter out of the voter set; its process goes on as an observer.

        voter_directory_id: a UUID, or any text that `parse_uuid` reads.
        cluster_id: refused by the leader if it is not its own; by default the one that was found.

        1. Ask the active controller; follow NOT_LEADER_OR_FOLLOWER (6) to the next.
        2. It answers when the smaller voter set is committed; removing itself, it then resigns.
        3. If the answer is lost, or the leader stops leading, ask again: VOTER_NOT_FOUND then means
           that the first request was carried out.

        Raises VoterNotFound (127) unless both ids are those of a voter; InconsistentClusterId
        (104); BrokerError REQUEST_TIMED_OUT (7) while another change is pending;
        UNSUPPORTED_VERSION (35) while kraft.version is 0.
        """
        from kwire.admin.voters import remove_raft_voter

        await remove_raft_voter(
            self.driver, voter_id, voter_directory_id, cluster_id=cluster_id, timeout=timeout
        )

    async def cluster_id(self, *, timeout: float | None = None) -> str | None:
        """Return the id of the cluster that is asked: text, to be compared as such.

        None where controllers do not tell it: before Kafka 3.7, to a principal without ALTER on the
        cluster, and as long as they have found no leader.
        """
        from kwire.admin.quorum import cluster_id

        return await cluster_id(self.driver, timeout=timeout)

    async def describe_first_features(self, *, timeout: float | None = None) -> FeatureMetadata:
        """Return supported and finalized features of the first node that can be connected to.

        A connection begins with ApiVersions, which tells them: nothing else is asked, and a
        connection that is open already tells what was so when it was opened. A controller that
        does not lead may be a moment behind. One that has found no leader since it started is asked
        again.

        Raises MismatchedEndpointType, NoReachableLeader, ConnectionFailed.
        """
        from kwire.admin.features import describe_first_features

        return await describe_first_features(self.driver, timeout=timeout)

    async def describe_group_lag(
        self,
        group_ids: Iterable[str],
        *,
        listed: Outcomes[int, tuple[GroupListing, ...]] | None = None,
        timeout: float | None = None,
    ) -> Outcomes[str, GroupLag]:
        """Return the lag of groups of any type, partition by partition.

        listed: an answer of list_groups that is at hand, by which the types are known.

        1. Describe the groups, each type by its API.
        2. Ask every coordinator for the offsets of all its groups.
        3. Ask every leader for the ends of all its partitions, of all groups together.

        Refused: as describe_groups and list_group_offsets. A partition whose end is not known, as
        it has no leader, has an error of its own.
        """
        from kwire.admin.group_lag import describe_group_lag

        return await describe_group_lag(self.driver, group_ids, listed=listed, timeout=timeout)

    async def describe_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        listed: Outcomes[int, tuple[GroupListing, ...]] | None = None,
        timeout: float | None = None,
    ) -> Outcomes[str, GroupDescription]:
        """Describe groups of any type.

        listed: an answer of list_groups that is at hand; step 1 is then left out.

        1. Ask every broker for the types of its groups.
        2. Describe the groups of each type by its own API, all at once. A group that is not listed,
           or without a type, is asked for as a consumer group, which may be a classic one.

        Refused: GROUP_ID_NOT_FOUND (69), GROUP_AUTHORIZATION_FAILED (30).
        """
        from kwire.admin.groups import describe_groups

        return await describe_groups(
            self.driver,
            group_ids,
            include_authorized_operations=include_authorized_operations,
            listed=listed,
            timeout=timeout,
        )

    async def disarm(self, planned: Disarming, *, timeout: float | None = None) -> None:
        """Register the controller of a plan anew.

        Raises ReadOnly; BrokerError CLUSTER_AUTHORIZATION_FAILED (31).
        """
        from kwire.admin.ghost_controllers import disarm

        await disarm(self.driver, planned, timeout=timeout)

    async def find_hanging_transactions(
        self,
        *,
        topics: Iterable[str] | None = None,
        partitions: Iterable[TopicPartition] | None = None,
        broker_id: int | None = None,
        longer_than_ms: int = 900000,
        timeout: float | None = None,
    ) -> HangingSearch:
        """Return the transactions that hang in these partitions, or in those of these topics.

        topics, partitions: by default every topic of the cluster. broker_id: only the replicas on
        this broker, asked there. longer_than_ms: since the producer's last write; shorter ones are
        left to their coordinator.

        1. Ask for the producers of each partition; keep open transactions that last long enough.
        2. Ask every broker for the transactional ids of their producers, and each coordinator for
           the transaction.
        3. A transaction hangs in a partition if no coordinator knows its producer, or the one that
           does has no marker to write there.

        Raises ExceptionGroup if a coordinator does not answer in step 2: what it knows may be what
        is missing, and an end to a transaction that does not hang loses its data.
        """
        from kwire.admin.hanging_transactions import find_hanging_transactions

        return await find_hanging_transactions(
            self.driver,
            topics=topics,
            partitions=partitions,
            broker_id=broker_id,
            longer_than_ms=longer_than_ms,
            timeout=timeout,
        )

    async def node_api_versions(
        self, node_ids: Iterable[int] | None = None, *, timeout: float | None = None
    ) -> Outcomes[int, NodeApiVersions]:
        """Return the APIs, versions and features that each node offers.

        node_ids: by default every broker that is not fenced, or every registered controller if
        controllers are the bootstrap; a node that is down has its error as outcome.
        """
        from kwire.admin.node_versions import node_api_versions

        return await node_api_versions(self.driver, node_ids, timeout=timeout)

    async def plan_disarming(
        self, controller_id: int, *, timeout: float | None = None
    ) -> Disarming:
        """Plan to register a controller that is gone anew, with what all voters support.

        1. It is registered, and the cluster cannot remove registrations.
        2. It neither votes nor has fetched from the leader a moment ago.
        3. Nobody answers at the addresses that it registered, unless they are those of another
           controller now.
        4. All voters are registered.

        Silence is no proof of death: a controller that runs takes its registration back when it
        reads the new one (Java: ControllerRegistrationManager).

        Raises InvalidValue where one of these is not so, UnsupportedEndpointType at brokers.
        """
        from kwire.admin.ghost_controllers import plan_disarming

        return await plan_disarming(self.driver, controller_id, timeout=timeout)

    async def plan_group_seek(
        self,
        group_id: str,
        target: SeekTarget,
        topics: TopicChoice | None = None,
        *,
        timeout: float | None = None,
    ) -> SeekPlan:
        """Return the old and new offset of each partition; nothing is changed.

        1. Describe the group, which may be missing.
        2. Choose the partitions: of the topics, of the file or other group, or the group's own.
        3. Find their new offsets, and keep them inside the log.

        Raises InvalidValue if there is nothing to move.
        """
        from kwire.admin.group_seek import plan_group_seek

        return await plan_group_seek(self.driver, group_id, target, topics, timeout=timeout)

    async def seek_group(
        self, plan: SeekPlan, *, timeout: float | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Carry out a plan; return the outcome of each partition that has a new offset.

        Raises InvalidValue if the group has members: then nothing is sent.
        """
        from kwire.admin.group_seek import seek_group

        return await seek_group(self.driver, plan, timeout=timeout)
