"""Quotas and SCRAM credentials of ZooKeeper as records (ZkConfigMigrationClient, KIP-866)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kwire.batches.metadata_records import VersionedRecord
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.quota_texts import CLIENT_ID, IP, USER
from kwire.zookeeper.znodes import (
    DEFAULT_ENTITY,
    ConfigEntityType,
    ConfigZnode,
    entity_path,
    user_client_path,
)
from kwire.zookeeper.zookeeper_metadata import ConfigsByName, ZooKeeperMetadata

CopiedEntity = tuple[tuple[str, str | None], ...]
"""Type and name of each part of an entity, in the order of the record."""


def quota_groups(zookeeper: ZooKeeperMetadata) -> Iterator[list[VersionedRecord]]:
    """Yield users, clients, users' clients and ips; credentials of a user before its quotas.

    Raises InvalidZnode for a quota that is no number, for a credential that is not one, and for one
    beside the quotas of a user's client.
    """
    for parts, znode, path in entities(zookeeper):
        yield from _credentials(parts, znode, path)
        yield _quota_records(parts, znode.quotas(path))


def _credentials(
    parts: CopiedEntity, znode: ConfigZnode, path: str
) -> Iterator[list[VersionedRecord]]:
    for mechanism, credential in znode.scram_credentials(path):
        # Java reads it as a quota, which is no number. No broker lets the user log in by it.
        if len(parts) > 1:
            raise InvalidZnode(path, "a user's client has no SCRAM credential: only a user has")
        record = UserScramCredentialRecord(
            name=parts[0][1] or DEFAULT_ENTITY,
            mechanism=mechanism,
            salt=credential.salt,
            stored_key=credential.stored_key,
            server_key=credential.server_key,
            iterations=credential.iterations,
        )
        yield [VersionedRecord(record=record, version=0)]


def entities(zookeeper: ZooKeeperMetadata) -> Iterator[tuple[CopiedEntity, ConfigZnode, str]]:
    """Yield every entity that may have quotas: its parts, its znode, and the path of that."""
    yield from _entities(zookeeper.users, ConfigEntityType.USERS, USER)
    yield from _entities(zookeeper.clients, ConfigEntityType.CLIENTS, CLIENT_ID)
    pairs = sorted(zookeeper.user_clients.items(), key=lambda item: _pair_order(item[0]))
    for (user, client), stored in pairs:
        yield ((USER, user), (CLIENT_ID, client)), stored.value, user_client_path(user, client)
    yield from _entities(zookeeper.ips, ConfigEntityType.IPS, IP)


def _entities(
    znodes: ConfigsByName, type: ConfigEntityType, part: str
) -> Iterator[tuple[CopiedEntity, ConfigZnode, str]]:
    for name in sorted(znodes, key=_order):
        yield ((part, name),), znodes[name].value, entity_path(type, name)


def _quota_records(parts: CopiedEntity, quotas: Mapping[str, float]) -> list[VersionedRecord]:
    entity = [EntityData(entity_type=type, entity_name=name) for type, name in parts]
    return [
        VersionedRecord(
            record=ClientQuotaRecord(entity=entity, key=key, value=value, remove=False), version=0
        )
        for key, value in sorted(quotas.items())
    ]


def _order(name: str | None) -> tuple[bool, str]:
    return name is not None, name or ""


def _pair_order(pair: tuple[str | None, str | None]) -> tuple[tuple[bool, str], tuple[bool, str]]:
    return _order(pair[0]), _order(pair[1])
