"""The tree of an image, with the names of Kafka's shell (org.apache.kafka.image.node)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from kwire import __version__
from kwire.errors import InvalidValue
from kwire.image import MetadataImage
from kwire.image.acls import AclsImage
from kwire.image.client_quotas import ClientQuotasImage
from kwire.image.cluster import ClusterImage
from kwire.image.configs import ConfigurationsImage
from kwire.image.delegation_tokens import DelegationTokensImage
from kwire.image.features import FeaturesImage, ZkMigrationState
from kwire.image.producer_ids import ProducerIdsImage
from kwire.image.scram import MECHANISMS, ScramImage
from kwire.image.topics import TopicImage, TopicsImage
from kwire.messages.config_resource import ConfigResource
from kwire.messages.metadata_versions import METADATA_VERSION
from kwire.observer.raft_state import RaftState
from kwire.shell import values as render
from kwire.shell.nodes import FolderNode, TreeNode, ValueNode, folder, values
from kwire.shell.position import PositionedImage
from kwire.text.ids import parse_uuid, uuid_text

T = TypeVar("T")


def root(position: PositionedImage, source: str) -> FolderNode:
    """Return the tree: /image, /raft about the quorum, and /local about this shell.

    source: the name of what the image was read from.
    """
    return folder(
        {
            "image": lambda: image_node(position),
            "raft": lambda: _raft(position.raft),
            "local": lambda: _local(source),
        }
    )


def image_node(position: PositionedImage) -> FolderNode:
    """Return /image."""
    image = position.image
    parts: dict[str, Callable[[], TreeNode]] = {
        "provenance": lambda: ValueNode(position.text),
        "features": lambda: _features(image.features),
        "cluster": lambda: _cluster(image.cluster),
        "topics": lambda: _topics(image.topics),
        "configs": lambda: _configs(image.configs),
        "clientQuotas": lambda: _quotas(image.client_quotas),
        "producerIds": lambda: _producer_ids(image.producer_ids),
        "acls": lambda: folder({"byId": lambda: _acls(image.acls)}),
        "scram": lambda: _scram(image.scram),
        "delegationToken": lambda: _tokens(image.delegation_tokens),
    }
    # Kafka's shell cannot have it: its nodes stop at a record that they do not know.
    if image.unknown:
        parts["unknownRecords"] = lambda: _unknown(image)
    return folder(parts)


def _local(source: str) -> FolderNode:
    # Kafka prints "unknown" too where the build did not tell its commit.
    return values({"version": __version__, "commitId": "unknown", "source": source})


def _raft(state: RaftState) -> FolderNode:
    """Return /raft, which Kafka's shell lacks: what the control records of the log tell."""
    changes = {change.epoch: change for change in state.leader_changes}
    voters = render.voters_of(state)
    parts: dict[str, Callable[[], TreeNode]] = {
        "kraftVersion": lambda: ValueNode(state.kraft_version),
        "voters": lambda: _named(
            voters, str, lambda voter: ValueNode(render.voter_value(voters[voter]))
        ),
        "leaderChanges": lambda: _by_number(changes, render.leader_change_value),
    }
    last = state.leader_change
    if last is not None:
        parts["leader"] = lambda: ValueNode(last.message.leader_id)
    # A checkpoint keeps no leaders: those before it are not known, rather than none.
    if state.known_from:
        parts["leadersKnownFrom"] = lambda: ValueNode(state.known_from)
    return folder(parts)


def _features(features: FeaturesImage) -> FolderNode:
    level = features.levels.get(METADATA_VERSION)
    items: dict[str, Any] = {
        "metadataVersion": None if level is None else render.feature_value(METADATA_VERSION, level)
    }
    # Since Kafka 4.0 its shell has no node for the migration.
    if features.zk_migration_state != ZkMigrationState.NONE:
        items["zkMigrationState"] = render.enum_name(ZkMigrationState, features.zk_migration_state)
    for name, number in features.levels.items():
        if name != METADATA_VERSION:
            items[render.feature_name(name)] = number
    return values(items)


def _cluster(cluster: ClusterImage) -> FolderNode:
    return folder(
        {
            "brokers": lambda: _by_number(cluster.brokers, render.broker_value),
            "controllers": lambda: _by_number(cluster.controllers, render.controller_value),
        }
    )


def _topics(topics: TopicsImage) -> FolderNode:
    def by_name(name: str) -> TreeNode | None:
        topic = topics.topic(name)
        return None if topic is None else _topic(topic)

    def by_id(name: str) -> TreeNode | None:
        try:
            topic = topics.by_id.get(parse_uuid(name))
        except InvalidValue:
            return None
        return None if topic is None else _topic(topic)

    return folder(
        {
            "byName": lambda: FolderNode(lambda: topics.ids, by_name),
            "byId": lambda: FolderNode(lambda: map(uuid_text, topics.by_id), by_id),
        }
    )


def _topic(topic: TopicImage) -> FolderNode:
    partitions = _by_number(topic.partitions, render.partition_value)
    facts = {"name": topic.name, "id": uuid_text(topic.id)}

    def child(name: str) -> TreeNode | None:
        return ValueNode(facts[name]) if name in facts else partitions.child(name)

    return FolderNode(lambda: [*facts, *partitions.names()], child)


def _by_number(items: Mapping[int, T], value: Callable[[T], Any]) -> FolderNode:
    def child(name: str) -> TreeNode | None:
        number = int(name) if name.isdecimal() and name.isascii() and len(name) < 11 else None
        item = None if number is None or str(number) != name else items.get(number)
        return None if item is None else ValueNode(value(item))

    return FolderNode(lambda: map(str, items), child)


def _configs(configs: ConfigurationsImage) -> FolderNode:
    def node(resource: ConfigResource) -> TreeNode:
        keys = configs.resources[resource]
        return values({key: render.config_value(resource, key, keys[key]) for key in keys})

    return _named(configs.resources, render.resource_name, node)


def _quotas(quotas: ClientQuotasImage) -> FolderNode:
    return _named(
        quotas.entities,
        render.entity_name,
        lambda entity: values(dict(quotas.entities[entity].items())),
    )


def _producer_ids(ids: ProducerIdsImage) -> FolderNode:
    return values({"nextProducerId": render.OptionalNumber(ids.next_producer_id)})


def _acls(acls: AclsImage) -> FolderNode:
    return _named(acls.by_id, uuid_text, lambda id: ValueNode(render.acl_value(acls.by_id[id])))


def _scram(scram: ScramImage) -> FolderNode:
    names = {**{user.mechanism: str(user.mechanism) for user in scram.credentials}, **MECHANISMS}

    def mechanism(number: int) -> TreeNode:
        users = {user.name: user for user in scram.credentials if user.mechanism == number}
        return _named(
            users,
            str,
            lambda name: ValueNode(render.scram_value(scram.credentials[users[name]])),
        )

    return _named(names, names.__getitem__, mechanism)


def _tokens(tokens: DelegationTokensImage) -> FolderNode:
    return _named(tokens.by_id, str, lambda id: ValueNode(render.token_value(id, tokens.by_id[id])))


def _unknown(image: MetadataImage) -> FolderNode:
    return values(
        {
            str(number): f"record type {record.type}, version {record.version}"
            for number, record in enumerate(image.unknown)
        }
    )


def _named(
    items: Mapping[T, Any], name: Callable[[T], str], node: Callable[[T], TreeNode]
) -> FolderNode:
    """Return a folder of items under names made of their keys."""

    # Names are made of keys and never read back: what Kafka's shell writes it may not understand.
    @cache
    def keys() -> dict[str, T]:
        return {name(key): key for key in items}

    def child(key: str) -> TreeNode | None:
        return node(keys()[key]) if key in keys() else None

    return FolderNode(keys, child)
