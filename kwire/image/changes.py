"""The differences between two images (org.apache.kafka.image.MetadataDelta, of which readers ask).

Java's delta also makes the next image; here images are values (`kwire.image.delta`), and a
difference is looked up between two of them. It costs as much as the records touch, not as the
cluster has, and holds what really differs: Java has a key in it that was set to its old value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar
from uuid import UUID

from msgspec import Struct

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.image.acls import StandardAcl
from kwire.image.broker import BrokerRegistration
from kwire.image.client_quotas import Entity, entity_order
from kwire.image.controller import ControllerRegistration
from kwire.image.delegation_tokens import DelegationToken
from kwire.image.metadata import MetadataImage
from kwire.image.partition import PartitionRegistration
from kwire.image.scram import ScramCredential, ScramUser
from kwire.image.topics import TopicImage
from kwire.image.touched import TouchedKeys
from kwire.messages.config_resource import ConfigResource

Value = TypeVar("Value")
Key = TypeVar("Key")

ImageRecord = MetadataRecord | VersionedRecord


class ValueChange(Struct, Generic[Value], frozen=True, kw_only=True):
    """A value of two images that is not the same in both; None where it is not there."""

    before: Value | None
    after: Value | None


class TopicChange(Struct, frozen=True, kw_only=True):
    """A topic that is not the same in both images, and those of its partitions that differ.

    before: None for a created topic. after: None for a deleted one. A topic that was deleted and
    created again under its name has two changes: its ids differ.
    """

    before: TopicImage | None
    after: TopicImage | None
    partitions: Mapping[int, ValueChange[PartitionRegistration]]

    @property
    def name(self) -> str:
        """The name of the topic."""
        topic = self.after or self.before
        return topic.name if topic is not None else ""


class MetadataChanges(Struct, frozen=True, kw_only=True):
    """Everything that differs between two images, each mapping in the order of its keys.

    topics: by id, in order of names, created and deleted ones included. configs, client_quotas: the
    values of a resource or an entity, which is gone where there are none. features: levels, None
    where one is not finalised. producer_ids, zk_migration_state: None if they are the same.
    """

    before: MetadataImage
    after: MetadataImage
    topics: Mapping[UUID, TopicChange]
    configs: Mapping[ConfigResource, ValueChange[Mapping[str, str]]]
    client_quotas: Mapping[Entity, ValueChange[Mapping[str, float]]]
    scram: Mapping[ScramUser, ValueChange[ScramCredential]]
    acls: Mapping[UUID, ValueChange[StandardAcl]]
    delegation_tokens: Mapping[str, ValueChange[DelegationToken]]
    brokers: Mapping[int, ValueChange[BrokerRegistration]]
    controllers: Mapping[int, ValueChange[ControllerRegistration]]
    features: Mapping[str, ValueChange[int]]
    producer_ids: ValueChange[int] | None
    zk_migration_state: ValueChange[int] | None

    @classmethod
    def of(
        cls, before: MetadataImage, after: MetadataImage, records: Iterable[ImageRecord]
    ) -> MetadataChanges:
        """Return the changes that records made.

        records: those that led from one image to the other: a committed batch, or everything of a
        metadata transaction that has ended. What an open transaction has changed is left out.
        """
        touched = TouchedKeys(before.published)
        for record in records:
            touched.add(record)
        return _changes(before.published, after.published, touched)

    @classmethod
    def between(cls, before: MetadataImage, after: MetadataImage) -> MetadataChanges:
        """Return the changes between any two images, such as those of a snapshot that was loaded.

        It looks at every topic; into those that both images share it does not look.
        """
        return _changes(before.published, after.published, None)

    @property
    def created_topics(self) -> list[TopicImage]:
        """The topics that are only in the image after."""
        return [item.after for item in self.topics.values() if item.after and not item.before]

    @property
    def deleted_topics(self) -> list[TopicImage]:
        """The topics that are only in the image before."""
        return [item.before for item in self.topics.values() if item.before and not item.after]

    @property
    def changed_topics(self) -> list[TopicChange]:
        """The topics that are new or have other partitions (Java: TopicsDelta.changedTopics)."""
        return [item for item in self.topics.values() if item.after]

    def __bool__(self) -> bool:
        """Return True if anything differs."""
        return any(
            getattr(self, name)
            for name in self.__struct_fields__
            if name not in ("before", "after")
        )


def _changes(
    before: MetadataImage, after: MetadataImage, touched: TouchedKeys | None
) -> MetadataChanges:
    """Return the changes of the touched keys; those of every key if None is given."""
    parts: dict[str, Any] = {}
    for name, (part, order) in _PARTS.items():
        keys = None if touched is None else touched.keys.get(name, _NO_KEYS)
        # Written out: most records of a long log touch a partition and none of these.
        changes = {} if keys is _NO_KEYS else _changed(part(before), part(after), keys)
        parts[name] = _sorted(changes, order) if changes else changes
    return MetadataChanges(
        before=before,
        after=after,
        topics=_topic_changes(before, after, None if touched is None else touched.partitions),
        producer_ids=_change(
            before.producer_ids.next_producer_id, after.producer_ids.next_producer_id
        ),
        zk_migration_state=_change(
            before.features.zk_migration_state, after.features.zk_migration_state
        ),
        **parts,
    )


_NO_KEYS: frozenset[Any] = frozenset()

_PARTS: Mapping[
    str, tuple[Callable[[MetadataImage], Mapping[Any, Any]], Callable[[Any], Any] | None]
] = {
    "configs": (lambda image: image.configs.resources, None),
    "client_quotas": (lambda image: image.client_quotas.entities, entity_order),
    "scram": (lambda image: image.scram.credentials, None),
    "acls": (lambda image: image.acls.by_id, None),
    "delegation_tokens": (lambda image: image.delegation_tokens.by_id, None),
    "brokers": (lambda image: image.cluster.brokers, None),
    "controllers": (lambda image: image.cluster.controllers, None),
    "features": (lambda image: image.features.levels, None),
}
"""The parts that are one mapping: where it is in an image, and the order of its keys."""


def _topic_changes(
    before: MetadataImage, after: MetadataImage, touched: Mapping[UUID, set[int]] | None
) -> dict[UUID, TopicChange]:
    topics = _changed(before.topics.by_id, after.topics.by_id, touched)
    changes = {
        id: TopicChange(
            before=topic.before,
            after=topic.after,
            partitions=_sorted(
                _changed(
                    topic.before.partitions if topic.before else _NOTHING,
                    topic.after.partitions if topic.after else _NOTHING,
                    # Of a topic that is new or gone every partition is.
                    touched[id] if touched and topic.before and topic.after else None,
                )
            ),
        )
        for id, topic in topics.items()
    }
    return dict(sorted(changes.items(), key=lambda item: (item[1].name, item[0])))


_NOTHING: Mapping[int, PartitionRegistration] = {}


def _changed(
    before: Mapping[Key, Value], after: Mapping[Key, Value], keys: Iterable[Key] | None
) -> dict[Key, ValueChange[Value]]:
    """Return the changes of these keys, which may have none; of every key if None is given."""
    if before is after:
        return {}
    if keys is None:
        keys = {*before, *after}
    changes = ((key, _change(before.get(key), after.get(key))) for key in keys)
    return {key: change for key, change in changes if change is not None}


def _change(before: Value | None, after: Value | None) -> ValueChange[Value] | None:
    # Images share what did not change: most values are found equal without a look into them.
    if before is after or before == after:
        return None
    return ValueChange(before=before, after=after)


def _sorted(
    changes: Mapping[Key, ValueChange[Value]], order: Callable[[Key], Any] | None = None
) -> dict[Key, ValueChange[Value]]:
    return {key: changes[key] for key in sorted(changes, key=order)}  # type: ignore[type-var,arg-type]
