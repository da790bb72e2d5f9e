"""Configurations of topics and brokers (kafka.zk.migration.ZkConfigMigrationClient)."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.zookeeper.operations import Create, Delete, SetData, ZnodeOperation
from kwire.zookeeper.znodes import ConfigChangeZnode, ConfigEntityType, ConfigZnode
from kwire.zookeeper.znodes.config import entity_path

TYPES = {ResourceType.TOPIC: ConfigEntityType.TOPICS, ResourceType.BROKER: ConfigEntityType.BROKERS}
"""The resources that ZooKeeper has; Kafka leaves out the others, as of metrics of clients."""


def in_zookeeper(resource: ConfigResource) -> bool:
    """Return True if ZooKeeper has resources of this type."""
    return resource.type in TYPES


def config_path(resource: ConfigResource) -> str:
    """Return the path of a resource's configuration; all brokers' has the name `<default>`."""
    return entity_path(_type(resource), resource.name or None)


def write_configs(
    resource: ConfigResource, configs: Mapping[str, str], type: str, description: str
) -> ZnodeWrite:
    """Return the write of all values of a resource, with passwords as ZooKeeper has them."""
    data = ConfigZnode(configs).encode()
    return _write(resource, SetData(config_path(resource), data), type, description)


def delete_configs(resource: ConfigResource, type: str, description: str) -> ZnodeWrite:
    """Return the write that deletes the configuration of a resource."""
    return _write(resource, Delete(config_path(resource)), type, description)


def config_change(path: str) -> Create:
    """Return the notification on which brokers in ZooKeeper mode read a configuration again."""
    data = ConfigChangeZnode(path.removeprefix("/config/")).encode()
    return Create(ConfigChangeZnode.path_prefix, data, sequential=True)


def _write(
    resource: ConfigResource, operation: ZnodeOperation, type: str, description: str
) -> ZnodeWrite:
    return ZnodeWrite(
        type=type,
        description=description,
        operations=(operation,),
        folders=(_type(resource).path,),
        notifications=(config_change(config_path(resource)),),
    )


def _type(resource: ConfigResource) -> ConfigEntityType:
    return TYPES[ResourceType(resource.type)]
