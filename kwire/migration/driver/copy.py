"""ZooKeeper's metadata as records of the metadata log (KIP-866).

Java: ZkMigrationClient.readAllMetadata and the batches of KRaftMigrationDriver. Inside of a kind
Java has the order of its hash maps; here it is that of the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.errors import LocalError
from kwire.image.delegation_tokens import DelegationToken
from kwire.messages.config_resource import ResourceType
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.producer_ids import ProducerIdsRecord
from kwire.messages.records.topic import TopicRecord
from kwire.migration.driver.copied_quotas import quota_groups
from kwire.migration.driver.znode_writes.acls import resource_order
from kwire.migration.driver.zookeeper_partitions import registrations
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.zookeeper_metadata import ZooKeeperMetadata

MIN_BATCH_SIZE = 200
"""Default of zookeeper.metadata.migration.min.batch.size."""

NO_BROKER_EPOCH = -1

ACLS_AT_ONCE = 100
"""Most ACLs of a resource in one group (ZkMigrationClient.MaxBatchSize)."""

CopiedRecords = list[VersionedRecord]


class TopicsWithoutIds(LocalError):
    """Topics of ZooKeeper have no ids, so nothing can be copied; `topics` names them."""

    def __init__(self, topics: Iterable[str]) -> None:
        self.topics = tuple(sorted(topics))
        names = ", ".join(self.topics[:5])
        more = f" and {len(self.topics) - 5} more" if len(self.topics) > 5 else ""
        super().__init__(
            f"{len(self.topics)} topics have no topic id ({names}{more}): a controller in ZooKeeper"
            " mode of release 2.8 or later gives them one when it is elected; nothing was written"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataCopy:
    """The records of a copy, each list to be one batch, and the brokers that they name."""

    batches: list[CopiedRecords]
    broker_ids: frozenset[int]


def metadata_copy(
    zookeeper: ZooKeeperMetadata,
    *,
    passwords: PasswordEncoder,
    new_id: Callable[[], UUID],
    min_batch_size: int = MIN_BATCH_SIZE,
) -> MetadataCopy:
    """Return the copy of all of ZooKeeper. Raises as `copied_batches` does."""
    batches = copied_batches(
        zookeeper, passwords=passwords, new_id=new_id, min_batch_size=min_batch_size
    )
    return MetadataCopy(batches=batches, broker_ids=copied_broker_ids(zookeeper))


def copied_batches(
    zookeeper: ZooKeeperMetadata,
    *,
    passwords: PasswordEncoder,
    new_id: Callable[[], UUID],
    min_batch_size: int = MIN_BATCH_SIZE,
) -> list[CopiedRecords]:
    """Return the records of all of ZooKeeper in batches; new_id makes the ids of ACLs.

    What belongs together, as a topic, is in one batch: a batch has at least min_batch_size records
    and ends with a group, or with the copy. Topics that are to be deleted are left out.

    Raises TopicsWithoutIds, InvalidZnode and PasswordNotDecoded.
    """
    batches: list[CopiedRecords] = [[]]
    for group in copied_groups(zookeeper, passwords=passwords, new_id=new_id):
        if len(batches[-1]) >= min_batch_size:
            batches.append([])
        batches[-1] += group
    return [batch for batch in batches if batch]


def copied_groups(
    zookeeper: ZooKeeperMetadata, *, passwords: PasswordEncoder, new_id: Callable[[], UUID]
) -> Iterator[CopiedRecords]:
    """Yield the records in groups, as Java hands them over, in this order.

    1. Topics, each with its configuration and its partitions.
    2. Configurations of brokers.
    3. Quotas and SCRAM credentials.
    4. The producer ids.
    5. ACLs, by resource.
    6. Delegation tokens.
    """
    # 1.
    yield from _topics(zookeeper, passwords)
    # 2.
    yield from _broker_configs(zookeeper, passwords)
    # 3.
    yield from quota_groups(zookeeper)
    # 4.
    yield from _producer_ids(zookeeper)
    # 5.
    yield from _acls(zookeeper, new_id)
    # 6.
    yield from _tokens(zookeeper)


def copied_broker_ids(zookeeper: ZooKeeperMetadata) -> frozenset[int]:
    """Return the brokers that the copied metadata names."""
    topics = (zookeeper.topics[name] for name in _copied_topics(zookeeper))
    replicas = {
        replica
        for topic in topics
        for assigned in topic.topic.value.partitions.values()
        for replica in (*assigned.replicas, *assigned.adding)
    }
    names = (name for name in zookeeper.broker_configs if name is not None)
    return frozenset(replicas | {int(name) for name in names if name.isdecimal()})


def _copied_topics(zookeeper: ZooKeeperMetadata) -> list[str]:
    return sorted(zookeeper.topics.keys() - zookeeper.pending_deletions)


def _topics(zookeeper: ZooKeeperMetadata, passwords: PasswordEncoder) -> Iterator[CopiedRecords]:
    names = _copied_topics(zookeeper)
    ids = {name: zookeeper.topics[name].topic.value.topic_id for name in names}
    if without_ids := [name for name, id in ids.items() if id is None]:
        raise TopicsWithoutIds(without_ids)
    configs = zookeeper.topic_configs
    for name, id in ids.items():
        assert id is not None
        group = [_record(TopicRecord(name=name, topic_id=id))]
        if name in configs:
            values = passwords.decode_configs(configs[name].value.config, f"topic {name}")
            group += _config_records(ResourceType.TOPIC, name, values)
        group += _partition_records(zookeeper, name, id)
        yield group


def _partition_records(zookeeper: ZooKeeperMetadata, name: str, id: UUID) -> CopiedRecords:
    # Version 0 whatever the metadata.version: it has no directories (DirectoryId.MIGRATING).
    return [
        _record(
            PartitionRecord(
                partition_id=number,
                topic_id=id,
                replicas=partition.replicas,
                isr=partition.isr,
                removing_replicas=partition.removing_replicas,
                adding_replicas=partition.adding_replicas,
                leader=partition.leader,
                leader_recovery_state=partition.leader_recovery_state,
                leader_epoch=partition.leader_epoch,
                partition_epoch=partition.partition_epoch,
            )
        )
        for number, partition in registrations(zookeeper.topics[name]).items()
    ]


def _broker_configs(
    zookeeper: ZooKeeperMetadata, passwords: PasswordEncoder
) -> Iterator[CopiedRecords]:
    configs = sorted(zookeeper.broker_configs.items(), key=lambda item: item[0] or "")
    for name, stored in configs:
        values = passwords.decode_configs(stored.value.config, f"broker {name or '<default>'}")
        yield _config_records(ResourceType.BROKER, name or "", values)


def _config_records(type: ResourceType, name: str, values: Mapping[str, str]) -> CopiedRecords:
    return [
        _record(ConfigRecord(resource_type=type, resource_name=name, name=key, value=value))
        for key, value in sorted(values.items())
    ]


def _producer_ids(zookeeper: ZooKeeperMetadata) -> Iterator[CopiedRecords]:
    if zookeeper.producer_ids is not None:
        block = zookeeper.producer_ids.value
        yield [
            _record(
                ProducerIdsRecord(
                    broker_id=block.broker_id,
                    broker_epoch=NO_BROKER_EPOCH,
                    next_producer_id=block.next_producer_id,
                )
            )
        ]


def _acls(zookeeper: ZooKeeperMetadata, new_id: Callable[[], UUID]) -> Iterator[CopiedRecords]:
    for resource in sorted(zookeeper.acls, key=resource_order):
        # Java has a set: what is there twice is one rule.
        entries = dict.fromkeys(zookeeper.acls[resource].value.entries)
        rules = [entry.rule(resource).record(new_id()) for entry in entries]
        for start in range(0, len(rules), ACLS_AT_ONCE):
            yield rules[start : start + ACLS_AT_ONCE]


def _tokens(zookeeper: ZooKeeperMetadata) -> Iterator[CopiedRecords]:
    tokens = zookeeper.delegation_tokens
    yield [
        DelegationToken(
            owner=token.owner,
            requester=token.requester,
            renewers=token.renewers,
            issue_timestamp=token.issue_timestamp,
            max_timestamp=token.max_timestamp,
            expiration_timestamp=token.expiry_timestamp,
        ).record(token.token_id)
        for token in (tokens[id].value for id in sorted(tokens))
    ]


def _record(record: MetadataRecord) -> VersionedRecord:
    return VersionedRecord(record=record, version=0)
