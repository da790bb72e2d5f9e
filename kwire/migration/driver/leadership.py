"""A controller's knowledge of ZooKeeper's side of the migration (ZkMigrationLeadershipState).

Offset and epoch of the metadata, and the KRaft controller that wrote them, are kept in /migration.
The versions of the two znodes that fence every write are known to the active controller only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kwire.logdir.names import OffsetAndEpoch

UNKNOWN_ZK_VERSION = -2
"""A version that no znode has; -1 would fit every one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZkMigrationLeadershipState:
    """The state of one controller; the default is that of one that has read nothing.

    kraft_metadata_offset, kraft_metadata_epoch: of the last metadata that ZooKeeper has.
    migration_zk_version: of /migration, as this controller last read or wrote it.
    zk_controller_epoch, zk_controller_epoch_zk_version: /controller_epoch and its version, as this
    controller's claim left them; unknown before the claim.
    """

    kraft_controller_id: int = -1
    kraft_controller_epoch: int = -1
    kraft_metadata_offset: int = -1
    kraft_metadata_epoch: int = -1
    migration_zk_version: int = UNKNOWN_ZK_VERSION
    zk_controller_epoch: int = -1
    zk_controller_epoch_zk_version: int = UNKNOWN_ZK_VERSION

    @property
    def is_copied(self) -> bool:
        """True once ZooKeeper's metadata are in the log (Java: initialZkMigrationComplete)."""
        return self.kraft_metadata_offset > 0

    @property
    def has_claim(self) -> bool:
        """True if this controller has claimed the leadership in ZooKeeper."""
        return self.zk_controller_epoch_zk_version != UNKNOWN_ZK_VERSION

    @property
    def offset_and_epoch(self) -> OffsetAndEpoch:
        """The last metadata that ZooKeeper has; ordered by epoch first."""
        return OffsetAndEpoch(offset=self.kraft_metadata_offset, epoch=self.kraft_metadata_epoch)

    def with_kraft_controller(self, id: int, epoch: int) -> ZkMigrationLeadershipState:
        """Return the state under another leader of the quorum, which has claimed nothing yet."""
        return replace(self.without_claim(), kraft_controller_id=id, kraft_controller_epoch=epoch)

    def with_claim(self, epoch: int, zk_version: int) -> ZkMigrationLeadershipState:
        """Return the state after /controller_epoch was set to `epoch`."""
        return replace(self, zk_controller_epoch=epoch, zk_controller_epoch_zk_version=zk_version)

    def without_claim(self) -> ZkMigrationLeadershipState:
        """Return the state of one that may not write to ZooKeeper."""
        return self.with_claim(-1, UNKNOWN_ZK_VERSION)

    def with_metadata(self, written: OffsetAndEpoch) -> ZkMigrationLeadershipState:
        """Return the state with newer metadata in ZooKeeper."""
        return replace(
            self, kraft_metadata_offset=written.offset, kraft_metadata_epoch=written.epoch
        )

    def with_migration_zk_version(self, zk_version: int) -> ZkMigrationLeadershipState:
        """Return the state with another version of /migration."""
        return replace(self, migration_zk_version=zk_version)
