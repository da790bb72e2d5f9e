"""The change that each metadata record makes to the image; one entry a record type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.image.errors import ReplayError
from kwire.image.metadata import MetadataImage
from kwire.image.topics_delta import CHANGES, TopicsDelta
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.client_quota import ClientQuotaRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.fence_broker import FenceBrokerRecord
from kwire.messages.records.no_op import NoOpRecord
from kwire.messages.records.producer_ids import ProducerIdsRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.register_controller import RegisterControllerRecord
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from kwire.messages.records.unfence_broker import UnfenceBrokerRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord
from kwire.messages.records.unregister_controller import UnregisterControllerRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord

ReplayRecord = Callable[[MetadataImage, Any], MetadataImage]


def apply(image: MetadataImage, record: MetadataRecord | VersionedRecord) -> MetadataImage:
    """Return the image after a record. The image given stays as it is.

    Raises ReplayError where the record does not fit. A record that is not known changes nothing
    and is kept in `unknown`.
    """
    message = record.record if isinstance(record, VersionedRecord) else record
    replay = REPLAYS.get(type(message))
    if replay is not None:
        return replay(image, message)
    if isinstance(record, VersionedRecord) and isinstance(message, OpaqueRecord):
        return replace(image, unknown=image.unknown.enqueue(record))
    raise ReplayError(f"{type(message).__name__} is not a record of the metadata log")


def _part(name: str, change: str) -> ReplayRecord:
    """Return the change of one part of the image, by a method of that part."""

    def replay(image: MetadataImage, record: Any) -> MetadataImage:
        part = getattr(image, name)
        return replace(image, **{name: getattr(part, change)(record)})

    return replay


def _topics(change: Callable[[TopicsDelta, Any], None]) -> ReplayRecord:
    """Return one of the changes that a delta gathers, made alone."""

    def replay(image: MetadataImage, record: Any) -> MetadataImage:
        delta = TopicsDelta(image.topics)
        change(delta, record)
        return replace(image, topics=delta.image())

    return replay


def _remove_topic(image: MetadataImage, record: RemoveTopicRecord) -> MetadataImage:
    topics = image.topics.remove(record)
    # Kafka writes no ConfigRecords for a deleted topic: its configuration goes with it.
    name = image.topics.by_id[record.topic_id].name
    configs = image.configs.without(ConfigResource(ResourceType.TOPIC, name))
    return replace(image, topics=topics, configs=configs)


def _begin(image: MetadataImage, record: BeginTransactionRecord) -> MetadataImage:
    if image.before is not None:
        raise ReplayError("a metadata transaction begins inside another")
    return replace(image, before=image)


def _end(image: MetadataImage, record: EndTransactionRecord) -> MetadataImage:
    if image.before is None:
        raise ReplayError("a metadata transaction ends that did not begin")
    return replace(image, before=None)


def _abort(image: MetadataImage, record: AbortTransactionRecord) -> MetadataImage:
    if image.before is None:
        raise ReplayError("a metadata transaction is aborted that did not begin")
    # The image is immutable: to abort is to return to the one before the transaction (KIP-868).
    return image.before


def _nothing(image: MetadataImage, record: NoOpRecord) -> MetadataImage:
    return image


REPLAYS: Mapping[type, ReplayRecord] = {
    RegisterBrokerRecord: _part("cluster", "register_broker"),
    UnregisterBrokerRecord: _part("cluster", "unregister_broker"),
    BrokerRegistrationChangeRecord: _part("cluster", "change_broker"),
    FenceBrokerRecord: _part("cluster", "fence_broker"),
    UnfenceBrokerRecord: _part("cluster", "unfence_broker"),
    RegisterControllerRecord: _part("cluster", "register_controller"),
    UnregisterControllerRecord: _part("cluster", "unregister_controller"),
    **{type: _topics(change) for type, change in CHANGES.items()},
    ClearElrRecord: _part("topics", "clear_elr"),
    RemoveTopicRecord: _remove_topic,
    ConfigRecord: _part("configs", "put"),
    FeatureLevelRecord: _part("features", "put"),
    ZkMigrationStateRecord: _part("features", "migrate"),
    ProducerIdsRecord: _part("producer_ids", "put"),
    ClientQuotaRecord: _part("client_quotas", "put"),
    AccessControlEntryRecord: _part("acls", "put"),
    RemoveAccessControlEntryRecord: _part("acls", "remove"),
    UserScramCredentialRecord: _part("scram", "put"),
    RemoveUserScramCredentialRecord: _part("scram", "remove"),
    DelegationTokenRecord: _part("delegation_tokens", "put"),
    RemoveDelegationTokenRecord: _part("delegation_tokens", "remove"),
    BeginTransactionRecord: _begin,
    EndTransactionRecord: _end,
    AbortTransactionRecord: _abort,
    NoOpRecord: _nothing,
}
