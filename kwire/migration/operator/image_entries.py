"""The entries of a metadata image, as ZooKeeper would have to hold them (KIP-866)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping

from kwire.configs.hidden_values import is_hidden
from kwire.image import MetadataImage
from kwire.image.acls import StandardAcl
from kwire.image.partition import MIGRATING, PartitionRegistration
from kwire.image.scram import MECHANISMS
from kwire.image.topics import TopicImage
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.migration.operator.entries import (
    EntriesByKind,
    EntryKind,
    FieldValues,
    HiddenValue,
    config_name,
    entity_name,
    partition_name,
)
from kwire.text.ids import uuid_text
from kwire.zookeeper.password_encoder import is_password_key

CONFIG_KINDS = {
    int(ResourceType.TOPIC): "topic",
    int(ResourceType.BROKER): "broker",
    int(ResourceType.CLIENT_METRICS): "client-metrics",
    int(ResourceType.GROUP): "group",
}


def image_entries(
    image: MetadataImage,
    kinds: Collection[EntryKind] = tuple(EntryKind),
    topics: Collection[str] | None = None,
) -> EntriesByKind:
    """Return the entries of an image that a migration compares, by kind and name.

    topics: only these and their partitions; None for all.
    """
    entries: dict[EntryKind, dict[str, FieldValues]] = {kind: {} for kind in EntryKind}
    chosen = [*image.topics.by_id.values()] if topics is None else _topics_of(image, topics)
    for kind in kinds:
        match kind:
            case EntryKind.TOPIC:
                entries[kind] = {topic.name: {"id": uuid_text(topic.id)} for topic in chosen}
            case EntryKind.PARTITION:
                entries[kind] = _partitions(chosen)
            case EntryKind.PENDING_DELETION:
                pass  # the metadata log has none
            case _:
                entries[kind] = _OTHERS[kind](image)
    return entries


def _topics_of(image: MetadataImage, names: Collection[str]) -> list[TopicImage]:
    return [topic for name in names if (topic := image.topics.topic(name)) is not None]


def _partitions(topics: Iterable[TopicImage]) -> dict[str, FieldValues]:
    return {
        partition_name(topic.name, number): partition_fields(partition)
        for topic in topics
        for number, partition in topic.partitions.items()
    }


def partition_fields(partition: PartitionRegistration) -> FieldValues:
    """Return the fields of a partition; sets in ascending order, replicas in theirs."""
    return {
        "replicas": list(partition.replicas),
        "addingReplicas": sorted(partition.adding_replicas),
        "removingReplicas": sorted(partition.removing_replicas),
        "leader": partition.leader,
        "isr": sorted(partition.isr),
        "leaderEpoch": partition.leader_epoch,
        "partitionEpoch": partition.partition_epoch,
        "leaderRecoveryState": partition.leader_recovery_state,
    }


def has_directories(image: MetadataImage, partition: str) -> bool:
    """Return True if a replica of a partition has a directory in the metadata log.

    ZooKeeper has none, and PartitionRegistration.equals compares them: Kafka's synchronisation
    sets the state of such a partition each time.
    """
    topic, _, number = partition.rpartition("-")
    found = image.topics.topic(topic)
    registration = found.partitions.get(int(number)) if found else None
    return registration is not None and any(id != MIGRATING for id in registration.directories)


def shown_config(type: int, key: str, value: str) -> object:
    """Return a value of a configuration; hidden if it may be a secret, as of a broker's plugin."""
    hides = is_password_key(key) or is_hidden(ConfigResource(type, ""), key)
    return HiddenValue.of(value) if hides else value


def _configs(image: MetadataImage) -> dict[str, FieldValues]:
    return {
        config_name(CONFIG_KINDS.get(resource.type, f"type {resource.type}"), resource.name): {
            key: shown_config(resource.type, key, value) for key, value in values.items()
        }
        for resource, values in image.configs.resources.items()
    }


def _quotas(image: MetadataImage) -> dict[str, FieldValues]:
    return {
        entity_name(entity): dict(values) for entity, values in image.client_quotas.entities.items()
    }


def _scram(image: MetadataImage) -> dict[str, FieldValues]:
    users: dict[str, dict[str, object]] = defaultdict(dict)
    for user, credential in image.scram.credentials.items():
        mechanism = MECHANISMS.get(user.mechanism, f"mechanism {user.mechanism}")
        users[user.name] |= scram_fields(
            mechanism,
            credential.iterations,
            HiddenValue.of(credential.salt, credential.stored_key, credential.server_key),
        )
    return dict(users)


def scram_fields(mechanism: str, iterations: int, keys: HiddenValue) -> FieldValues:
    """Return the fields of one credential."""
    return {f"{mechanism} iterations": iterations, f"{mechanism} keys": keys}


def _acls(image: MetadataImage) -> dict[str, FieldValues]:
    rules: dict[str, dict[str, object]] = defaultdict(dict)
    for acl in image.acls.by_id.values():
        name, rule, permission = acl_texts(acl)
        rules[name][rule] = permission
    return dict(rules)


def acl_texts(acl: StandardAcl) -> tuple[str, str, str]:
    """Return the name of the pattern, the rule that stands in it, and its value.

    The permission is a part of the rule: the same may be allowed and denied.
    """
    resource = _RESOURCES.get(acl.resource_type, str(acl.resource_type))
    prefixed = "prefixed " if acl.pattern_type == PatternType.PREFIXED else ""
    operation = _OPERATIONS.get(acl.operation, str(acl.operation))
    permission = _PERMISSIONS.get(acl.permission_type, str(acl.permission_type))
    return (
        f"{prefixed}{resource} {acl.resource_name}",
        f"{permission} {operation} {acl.principal} from {acl.host}",
        "set",
    )


_RESOURCES = {int(member): member.name.lower() for member in AclResourceType}
_OPERATIONS = {int(member): member.name.lower() for member in AclOperation}
_PERMISSIONS = {int(member): member.name.lower() for member in AclPermission}


def _producer_ids(image: MetadataImage) -> dict[str, FieldValues]:
    following = image.producer_ids.next_producer_id
    return {"producer ids": {"next": following}} if following >= 0 else {}


def _tokens(image: MetadataImage) -> dict[str, FieldValues]:
    return {
        f"token {id}": {
            "owner": token.owner,
            "requester": token.requester or token.owner,
            "renewers": sorted(token.renewers),
            "issueTimestamp": token.issue_timestamp,
            "maxTimestamp": token.max_timestamp,
            "expiryTimestamp": token.expiration_timestamp,
        }
        for id, token in image.delegation_tokens.by_id.items()
    }


_OTHERS: Mapping[EntryKind, Callable[[MetadataImage], dict[str, FieldValues]]] = {
    EntryKind.CONFIG: _configs,
    EntryKind.QUOTA: _quotas,
    EntryKind.SCRAM: _scram,
    EntryKind.ACL: _acls,
    EntryKind.PRODUCER_IDS: _producer_ids,
    EntryKind.TOKEN: _tokens,
}
