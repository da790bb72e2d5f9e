"""Quotas and SCRAM credentials (kafka.zk.migration.ZkConfigMigrationClient.writeClientQuotas).

A user's quotas and credentials stand in one znode, so each change of one writes the other as well.
"""

from __future__ import annotations

from kwire.image import MetadataImage
from kwire.image.client_quotas import EMPTY, Entity
from kwire.image.scram import MECHANISMS, ScramCredential, ScramUser
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.configs import config_change
from kwire.zookeeper.operations import SetData
from kwire.zookeeper.quota_texts import CLIENT_ID, IP, USER, quota_texts
from kwire.zookeeper.znodes import ConfigEntityType, ConfigZnode, ScramText
from kwire.zookeeper.znodes.config import entity_path, user_client_path

UPDATE_CLIENT_QUOTA = "UpdateClientQuota"


def user_of(entity: Entity) -> tuple[str | None] | None:
    """Return the user of an entity that is a user alone, in a tuple as it may be None."""
    parts = dict(entity)
    return (parts[USER],) if parts.keys() == {USER} else None


def write_quotas(image: MetadataImage, entity: Entity, description: str) -> ZnodeWrite | None:
    """Return the write of everything that an entity has in an image; None for unknown kinds."""
    path = quota_path(entity)
    if path is None:
        return None
    configs = quota_texts(entity, image.client_quotas.entities.get(entity, EMPTY))
    user = user_of(entity)
    if user is not None and user[0] is not None:
        configs |= scram_texts(image, user[0])
    return ZnodeWrite(
        type=UPDATE_CLIENT_QUOTA,
        description=description,
        operations=(SetData(path, ConfigZnode(configs).encode()),),
        folders=_folders(path),
        notifications=(config_change(path),),
    )


def quota_path(entity: Entity) -> str | None:
    """Return the path of an entity's znode; None if ZooKeeper has no such entities."""
    parts = dict(entity)
    match sorted(parts):
        case ["user"]:
            return entity_path(ConfigEntityType.USERS, parts[USER])
        case ["client-id", "user"]:
            return user_client_path(parts[USER], parts[CLIENT_ID])
        case ["client-id"]:
            return entity_path(ConfigEntityType.CLIENTS, parts[CLIENT_ID])
        case ["ip"]:
            return entity_path(ConfigEntityType.IPS, parts[IP])
    return None


def scram_texts(image: MetadataImage, user: str) -> dict[str, str]:
    """Return the credentials of a user as ZooKeeper has them, by mechanism."""
    credentials = image.scram.credentials
    found = {name: credentials.get(ScramUser(number, user)) for number, name in MECHANISMS.items()}
    return {name: _scram_text(item) for name, item in found.items() if item is not None}


def _scram_text(credential: ScramCredential) -> str:
    return ScramText(
        salt=credential.salt,
        stored_key=credential.stored_key,
        server_key=credential.server_key,
        iterations=credential.iterations,
    ).encode()


def _folders(path: str) -> tuple[str, ...]:
    """Return the znodes between /config and a path below it."""
    names = path.split("/")  # empty, config, users
    return tuple("/".join(names[:count]) for count in range(3, len(names)))
