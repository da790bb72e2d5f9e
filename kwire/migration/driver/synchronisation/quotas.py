"""Quotas and credentials to write (KRaftMigrationZkWriter.handleClientQuotasSnapshot).

As in Java everything that the image has is written, whether it differs or not: the versions of
these znodes rise with each synchronisation.
"""

from __future__ import annotations

from collections.abc import Iterator

from kwire.image import MetadataImage
from kwire.image.client_quotas import EMPTY, Entity, entity_order
from kwire.image.scram import MECHANISMS
from kwire.migration.driver.copied_quotas import entities
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.names import entity_text
from kwire.migration.driver.znode_writes.quotas import scram_texts, user_of, write_quotas
from kwire.zookeeper import InvalidZnode
from kwire.zookeeper.quota_texts import USER
from kwire.zookeeper.znodes import ConfigZnode
from kwire.zookeeper.zookeeper_metadata import ZooKeeperMetadata


def quota_writes(zookeeper: ZooKeeperMetadata, image: MetadataImage) -> Iterator[ZnodeWrite]:
    """Yield the writes: users' clients, clients and ips, then users."""
    written = {*image.client_quotas.entities}
    written |= {Entity({(USER, user.name)}) for user in image.scram.credentials}
    for parts, znode, path in entities(zookeeper):
        entity = Entity(parts)
        if _differs(image, entity, znode, path):
            written.add(entity)
    for entity in sorted(written, key=lambda item: (user_of(item) is not None, entity_order(item))):
        user = user_of(entity)
        name = entity_text(entity) if user is None else "null" if user[0] is None else user[0]
        write = write_quotas(image, entity, f"Updated client quotas for {name}")
        if write is not None:
            yield write


def _differs(image: MetadataImage, entity: Entity, znode: ConfigZnode, path: str) -> bool:
    """Return True if ZooKeeper has other quotas or credentials for an entity, or wrong ones."""
    quotas = image.client_quotas.entities.get(entity, EMPTY)
    try:
        if dict(quotas) != znode.quotas(path):
            return True
    except InvalidZnode:
        return True
    user = user_of(entity)
    if user is None or user[0] is None:
        return False
    there = {name: znode.config[name] for name in MECHANISMS.values() if name in znode.config}
    return there != scram_texts(image, user[0])
