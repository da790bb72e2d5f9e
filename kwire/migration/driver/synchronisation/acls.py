"""ACLs that differ (KRaftMigrationZkWriter.handleAclsSnapshot)."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.image.acls import AclsImage
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.acls import (
    delete_acls,
    resource_entries,
    resource_order,
    write_acls,
)
from kwire.zookeeper.znodes import AclResource
from kwire.zookeeper.zookeeper_metadata import ZooKeeperMetadata


def acl_writes(zookeeper: ZooKeeperMetadata, image: AclsImage) -> Iterator[ZnodeWrite]:
    """Yield the writes: resources that ZooKeeper has not, those it alone has, changed ones."""
    expected = {
        AclResource(type, name, pattern_type) for type, pattern_type, name in image.by_resource
    }
    there = zookeeper.acls
    for resource in sorted(expected - there.keys(), key=resource_order):
        yield write_acls(resource, resource_entries(image, resource))
    for resource in sorted(there.keys() - expected, key=resource_order):
        yield delete_acls(resource, "no ACLs in snapshot")
    for resource in sorted(there.keys() & expected, key=resource_order):
        entries = resource_entries(image, resource)
        if set(entries) != set(there[resource].value.entries):
            yield write_acls(resource, entries)
