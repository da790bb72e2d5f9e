"""Reads Kafka's metadata from ZooKeeper, all of it or some parts (Java: ZkMigrationClient)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kwire.zookeeper.client import ZooKeeper
from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.metadata_reader import MetadataReader, ReadProgress, no_progress
from kwire.zookeeper.zookeeper_metadata import MetadataPart, ZooKeeperMetadata

EVERYTHING = frozenset(MetadataPart)


async def read_metadata(
    zookeeper: ZooKeeper,
    *,
    parts: Collection[MetadataPart] = EVERYTHING,
    topics: Collection[str] | None = None,
    progress: ReadProgress = no_progress,
    on_invalid: Callable[[InvalidZnode], object] | None = None,
) -> ZooKeeperMetadata:
    """Read some parts; what is in the others is absent.

    Znodes that are deleted meanwhile are left out: this is no snapshot. topics: only these; None
    for all. on_invalid: called for each znode that cannot be read, which is then left out; without
    it the first one is raised. Raises InvalidZnode, ConnectionLost, SessionExpired, NotAuthorized.
    """
    return await MetadataReader(zookeeper, progress, on_invalid).read(parts, topics)
