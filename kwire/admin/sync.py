"""The operations of AdminClient for callers without an event loop.

Written by `python -m admin_clients` from the asynchronous ones, which say more about each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.admin import client
from kwire.admin.background_loop import BackgroundLoop
from kwire.admin.partition_options import ElectionType, IsolationLevel
from kwire.net.security import PLAINTEXT
from kwire.net.timeouts import OPERATION

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
    from kwire.net.security import Security


class AdminClient(BackgroundLoop[client.AdminClient]):
    """AdminClient whose methods wait for the result; closed by `with` or `close`.

    with AdminClient(bootstrap_servers="127.0.0.1:9092") as admin:
        print(admin.list_topics())

    The parameters are those of ClusterClient. All calls share one event loop in a thread of its
    own, and the connections with it; several threads may use one client.
    """

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str] | None = None,
        bootstrap_controllers: str | Iterable[str] | None = None,
        *,
        client_id: str = "kwire-admin",
        security: Security = PLAINTEXT,
        timeout: float = OPERATION,
        request_timeout: float | None = None,
        connect_timeout: float | None = None,
        read_only: bool = False,
        allow_unlisted: bool = False,
    ) -> None:
        super().__init__(
            client.AdminClient(
                bootstrap_servers,
                bootstrap_controllers,
                client_id=client_id,
                security=security,
                timeout=timeout,
                request_timeout=request_timeout,
                connect_timeout=connect_timeout,
                read_only=read_only,
                allow_unlisted=allow_unlisted,
            )
        )

    def create_topics(
        self,
        topics: Iterable[NewTopic],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, CreatedTopic]:
        """Create topics; return the outcome of each name."""
        return self._wait(
            self._client.create_topics(topics, validate_only=validate_only, timeout=timeout)
        )

    def delete_topics(
        self, topics: Iterable[TopicKey], *, timeout: float | None = None
    ) -> Outcomes[TopicKey, None]:
        """Delete topics by name, or by id (Kafka 2.8); return the outcome of each."""
        return self._wait(self._client.delete_topics(topics, timeout=timeout))

    def list_topics(self, *, timeout: float | None = None) -> list[TopicListing]:
        """Return every topic that the user may describe, by name."""
        return self._wait(self._client.list_topics(timeout=timeout))

    def describe_topics(
        self, topics: Iterable[TopicKey] | None = None, *, timeout: float | None = None
    ) -> Outcomes[TopicKey, TopicDescription]:
        """Describe topics by name or id, by default every topic that the user may describe."""
        return self._wait(self._client.describe_topics(topics, timeout=timeout))

    def create_partitions(
        self,
        topics: Mapping[str, TopicGrowth],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, None]:
        """Give topics more partitions; return the outcome of each name."""
        return self._wait(
            self._client.create_partitions(topics, validate_only=validate_only, timeout=timeout)
        )

    def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Outcomes[TopicPartition, int]:
        """Delete the records before an offset, or HIGH_WATERMARK; return the new first offsets."""
        return self._wait(self._client.delete_records(before, timeout=timeout))

    def list_offsets(
        self,
        times: Mapping[TopicPartition, int],
        *,
        isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, ListOffsetsResultInfo]:
        """Return the offset of each partition at a time in ms since 1970, or at an OffsetSpec."""
        return self._wait(
            self._client.list_offsets(times, isolation_level=isolation_level, timeout=timeout)
        )

    def elect_leaders(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        election_type: ElectionType = ElectionType.PREFERRED,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, ElectionOutcome]:
        """Elect the leaders of partitions, of all if None."""
        return self._wait(
            self._client.elect_leaders(partitions, election_type=election_type, timeout=timeout)
        )

    def alter_partition_reassignments(
        self,
        replicas: TargetsByPartition,
        *,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, None]:
        """Begin to move partitions to other replicas; None takes a running move back."""
        return self._wait(
            self._client.alter_partition_reassignments(
                replicas,
                allow_replication_factor_change=allow_replication_factor_change,
                timeout=timeout,
            )
        )

    def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None, *, timeout: float | None = None
    ) -> Mapping[TopicPartition, OngoingReassignment]:
        """Return the partitions that are on the move, among these or of all, sorted."""
        return self._wait(self._client.list_partition_reassignments(partitions, timeout=timeout))

    def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        names: Iterable[str] | None = None,
        synonyms: bool = False,
        documentation: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[ConfigResource, Mapping[str, ConfigEntry]]:
        """Return the keys of each resource with their values, as the node knows them."""
        return self._wait(
            self._client.describe_configs(
                resources,
                names=names,
                synonyms=synonyms,
                documentation=documentation,
                timeout=timeout,
            )
        )

    def incremental_alter_configs(
        self,
        changes: Mapping[ConfigResource, Iterable[ConfigChange]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[ConfigResource, None]:
        """Change single keys and leave the others alone; one resource's changes all, or none."""
        return self._wait(
            self._client.incremental_alter_configs(
                changes, validate_only=validate_only, timeout=timeout
            )
        )

    def list_config_resources(
        self, types: Iterable[int] = (), *, timeout: float | None = None
    ) -> tuple[ConfigResource, ...]:
        """Return the resources of these types, by default of all, that may have configuration."""
        return self._wait(self._client.list_config_resources(types, timeout=timeout))

    def list_groups(
        self,
        *,
        types: Iterable[str] = (),
        states: Iterable[str] = (),
        protocols: Iterable[str] = (),
        timeout: float | None = None,
    ) -> Outcomes[int, tuple[GroupListing, ...]]:
        """Return the groups that each broker coordinates, by node id; see `listed_groups`."""
        return self._wait(
            self._client.list_groups(
                types=types, states=states, protocols=protocols, timeout=timeout
            )
        )

    def describe_classic_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, ClassicGroupDescription]:
        """Describe groups of the classic protocol, of consumers or others."""
        return self._wait(
            self._client.describe_classic_groups(
                group_ids,
                include_authorized_operations=include_authorized_operations,
                timeout=timeout,
            )
        )

    def describe_consumer_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, ConsumerGroupDescription]:
        """Describe groups of consumers, of the protocol of KIP-848 or of the classic one."""
        return self._wait(
            self._client.describe_consumer_groups(
                group_ids,
                include_authorized_operations=include_authorized_operations,
                timeout=timeout,
            )
        )

    def describe_share_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, ShareGroupDescription]:
        """Describe share groups (KIP-932)."""
        return self._wait(
            self._client.describe_share_groups(
                group_ids,
                include_authorized_operations=include_authorized_operations,
                timeout=timeout,
            )
        )

    def describe_streams_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, StreamsGroupDescription]:
        """Describe streams groups (KIP-1071). Refused as share groups."""
        return self._wait(
            self._client.describe_streams_groups(
                group_ids,
                include_authorized_operations=include_authorized_operations,
                timeout=timeout,
            )
        )

    def list_group_offsets(
        self,
        groups: Iterable[str] | WantedOffsets,
        *,
        require_stable: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, CommittedOffsets]:
        """Return the committed offsets of many groups; each coordinator is asked once."""
        return self._wait(
            self._client.list_group_offsets(groups, require_stable=require_stable, timeout=timeout)
        )

    def alter_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        *,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, None]:
        """Commit offsets in the place of a group without members; makes the group if need be."""
        return self._wait(self._client.alter_group_offsets(group_id, offsets, timeout=timeout))

    def delete_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Make a group forget its offsets of partitions; to forget what is not there is no
        error.
        """
        return self._wait(self._client.delete_group_offsets(group_id, partitions, timeout=timeout))

    def list_share_group_offsets(
        self, groups: Iterable[str] | WantedOffsets, *, timeout: float | None = None
    ) -> Outcomes[str, Outcomes[TopicPartition, SharePartitionOffsetInfo | None]]:
        """Return the start offsets of share groups (KIP-932); as list_group_offsets."""
        return self._wait(self._client.list_share_group_offsets(groups, timeout=timeout))

    def alter_share_group_offsets(
        self, group_id: str, offsets: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Set the start offsets of a share group without members; makes the group if need be."""
        return self._wait(
            self._client.alter_share_group_offsets(group_id, offsets, timeout=timeout)
        )

    def delete_share_group_offsets(
        self, group_id: str, topics: Iterable[str], *, timeout: float | None = None
    ) -> Outcomes[str, None]:
        """Make a share group without members forget topics, all partitions of each."""
        return self._wait(
            self._client.delete_share_group_offsets(group_id, topics, timeout=timeout)
        )

    def delete_groups(
        self, group_ids: Iterable[str], *, timeout: float | None = None
    ) -> Outcomes[str, None]:
        """Delete groups of any type with their offsets; return the outcome of each."""
        return self._wait(self._client.delete_groups(group_ids, timeout=timeout))

    def remove_group_members(
        self,
        group_id: str,
        members: Collection[MemberToRemove] | None = None,
        *,
        reason: str = "removed by an administrator",
        timeout: float | None = None,
    ) -> Outcomes[MemberToRemove, None]:
        """Remove members from a classic or consumer group; a live one joins again at once."""
        return self._wait(
            self._client.remove_group_members(group_id, members, reason=reason, timeout=timeout)
        )

    def describe_producers(
        self,
        partitions: Iterable[TopicPartition],
        *,
        broker_id: int | None = None,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, tuple[ActiveProducer, ...]]:
        """Return the producers that each partition's leader remembers."""
        return self._wait(
            self._client.describe_producers(partitions, broker_id=broker_id, timeout=timeout)
        )

    def describe_transactions(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None
    ) -> Outcomes[str, TransactionDescription]:
        """Return the transaction of each transactional id, from its coordinator."""
        return self._wait(self._client.describe_transactions(transactional_ids, timeout=timeout))

    def list_transactions(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        longer_than_ms: int | None = None,
        pattern: str | None = None,
        timeout: float | None = None,
    ) -> Outcomes[int, tuple[TransactionListing, ...]]:
        """Return the transactional ids that each broker coordinates, by broker."""
        return self._wait(
            self._client.list_transactions(
                states=states,
                producer_ids=producer_ids,
                longer_than_ms=longer_than_ms,
                pattern=pattern,
                timeout=timeout,
            )
        )

    def abort_transaction(
        self,
        partition: TopicPartition,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int = 0,
        *,
        timeout: float | None = None,
    ) -> None:
        """Have a partition's leader write the abort marker of a transaction that hangs there."""
        self._wait(
            self._client.abort_transaction(
                partition, producer_id, producer_epoch, coordinator_epoch, timeout=timeout
            )
        )

    def fence_producers(
        self, transactional_ids: Collection[str], *, timeout: float | None = None
    ) -> Outcomes[str, ProducerIdAndEpoch]:
        """Give each transactional id a new epoch: its producers can write no more."""
        return self._wait(self._client.fence_producers(transactional_ids, timeout=timeout))

    def force_terminate_transaction(
        self, transactional_id: str, *, timeout: float | None = None
    ) -> ProducerIdAndEpoch:
        """Abort the transaction of a transactional id through its coordinator (KIP-939)."""
        return self._wait(
            self._client.force_terminate_transaction(transactional_id, timeout=timeout)
        )

    def describe_acls(
        self, acl_filter: AclFilter | None = None, *, timeout: float | None = None
    ) -> tuple[AclBinding, ...]:
        """Return the ACLs that a filter matches, by default all."""
        return self._wait(self._client.describe_acls(acl_filter, timeout=timeout))

    def create_acls(
        self, bindings: Iterable[AclBinding], *, timeout: float | None = None
    ) -> Outcomes[AclBinding, None]:
        """Add ACLs; one that exists already stays as it is, and counts as done."""
        return self._wait(self._client.create_acls(bindings, timeout=timeout))

    def delete_acls(
        self, filters: Iterable[AclFilter], *, timeout: float | None = None
    ) -> Outcomes[AclFilter, Outcomes[AclBinding, None]]:
        """Remove every ACL that a filter matches; return the outcomes of each filter's ACLs."""
        return self._wait(self._client.delete_acls(filters, timeout=timeout))

    def describe_client_quotas(
        self, quota_filter: QuotaFilter | None = None, *, timeout: float | None = None
    ) -> dict[QuotaEntity, Quotas]:
        """Return the quotas that a filter matches, by entity; by default all."""
        return self._wait(self._client.describe_client_quotas(quota_filter, timeout=timeout))

    def alter_client_quotas(
        self,
        changes: Mapping[QuotaEntity, Mapping[str, float | None]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[QuotaEntity, None]:
        """Set quotas, or remove those whose value is None; return the outcome of each entity."""
        return self._wait(
            self._client.alter_client_quotas(changes, validate_only=validate_only, timeout=timeout)
        )

    def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> Outcomes[str, tuple[ScramCredentialInfo, ...]]:
        """Return mechanism and iterations of users' credentials, by default of all users."""
        return self._wait(self._client.describe_user_scram_credentials(users, timeout=timeout))

    def alter_user_scram_credentials(
        self, alterations: Iterable[ScramAlteration], *, timeout: float | None = None
    ) -> Outcomes[ScramKey, None]:
        """Set and delete credentials; return the outcome of each user and mechanism."""
        return self._wait(self._client.alter_user_scram_credentials(alterations, timeout=timeout))

    def create_delegation_token(
        self,
        *,
        owner: str | None = None,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int = -1,
        timeout: float | None = None,
    ) -> DelegationTokenInfo:
        """Have a token made, by default for the user of this client."""
        return self._wait(
            self._client.create_delegation_token(
                owner=owner, renewers=renewers, max_lifetime_ms=max_lifetime_ms, timeout=timeout
            )
        )

    def renew_delegation_token(
        self, hmac: bytes, *, period_ms: int = -1, timeout: float | None = None
    ) -> int:
        """Prolong a token's life; return its new end in ms since 1970."""
        return self._wait(
            self._client.renew_delegation_token(hmac, period_ms=period_ms, timeout=timeout)
        )

    def expire_delegation_token(
        self, hmac: bytes, *, period_ms: int = -1, timeout: float | None = None
    ) -> int:
        """End a token, now or so many ms from now; return its end in ms since 1970."""
        return self._wait(
            self._client.expire_delegation_token(hmac, period_ms=period_ms, timeout=timeout)
        )

    def describe_delegation_token(
        self, owners: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> tuple[DelegationTokenInfo, ...]:
        """Return the tokens of these owners that the user may see, by default of all owners."""
        return self._wait(self._client.describe_delegation_token(owners, timeout=timeout))

    def describe_log_dirs(
        self, broker_ids: Iterable[int] | None = None, *, timeout: float | None = None
    ) -> Outcomes[int, LogDirsByPath]:
        """Return the directories of each broker by path, with the replicas in them."""
        return self._wait(self._client.describe_log_dirs(broker_ids, timeout=timeout))

    def describe_replica_log_dirs(
        self, replicas: Iterable[TopicPartitionReplica], *, timeout: float | None = None
    ) -> Outcomes[TopicPartitionReplica, ReplicaLogDirs]:
        """Return the directory of each replica, and the one it is being moved to."""
        return self._wait(self._client.describe_replica_log_dirs(replicas, timeout=timeout))

    def alter_replica_log_dirs(
        self, directories: LogDirByReplica, *, timeout: float | None = None
    ) -> Outcomes[TopicPartitionReplica, None]:
        """Have brokers move replicas to other directories of theirs; they copy in the
        background.
        """
        return self._wait(self._client.alter_replica_log_dirs(directories, timeout=timeout))

    def describe_cluster(
        self,
        *,
        include_fenced_brokers: bool = False,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """Return the cluster's id and nodes: brokers, or controllers if those are the bootstrap."""
        return self._wait(
            self._client.describe_cluster(
                include_fenced_brokers=include_fenced_brokers,
                include_authorized_operations=include_authorized_operations,
                timeout=timeout,
            )
        )

    def unregister_broker(self, broker_id: int, *, timeout: float | None = None) -> None:
        """Have the controller forget a broker (KIP-631)."""
        self._wait(self._client.unregister_broker(broker_id, timeout=timeout))

    def unregister_controller(self, controller_id: int, *, timeout: float | None = None) -> None:
        """Have the active controller forget a controller that is gone (KIP-1312, Kafka 4.4)."""
        self._wait(self._client.unregister_controller(controller_id, timeout=timeout))

    def describe_features(
        self, *, node_id: int | None = None, timeout: float | None = None
    ) -> FeatureMetadata:
        """Return supported and finalized features, from the answer to ApiVersions."""
        return self._wait(self._client.describe_features(node_id=node_id, timeout=timeout))

    def update_features(
        self,
        updates: Mapping[str, FeatureUpdate],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Outcomes[str, None]:
        """Change the finalized levels of features, all of them or none since Kafka 4.0."""
        return self._wait(
            self._client.update_features(updates, validate_only=validate_only, timeout=timeout)
        )

    def describe_metadata_quorum(self, *, timeout: float | None = None) -> QuorumInfo:
        """Return leader, voters and observers of the metadata quorum, from the leader itself."""
        return self._wait(self._client.describe_metadata_quorum(timeout=timeout))

    def add_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        endpoints: Iterable[RaftVoterEndpoint],
        *,
        cluster_id: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Make an observer, a controller that follows the quorum, a voter."""
        self._wait(
            self._client.add_raft_voter(
                voter_id, voter_directory_id, endpoints, cluster_id=cluster_id, timeout=timeout
            )
        )

    def remove_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        *,
        cluster_id: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Take a voter out of the voter set; its process goes on as an observer."""
        self._wait(
            self._client.remove_raft_voter(
                voter_id, voter_directory_id, cluster_id=cluster_id, timeout=timeout
            )
        )

    def cluster_id(self, *, timeout: float | None = None) -> str | None:
        """Return the id of the cluster that is asked: text, to be compared as such."""
        return self._wait(self._client.cluster_id(timeout=timeout))

    def describe_first_features(self, *, timeout: float | None = None) -> FeatureMetadata:
        """Return supported and finalized features of the first node that can be connected to."""
        return self._wait(self._client.describe_first_features(timeout=timeout))

    def describe_group_lag(
        self,
        group_ids: Iterable[str],
        *,
        listed: Outcomes[int, tuple[GroupListing, ...]] | None = None,
        timeout: float | None = None,
    ) -> Outcomes[str, GroupLag]:
        """Return the lag of groups of any type, partition by partition."""
        return self._wait(
            self._client.describe_group_lag(group_ids, listed=listed, timeout=timeout)
        )

    def describe_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        listed: Outcomes[int, tuple[GroupListing, ...]] | None = None,
        timeout: float | None = None,
    ) -> Outcomes[str, GroupDescription]:
        """Describe groups of any type."""
        return self._wait(
            self._client.describe_groups(
                group_ids,
                include_authorized_operations=include_authorized_operations,
                listed=listed,
                timeout=timeout,
            )
        )

    def disarm(self, planned: Disarming, *, timeout: float | None = None) -> None:
        """Register the controller of a plan anew."""
        self._wait(self._client.disarm(planned, timeout=timeout))

    def find_hanging_transactions(
        self,
        *,
        topics: Iterable[str] | None = None,
        partitions: Iterable[TopicPartition] | None = None,
        broker_id: int | None = None,
        longer_than_ms: int = 900000,
        timeout: float | None = None,
    ) -> HangingSearch:
        """Return the transactions that hang in these partitions, or in those of these topics."""
        return self._wait(
            self._client.find_hanging_transactions(
                topics=topics,
                partitions=partitions,
                broker_id=broker_id,
                longer_than_ms=longer_than_ms,
                timeout=timeout,
            )
        )

    def node_api_versions(
        self, node_ids: Iterable[int] | None = None, *, timeout: float | None = None
    ) -> Outcomes[int, NodeApiVersions]:
        """Return the APIs, versions and features that each node offers."""
        return self._wait(self._client.node_api_versions(node_ids, timeout=timeout))

    def plan_disarming(self, controller_id: int, *, timeout: float | None = None) -> Disarming:
        """Plan to register a controller that is gone anew, with what all voters support."""
        return self._wait(self._client.plan_disarming(controller_id, timeout=timeout))

    def plan_group_seek(
        self,
        group_id: str,
        target: SeekTarget,
        topics: TopicChoice | None = None,
        *,
        timeout: float | None = None,
    ) -> SeekPlan:
        """Return the old and new offset of each partition; nothing is changed."""
        return self._wait(self._client.plan_group_seek(group_id, target, topics, timeout=timeout))

    def seek_group(
        self, plan: SeekPlan, *, timeout: float | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Carry out a plan; return the outcome of each partition that has a new offset."""
        return self._wait(self._client.seek_group(plan, timeout=timeout))
