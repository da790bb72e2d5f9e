"""ACLs, all of a resource in one znode (kafka.zk.migration.ZkAclMigrationClient)."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.image.acls import AclsImage, StandardAcl
from kwire.messages.access_control import AclResourceType, PatternType
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.names import left_out
from kwire.zookeeper.operations import Create, Delete, SetData, ZnodeOperation
from kwire.zookeeper.paths import parent_of
from kwire.zookeeper.znodes import AclChangeZnode, AclResource, AclZnode, AclZnodeEntry

UPDATE_ACL = "UpdateAcl"
DELETE_ACL = "DeleteAcl"


def acl_resource(acl: StandardAcl) -> AclResource:
    """Return the resource pattern of a rule."""
    return AclResource(acl.resource_type, acl.resource_name, acl.pattern_type)


def resource_entries(acls: AclsImage, resource: AclResource) -> list[AclZnodeEntry]:
    """Return the rules of a resource."""
    key = resource.resource_type, resource.pattern_type, resource.name
    by_principal = acls.by_resource.get(key)
    if by_principal is None:
        return []
    return [AclZnodeEntry.of(acl) for rules in by_principal.values() for acl in rules.values()]


def resource_order(resource: AclResource) -> tuple[int, int, str]:
    """Return the key by which resources are written in order."""
    return resource.resource_type, resource.pattern_type, resource.name


def write_acls(resource: AclResource, entries: Iterable[AclZnodeEntry]) -> ZnodeWrite:
    """Return the write of all rules of a resource; without a rule it is deleted."""
    ordered = sorted(set(entries), key=_order)
    data = AclZnode(tuple(ordered)).encode()
    description = f"Wrote {len(ordered)} for resource {pattern_text(resource)}"
    return _write(resource, UPDATE_ACL, SetData(AclZnode.path(resource), data), description)


def delete_acls(resource: AclResource, reason: str) -> ZnodeWrite:
    """Return the write that deletes a resource. reason: Kafka's words for why it has no rules."""
    description = f"Deleted resource {pattern_text(resource)} which has {reason}"
    return _write(resource, DELETE_ACL, Delete(AclZnode.path(resource)), description)


def pattern_text(resource: AclResource) -> str:
    """Return a resource pattern as Kafka prints it (ResourcePattern.toString)."""
    return (
        f"ResourcePattern(resourceType={AclResourceType(resource.resource_type).name},"
        f" name={resource.name}, patternType={PatternType(resource.pattern_type).name})"
    )


def _write(
    resource: AclResource, type: str, operation: ZnodeOperation, description: str
) -> ZnodeWrite:
    change = AclChangeZnode(resource)
    root = AclZnode.root(resource.pattern_type)
    above = (root,) if parent_of(root) == "/" else (parent_of(root), root)
    write = ZnodeWrite(
        type=type,
        description=description,
        operations=(operation,),
        folders=(*above, f"{root}/{resource.type_name}"),
        notifications=(Create(change.path_prefix, change.encode(), sequential=True),),
    )
    # It would be below the znode of another resource, where nobody reads it.
    return left_out(write) if "/" in resource.name else write


def _order(entry: AclZnodeEntry) -> tuple[str, str, int, int]:
    return entry.principal, entry.host, entry.operation, entry.permission_type
