"""The keys of the image that records may change: where to look for differences (KIP-631)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.image.metadata import MetadataImage
from kwire.image.scram import ScramUser
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.client_quota import ClientQuotaRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.fence_broker import FenceBrokerRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.register_controller import RegisterControllerRecord
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.unfence_broker import UnfenceBrokerRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord
from kwire.messages.records.unregister_controller import UnregisterControllerRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord


class TouchedKeys:
    """Keys of each part of an image, by its name in `MetadataChanges`, gathered of records.

    keys: as in the image. partitions: of the topics, numbers by topic id.
    """

    def __init__(self, before: MetadataImage) -> None:
        self.keys: defaultdict[str, set[Any]] = defaultdict(set)
        self.partitions: defaultdict[UUID, set[int]] = defaultdict(set)
        self._before = before

    def add(self, record: MetadataRecord | VersionedRecord) -> None:
        """Add the keys of a record; one that changes no part or is not known has none."""
        message = record.record if isinstance(record, VersionedRecord) else record
        kind = type(message)
        if kind in _KEYS:
            part, key = _KEYS[kind]
            self.keys[part].add(key(message))
        elif kind in _TOPICS:
            _TOPICS[kind](self, message)

    def _partition(self, record: PartitionRecord | PartitionChangeRecord) -> None:
        self.partitions[record.topic_id].add(record.partition_id)

    def _topic(self, record: TopicRecord) -> None:
        self.partitions.setdefault(record.topic_id, set())
        self._config(record.name)

    def _removed_topic(self, record: RemoveTopicRecord) -> None:
        topic = self._before.topics.by_id.get(record.topic_id)
        # One that was created by these records has named its configuration already.
        if topic is not None:
            self.partitions[topic.id].update(topic.partitions)
            self._config(topic.name)

    def _config(self, topic: str) -> None:
        # A removed topic takes its configuration along, without records of it.
        self.keys["configs"].add(ConfigResource(ResourceType.TOPIC, topic))

    def _cleared_elr(self, record: ClearElrRecord) -> None:
        topics = self._before.topics
        named = topics.ids.get(record.topic_name)
        for id in topics.by_id if not record.topic_name else [named] if named else []:
            self.partitions[id].update(topics.by_id[id].partitions)


_KEYS: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    ConfigRecord: (
        "configs",
        lambda record: ConfigResource(record.resource_type, record.resource_name),
    ),
    ClientQuotaRecord: (
        "client_quotas",
        lambda record: frozenset((item.entity_type, item.entity_name) for item in record.entity),
    ),
    UserScramCredentialRecord: ("scram", lambda record: ScramUser(record.mechanism, record.name)),
    RemoveUserScramCredentialRecord: (
        "scram",
        lambda record: ScramUser(record.mechanism, record.name),
    ),
    AccessControlEntryRecord: ("acls", lambda record: record.id),
    RemoveAccessControlEntryRecord: ("acls", lambda record: record.id),
    DelegationTokenRecord: ("delegation_tokens", lambda record: record.token_id),
    RemoveDelegationTokenRecord: ("delegation_tokens", lambda record: record.token_id),
    RegisterBrokerRecord: ("brokers", lambda record: record.broker_id),
    UnregisterBrokerRecord: ("brokers", lambda record: record.broker_id),
    BrokerRegistrationChangeRecord: ("brokers", lambda record: record.broker_id),
    FenceBrokerRecord: ("brokers", lambda record: record.id),
    UnfenceBrokerRecord: ("brokers", lambda record: record.id),
    RegisterControllerRecord: ("controllers", lambda record: record.controller_id),
    UnregisterControllerRecord: ("controllers", lambda record: record.controller_id),
    FeatureLevelRecord: ("features", lambda record: record.name),
}
"""The part that a record changes, and its key there."""

_TOPICS: Mapping[type, Callable[[TouchedKeys, Any], None]] = {
    TopicRecord: TouchedKeys._topic,
    RemoveTopicRecord: TouchedKeys._removed_topic,
    PartitionRecord: TouchedKeys._partition,
    PartitionChangeRecord: TouchedKeys._partition,
    ClearElrRecord: TouchedKeys._cleared_elr,
}
"""The records of topics."""
