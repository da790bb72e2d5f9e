"""ZkMigrationStateRecord, type 21 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import int8


class ZkMigrationStateRecord(MetadataRecord, key=21, versions="0", flexible="0+"):
    """The move from ZooKeeper to KRaft reaches its next stage (KIP-866)."""

    zk_migration_state: int = int8
