"""Names in descriptions of writes as Kafka prints them, and names that ZooKeeper cannot have."""

from __future__ import annotations

from msgspec.structs import replace

from kwire.errors import InvalidValue
from kwire.image.client_quotas import Entity
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.zookeeper.paths import check_path


def resource_text(resource: ConfigResource) -> str:
    """Return a resource as ConfigResource.toString prints it."""
    return f"ConfigResource(type={type_text(resource)}, name='{resource.name}')"


def type_text(resource: ConfigResource) -> str:
    """Return the name of a resource's type: TOPIC or BROKER."""
    return ResourceType(resource.type).name


def entity_text(entity: Entity) -> str:
    """Return an entity as ClientQuotaEntity.toString prints it."""
    # The order of a HashMap of these keys.
    order = ("ip", "client-id", "user")
    parts = sorted(entity, key=lambda part: order.index(part[0]) if part[0] in order else -1)
    entries = ", ".join(f"{type}={'null' if name is None else name}" for type, name in parts)
    return f"ClientQuotaEntity(entries={{{entries}}})"


def possible(write: ZnodeWrite) -> ZnodeWrite:
    """Return a write, or one that only says what was left out.

    Kafka does not quote the resource names of ACLs; and a user may be named `..`. It fails for
    paths that ZooKeeper refuses, each time that it compares everything, and does not get on.
    """
    try:
        for operation in write.operations:
            check_path(operation.path)
    except InvalidValue:
        return left_out(write)
    return write


def left_out(write: ZnodeWrite) -> ZnodeWrite:
    """Return the write of nothing, with a description that says so."""
    description = f"Left out, as ZooKeeper has no such names: {write.description}"
    return replace(write, description=description, operations=(), notifications=())
