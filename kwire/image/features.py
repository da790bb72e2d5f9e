"""The finalised features of the image (org.apache.kafka.image.FeaturesImage, KIP-584)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.messages.metadata_versions import (
    ELIGIBLE_LEADER_REPLICAS,
    METADATA_VERSION,
    MINIMUM,
    MetadataVersion,
)
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.messages.zk_migration_state import ZkMigrationState as ZkMigrationState


class FeaturesImage(Struct, frozen=True, kw_only=True):
    """Levels by feature name, those at 0 left out; kraft.version is not here but in the voter set.

    zk_migration_state: a `ZkMigrationState`, if it is one that Kafka knows.
    """

    levels: HashTrieMap[str, int] = HashTrieMap()
    zk_migration_state: int = ZkMigrationState.NONE

    @property
    def metadata_version(self) -> MetadataVersion:
        """The finalised metadata.version; the lowest of all before there is a record of it."""
        return MetadataVersion(self.levels.get(METADATA_VERSION, MINIMUM))

    @property
    def has_metadata_version(self) -> bool:
        """True if the log has set a metadata.version."""
        return METADATA_VERSION in self.levels

    def level(self, name: str) -> int:
        """Return the level of a feature; 0 when it is not finalised."""
        return self.levels.get(name, 0)

    @property
    def elr_enabled(self) -> bool:
        """True if partitions have eligible leader replicas (KIP-966)."""
        return self.level(ELIGIBLE_LEADER_REPLICAS) > 0

    @property
    def in_pre_migration(self) -> bool:
        """True until the metadata of ZooKeeper are copied, while a migration waits (KIP-866)."""
        return self.zk_migration_state == ZkMigrationState.PRE_MIGRATION

    @property
    def is_migrating(self) -> bool:
        """True while a migration from ZooKeeper waits, or writes to both (KIP-866)."""
        return self.in_pre_migration or self.zk_migration_state == ZkMigrationState.MIGRATION

    def put(self, record: FeatureLevelRecord) -> FeaturesImage:
        """Set the level of a feature; level 0 removes it."""
        if record.feature_level:
            levels = self.levels.insert(record.name, record.feature_level)
        else:
            # Level 0 is not in the map, so that an image compares equal however it came about.
            levels = self.levels.remove(record.name) if record.name in self.levels else self.levels
        return replace(self, levels=levels)

    def migrate(self, record: ZkMigrationStateRecord) -> FeaturesImage:
        """Set the stage of the migration from ZooKeeper."""
        return replace(self, zk_migration_state=record.zk_migration_state)

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the records that write them down, metadata.version first, as Kafka does."""
        version = self.metadata_version
        levels = {METADATA_VERSION: version.level} | dict(sorted(self.levels.items()))
        for name, level in levels.items():
            record = FeatureLevelRecord(name=name, feature_level=level)
            yield VersionedRecord(record=record, version=0)
        if self.zk_migration_state != ZkMigrationState.NONE:
            state = ZkMigrationStateRecord(zk_migration_state=self.zk_migration_state)
            yield VersionedRecord(record=state, version=0)
