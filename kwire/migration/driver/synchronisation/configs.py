"""Configurations that differ (KRaftMigrationZkWriter.handleConfigsSnapshot)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kwire.image.configs import EMPTY, ConfigurationsImage
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.migration.driver.synchronisation.topics import TopicDifferences
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.configs import (
    delete_configs,
    in_zookeeper,
    write_configs,
)
from kwire.migration.driver.znode_writes.names import type_text
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.zookeeper.znodes import ConfigZnode
from kwire.zookeeper.zookeeper_metadata import ZooKeeperMetadata


def config_writes(
    zookeeper: ZooKeeperMetadata,
    image: ConfigurationsImage,
    topics: TopicDifferences,
    passwords: PasswordWriter,
) -> Iterator[ZnodeWrite]:
    """Yield the writes: resources that ZooKeeper has not, then those that differ.

    topics: whose writes come before these, so that their configurations are gone or empty.
    """
    there = _there(zookeeper, topics)
    for resource in sorted(filter(in_zookeeper, image.resources)):
        if resource not in there:
            yield _write(resource, image.resources[resource], "Created", passwords)
    for resource in sorted(there):
        values = image.resources.get(resource, EMPTY)
        if passwords.decoded(there[resource].config) != dict(values):
            yield _write(resource, values, "Updated", passwords)


def _there(
    zookeeper: ZooKeeperMetadata, topics: TopicDifferences
) -> dict[ConfigResource, ConfigZnode]:
    """Return the configurations that ZooKeeper has after the writes of topics."""
    there = {
        ConfigResource(ResourceType.BROKER, name or ""): stored.value
        for name, stored in zookeeper.broker_configs.items()
    }
    for name, stored in zookeeper.topic_configs.items():
        if name is not None and name not in topics.deleted:
            there[ConfigResource(ResourceType.TOPIC, name)] = stored.value
    for topic in topics.created:
        there[ConfigResource(ResourceType.TOPIC, topic.name)] = ConfigZnode()
    return there


def _write(
    resource: ConfigResource, values: Mapping[str, str], verb: str, passwords: PasswordWriter
) -> ZnodeWrite:
    kind = "BrokerConfig" if resource.type == ResourceType.BROKER else "TopicConfig"
    text = f"{type_text(resource)} {resource.name}"
    if not values:
        return delete_configs(resource, f"Delete{kind}", f"Deleted configs for {text}")
    encoded = passwords.encoded(values)
    return write_configs(resource, encoded, f"Update{kind}", f"{verb} configs for {text}")
