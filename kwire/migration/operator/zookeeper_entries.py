"""The entries of ZooKeeper's metadata, past what cannot be read (KIP-866).

A copy ends at the first broken znode; here each is noted, with its path, and the rest is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kwire.image.scram import MECHANISMS
from kwire.messages.config_resource import ResourceType
from kwire.migration.driver.copied_quotas import CopiedEntity, entities
from kwire.migration.driver.zookeeper_partitions import registrations
from kwire.migration.operator.entries import (
    EncryptedValue,
    EntryKind,
    FieldValues,
    HiddenValue,
    config_name,
    entity_name,
    partition_name,
)
from kwire.migration.operator.image_entries import (
    acl_texts,
    partition_fields,
    scram_fields,
    shown_config,
)
from kwire.migration.operator.zookeeper_side import Assigned, assigned_topics
from kwire.text.ids import uuid_text
from kwire.zookeeper import InvalidZnode
from kwire.zookeeper.password_cipher import PasswordNotDecoded
from kwire.zookeeper.password_encoder import PasswordEncoder, is_password_key
from kwire.zookeeper.znodes import (
    DEFAULT_ENTITY,
    ConfigEntityType,
    ConfigZnode,
    DelegationTokenZnode,
    PartitionStateZnode,
    entity_path,
)
from kwire.zookeeper.znodes.acl import unknown_resource_type
from kwire.zookeeper.zookeeper_metadata import ConfigsByName, TopicInZooKeeper, ZooKeeperMetadata

CONFIG_TYPES = {
    ConfigEntityType.TOPICS: ResourceType.TOPIC,
    ConfigEntityType.BROKERS: ResourceType.BROKER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ZnodeProblem:
    """A znode that cannot be read. is_quota, is_password: what cannot be read in it."""

    path: str
    reason: str
    is_quota: bool = False
    is_password: bool = False


@dataclass(slots=True, kw_only=True)
class ZooKeeperReading:
    """Everything that was read.

    without_id: topics. with_gaps: topics that lack numbers of partitions. assigned: of each broker
    in assignments, its topics. no_state: partitions without a state znode. reassigned: partitions
    with adding or removing replicas. encrypted: names of configurations with passwords that were
    not decoded. unencrypted: of those that stand as they are, while there is a secret.
    no_broker_ids: paths of configurations that are no broker's. pair_credentials: of pairs of user
    and client with SCRAM credentials. has_empty_producer_ids: True if their znode has data of no
    bytes.
    """

    entries: dict[EntryKind, dict[str, FieldValues]] = field(
        default_factory=lambda: {kind: {} for kind in EntryKind}
    )
    problems: list[ZnodeProblem] = field(default_factory=list)
    without_id: list[str] = field(default_factory=list)
    with_gaps: list[str] = field(default_factory=list)
    assigned: Assigned = field(default_factory=dict)
    no_state: set[str] = field(default_factory=set)
    reassigned: list[str] = field(default_factory=list)
    encrypted: list[str] = field(default_factory=list)
    unencrypted: list[str] = field(default_factory=list)
    no_broker_ids: list[str] = field(default_factory=list)
    pair_credentials: list[str] = field(default_factory=list)
    has_empty_producer_ids: bool = False

    @property
    def count(self) -> int:
        """The entries of all kinds."""
        return sum(map(len, self.entries.values()))

    def note(self, error: InvalidZnode) -> None:
        """Note a znode that cannot be read."""
        self.problems.append(ZnodeProblem(path=error.path, reason=error.reason))


class EntryTranslation:
    """Adds znodes to a reading, which has noted already those that cannot be read."""

    def __init__(self, reading: ZooKeeperReading, encoder: PasswordEncoder | None) -> None:
        self._reading = reading
        self._encoder = encoder

    def add(self, metadata: ZooKeeperMetadata) -> None:
        """Add all of it."""
        self._add_topics(metadata)
        self._add_configs("topic", ConfigEntityType.TOPICS, metadata.topic_configs)
        self._add_configs("broker", ConfigEntityType.BROKERS, metadata.broker_configs)
        for parts, config, path in entities(metadata):
            self._add_quotas(parts, config, path)
        self._add_acls(metadata)
        self._reading.has_empty_producer_ids = metadata.has_empty_producer_ids
        if metadata.producer_ids is not None:
            following = metadata.producer_ids.value.next_producer_id
            self._reading.entries[EntryKind.PRODUCER_IDS]["producer ids"] = {"next": following}
        tokens = (stored.value for stored in metadata.delegation_tokens.values())
        self._reading.entries[EntryKind.TOKEN] |= {
            f"token {token.token_id}": _token(token) for token in tokens
        }
        deletions = sorted(metadata.pending_deletions)
        self._reading.entries[EntryKind.PENDING_DELETION] |= {name: {} for name in deletions}

    def _add_topics(self, metadata: ZooKeeperMetadata) -> None:
        """Add topics with their partitions.

        A partition without a state is taken as the copy takes it: led by its first replica.
        """
        reading = self._reading
        reading.assigned = assigned_topics(metadata)
        invalid = {problem.path for problem in reading.problems}
        for name, topic in metadata.topics.items():
            id = topic.topic.value.topic_id
            reading.entries[EntryKind.TOPIC][name] = {"id": None if id is None else uuid_text(id)}
            if id is None:
                reading.without_id.append(name)
            numbers = topic.topic.value.partitions.keys()
            if numbers != set(range(len(numbers))):
                reading.with_gaps.append(name)
            reading.reassigned += _reassigned(name, topic)
            for number, partition in registrations(topic).items():
                key = partition_name(name, number)
                if number not in topic.states:
                    if PartitionStateZnode.path(name, number) in invalid:
                        continue
                    reading.no_state.add(key)
                reading.entries[EntryKind.PARTITION][key] = partition_fields(partition)

    def _add_configs(self, noun: str, type: ConfigEntityType, configs: ConfigsByName) -> None:
        for name, stored in configs.items():
            path = entity_path(type, name)
            if type is ConfigEntityType.BROKERS and name is not None and not name.isdecimal():
                self._reading.no_broker_ids.append(path)
            if values := stored.value.config:
                self._reading.entries[EntryKind.CONFIG][config_name(noun, name or "")] = {
                    key: self._value(path, CONFIG_TYPES[type], key, value)
                    for key, value in values.items()
                }

    def _value(self, path: str, type: ResourceType, key: str, value: str) -> object:
        """Return a value as it can be compared; a password decoded if there is a secret."""
        if not is_password_key(key):
            return shown_config(type, key, value)
        if "encryptedPassword:" not in value:
            if self._encoder is not None:
                self._reading.unencrypted.append(f"{key} in {path}")
            return HiddenValue.of(value)
        if self._encoder is None:
            self._reading.encrypted.append(f"{key} in {path}")
            return EncryptedValue.of(value)
        try:
            return HiddenValue.decoded(self._encoder.decode(value), value)
        except PasswordNotDecoded as error:
            problem = ZnodeProblem(path=path, reason=f"{key}: {error}", is_password=True)
            self._reading.problems.append(problem)
            return EncryptedValue.of(value)

    def _add_quotas(self, parts: CopiedEntity, config: ConfigZnode, path: str) -> None:
        """Add the quotas of a user, a client, an address or a pair, and a user's credentials."""
        try:
            if quotas := config.quotas(path):
                self._reading.entries[EntryKind.QUOTA][entity_name(parts)] = quotas
        except InvalidZnode as error:
            problem = ZnodeProblem(path=error.path, reason=error.reason, is_quota=True)
            self._reading.problems.append(problem)
        if config.config.keys().isdisjoint(MECHANISMS.values()):
            return
        if len(parts) > 1:
            self._reading.pair_credentials.append(path)
        elif parts[0][0] == "user":
            self._add_credentials(parts[0][1] or DEFAULT_ENTITY, config, path)

    def _add_credentials(self, user: str, config: ConfigZnode, path: str) -> None:
        fields: dict[str, object] = {}
        try:
            for mechanism, text in config.scram_credentials(path):
                keys = HiddenValue.of(text.salt, text.stored_key, text.server_key)
                fields |= scram_fields(MECHANISMS[mechanism], text.iterations, keys)
        except InvalidZnode as error:
            self._reading.note(error)
        else:
            self._reading.entries[EntryKind.SCRAM][user] = fields

    def _add_acls(self, metadata: ZooKeeperMetadata) -> None:
        for path in metadata.unknown_acls:
            self._reading.note(unknown_resource_type(path))
        rules: dict[str, dict[str, object]] = {}
        for resource, stored in metadata.acls.items():
            for entry in stored.value.entries:
                name, rule, permission = acl_texts(entry.rule(resource))
                rules.setdefault(name, {})[rule] = permission
        self._reading.entries[EntryKind.ACL] |= rules


def _reassigned(name: str, topic: TopicInZooKeeper) -> Iterator[str]:
    for number, assigned in topic.topic.value.partitions.items():
        if assigned.adding or assigned.removing:
            yield partition_name(name, number)


def _token(token: DelegationTokenZnode) -> FieldValues:
    return {
        "owner": token.owner,
        "requester": token.requester,
        "renewers": sorted(token.renewers),
        "issueTimestamp": token.issue_timestamp,
        "maxTimestamp": token.max_timestamp,
        "expiryTimestamp": token.expiry_timestamp,
    }
