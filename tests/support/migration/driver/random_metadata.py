"""Random metadata: the records of an image, and records that change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from random import Random
from typing import TypeVar
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, apply_all
from kwire.image.client_quotas import EMPTY as NO_QUOTAS
from kwire.image.client_quotas import Entity
from kwire.image.scram import ScramUser
from kwire.image.topics import TopicImage
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.producer_ids import ProducerIdsRecord
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord

T = TypeVar("T")

BROKERS = (0, 1, 2, 5, 1001)
TOPICS = ("orders", "a", "a.b", "A_-9", "__consumer_offsets", "topic-with-a-long-name")
USERS = ("alice", "al ice", "ü*+~%", "CN=a,O=b/c", "<default>", "\N{GRINNING FACE}")
NAMES: tuple[str | None, ...] = (*USERS, None)
IPS: tuple[str | None, ...] = ("127.0.0.1", "::1", None)
RESOURCES = ("orders", "*", "ü ä", "a.b", 'quote"s', "a:b", "%41")
PASSWORD_KEY = "listener.name.tls.ssl.keystore.password"
CONFIG_KEYS = ("retention.ms", "cleanup.policy", "max.message.bytes", "log.cleaner.threads")
QUOTA_KEYS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
)


class RandomMetadata:
    """Random records that fit to an image; `image` is the one after all of them.

    for_synchronisation: add no partitions to a topic, which Java's does not survive.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.image = EMPTY
        self.for_synchronisation = False
        self._numbers = count(1)
        self._touched: set[object] = set()

    def records(self, steps: int) -> list[VersionedRecord]:
        """Return the records of random changes, and apply them.

        None of them changes what another one did: Java then writes what has not changed in the end.
        """
        self._touched = set()
        made: list[VersionedRecord] = []
        for _ in range(steps):
            records = [
                VersionedRecord(record=record, version=0)
                for record in self.random.choice(_CHANGES)(self)
            ]
            self.image = apply_all(self.image, records)
            made += records
        return made

    def create_topic(self) -> Iterator[MetadataRecord]:
        """Create a topic, with a configuration or without."""
        free = [name for name in TOPICS if name not in self.image.topics.ids]
        name = self.random.choice(free) if free else ""
        if not free or self._is_touched(name):
            return
        id = UUID(int=self.random.getrandbits(128))
        yield TopicRecord(name=name, topic_id=id)
        for number in range(self.random.choice((1, 1, 2, 3, 12))):
            yield self._partition(id, number)
        if self.random.random() < 0.4:
            yield self._config(ConfigResource(ResourceType.TOPIC, name))

    def delete_topic(self) -> Iterator[MetadataRecord]:
        """Delete a topic; none of its name is created by the same records."""
        topic = self._topic()
        if topic is not None and not self._is_touched(topic.name):
            yield RemoveTopicRecord(topic_id=topic.id)

    def add_partitions(self) -> Iterator[MetadataRecord]:
        """Add partitions to a topic."""
        if (topic := self._topic()) and not self.for_synchronisation:
            first = len(topic.partitions)
            for number in range(first, first + self.random.randint(1, 3)):
                yield self._partition(topic.id, number)

    def change_partition(self) -> Iterator[MetadataRecord]:
        """Change leader, ISR, or replicas of a partition."""
        topic = self._topic()
        if topic is None:
            return
        number = self.random.choice(sorted(topic.partitions))
        partition = topic.partitions[number]
        change = PartitionChangeRecord(
            partition_id=number,
            topic_id=topic.id,
            isr=self._some(partition.replicas),
            leader=self.random.choice((-2, -1, *partition.replicas)),
            leader_recovery_state=self.random.choice((-1, 0, 1)),
        )
        if self.random.random() < 0.3:
            change.replicas = self._replicas()
            change.isr = self._some(change.replicas)
            change.adding_replicas = self._some(change.replicas)
            change.removing_replicas = ()
        yield change

    def change_config(self) -> Iterator[MetadataRecord]:
        """Set or remove a value of a topic, a broker or all brokers."""
        names = sorted(self.image.topics.ids)
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
        resources += [ConfigResource(ResourceType.BROKER, name) for name in ("", "0", "1001")]
        resource = self.random.choice(resources)
        is_broker = resource.type == ResourceType.BROKER
        if self._is_touched(resource if is_broker else resource.name):
            return
        present = self.image.configs.resources.get(resource)
        if present is not None and self.random.random() < 0.4:
            key = self.random.choice(sorted(present))
            yield ConfigRecord(
                resource_type=resource.type, resource_name=resource.name, name=key, value=None
            )
        else:
            yield self._config(resource)

    def change_quota(self) -> Iterator[MetadataRecord]:
        """Set a quota; remove one only of a user alone, or if another one is left.

        Java fails with a NullPointerException for the last one of any other entity.
        """
        entity = self._entity()
        if self._is_touched(entity):
            return
        is_ip = dict(entity).keys() == {"ip"}
        present = self.image.client_quotas.entities.get(entity, NO_QUOTAS)
        parts = [EntityData(entity_type=type, entity_name=name) for type, name in sorted(entity)]
        is_removable = len(present) > 1 or (present and dict(entity).keys() == {"user"})
        if is_removable and self.random.random() < 0.5:
            key = self.random.choice(sorted(present))
            yield ClientQuotaRecord(entity=parts, key=key, value=0.0, remove=True)
            return
        key = "connection_creation_rate" if is_ip else self.random.choice(QUOTA_KEYS)
        value = float(next(self._numbers))
        if key in ("request_percentage", "controller_mutation_rate"):
            value *= self.random.choice((0.5, 1.0, 1e7, 1e-5))
        yield ClientQuotaRecord(entity=parts, key=key, value=value, remove=False)

    def change_credential(self) -> Iterator[MetadataRecord]:
        """Set or remove a SCRAM credential."""
        user = ScramUser(self.random.choice((1, 2)), self.random.choice(USERS))
        if self._is_touched(user):
            return
        if user in self.image.scram.credentials and self.random.random() < 0.5:
            yield RemoveUserScramCredentialRecord(name=user.name, mechanism=user.mechanism)
        else:
            yield UserScramCredentialRecord(
                name=user.name,
                mechanism=user.mechanism,
                salt=self.random.randbytes(13),
                stored_key=self.random.randbytes(32),
                server_key=self.random.randbytes(32),
                iterations=4096 + next(self._numbers),
            )

    def give_producer_ids(self) -> Iterator[MetadataRecord]:
        """Give a block of producer ids to a broker."""
        next_id = max(0, self.image.producer_ids.next_producer_id) + 1000
        yield ProducerIdsRecord(broker_id=1, broker_epoch=5, next_producer_id=next_id)

    def add_acl(self) -> Iterator[MetadataRecord]:
        """Add a rule that is not there yet."""
        id = UUID(int=self.random.getrandbits(128))
        self._touched.add(id)
        yield AccessControlEntryRecord(
            id=id,
            resource_type=self.random.randint(2, 7),
            resource_name=self.random.choice(RESOURCES),
            pattern_type=self.random.choice((3, 4)),
            principal=f"User:{self.random.choice(USERS)}",
            host=f"10.0.0.{next(self._numbers)}",
            operation=self.random.randint(2, 14),
            permission_type=self.random.choice((2, 3)),
        )

    def remove_acl(self) -> Iterator[MetadataRecord]:
        """Remove a rule."""
        if ids := sorted(set(self.image.acls.by_id) - self._touched):
            yield RemoveAccessControlEntryRecord(id=self.random.choice(ids))

    def change_token(self) -> Iterator[MetadataRecord]:
        """Issue, renew or remove a delegation token."""
        tokens = set(self.image.delegation_tokens.by_id) - self._touched
        if tokens and self.random.random() < 0.4:
            yield RemoveDelegationTokenRecord(token_id=self.random.choice(sorted(tokens)))
            return
        is_renewed = tokens and self.random.random() < 0.5
        id = self.random.choice(sorted(tokens)) if is_renewed else self.random.randbytes(9).hex()
        self._touched.add(id)
        yield DelegationTokenRecord(
            owner=f"User:{self.random.choice(USERS)}",
            requester=f"User:{self.random.choice(USERS)}",
            renewers=tuple(f"User:{user}" for user in self._some(USERS)),
            issue_timestamp=1,
            max_timestamp=1 << 40,
            expiration_timestamp=next(self._numbers),
            token_id=id,
        )

    def _is_touched(self, key: object) -> bool:
        """Return True if the same records changed it already; note that they do now."""
        if key in self._touched:
            return True
        self._touched.add(key)
        return False

    def _topic(self) -> TopicImage | None:
        names = sorted(self.image.topics.ids)
        return self.image.topics.topic(self.random.choice(names)) if names else None

    def _partition(self, id: UUID, number: int) -> PartitionRecord:
        replicas = self._replicas()
        return PartitionRecord(
            partition_id=number,
            topic_id=id,
            replicas=replicas,
            isr=replicas,
            leader=replicas[0],
            leader_epoch=0,
            partition_epoch=0,
        )

    def _replicas(self) -> tuple[int, ...]:
        return tuple(self.random.sample(BROKERS, self.random.randint(1, 3)))

    def _some(self, values: Sequence[T]) -> tuple[T, ...]:
        return tuple(self.random.sample(values, self.random.randint(0, len(values))))

    def _config(self, resource: ConfigResource) -> ConfigRecord:
        is_broker = resource.type == ResourceType.BROKER
        keys = (*CONFIG_KEYS, PASSWORD_KEY) if is_broker else CONFIG_KEYS
        return ConfigRecord(
            resource_type=resource.type,
            resource_name=resource.name,
            name=self.random.choice(keys),
            value=f"välue {next(self._numbers)}",
        )

    def _entity(self) -> Entity:
        user, client = self.random.choice(NAMES), self.random.choice(NAMES)
        return self.random.choice(
            [
                Entity({("user", user)}),
                Entity({("client-id", client)}),
                Entity({("user", user), ("client-id", client)}),
                Entity({("ip", self.random.choice(IPS))}),
            ]
        )


_CHANGES: tuple[Callable[[RandomMetadata], Iterator[MetadataRecord]], ...] = (
    RandomMetadata.create_topic,
    RandomMetadata.create_topic,
    RandomMetadata.delete_topic,
    RandomMetadata.add_partitions,
    RandomMetadata.change_partition,
    RandomMetadata.change_partition,
    RandomMetadata.change_config,
    RandomMetadata.change_config,
    RandomMetadata.change_quota,
    RandomMetadata.change_quota,
    RandomMetadata.change_credential,
    RandomMetadata.give_producer_ids,
    RandomMetadata.add_acl,
    RandomMetadata.add_acl,
    RandomMetadata.remove_acl,
    RandomMetadata.change_token,
)
