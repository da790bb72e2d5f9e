"""The words TYPE and NAME of `kwire configs`, and the resources that they stand for."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from kwire.admin import AdminClient
from kwire.admin.configs import OF_ONE_NODE
from kwire.cli.errors import WrongUsage
from kwire.errors import UnsupportedVersion
from kwire.messages.config_resource import ConfigResource, ResourceType

EVERY_BROKER = "default"
"""The name for the configuration that all brokers share (kafka-configs: --entity-default)."""

_JOINED = frozenset({ResourceType.TOPIC, ResourceType.BROKER, ResourceType.BROKER_LOGGER})
"""The types whose names have no commas."""


class EntityType(StrEnum):
    """The types of resources, spelled as kafka-configs does."""

    TOPIC = "topic"
    BROKER = "broker"
    BROKER_LOGGER = "broker-logger"
    CLIENT_METRICS = "client-metrics"
    GROUP = "group"


def resource_type(text: str) -> ResourceType:
    """Return the type of a word, singular or plural. Raises WrongUsage."""
    for word in EntityType:
        if text in (word, f"{word}s"):
            return ResourceType[word.name]
    raise WrongUsage(f"{text!r} is no type: take {', '.join(EntityType)}.")


def resources_named(type: ResourceType, name: str) -> list[ConfigResource]:
    """Return the resources that a NAME stands for. Raises WrongUsage for an empty name."""
    if type is ResourceType.BROKER and name == EVERY_BROKER:
        return [ConfigResource(type, "")]
    names = name.split(",") if type in _JOINED else [name]
    if not all(names):
        raise WrongUsage(f"a name is missing in {name!r}.")
    return [ConfigResource(type, part) for part in names]


def resource_values(resource: ConfigResource) -> dict[str, Any]:
    """Return the values that name a resource in a row."""
    known = {type.value: type.name for type in ResourceType}
    is_default = resource.type == ResourceType.BROKER and not resource.name
    return {
        "resourceType": known.get(resource.type, str(resource.type)),
        "resource": EVERY_BROKER if is_default else resource.name,
    }


async def every_resource(admin: AdminClient, type: ResourceType) -> list[ConfigResource]:
    """Return all resources of a type; of groups and client metrics those with a key set."""
    if type in OF_ONE_NODE:
        cluster = await admin.describe_cluster()
        nodes = [ConfigResource(type, str(node_id)) for node_id in sorted(cluster.nodes)]
        shared = [ConfigResource(type, "")] if type is ResourceType.BROKER else []
        return [*nodes, *shared]
    try:
        return sorted(await admin.list_config_resources([type]))
    except UnsupportedVersion:
        if type is not ResourceType.TOPIC:
            raise
        topics = await admin.list_topics()
        return [ConfigResource(type, topic.name) for topic in topics]
