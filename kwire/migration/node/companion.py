"""The gauges of a cluster that is migrated from ZooKeeper, or was (KIP-866)."""

from __future__ import annotations

from kwire.controller.server.extension import Companion
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.image.features import ZkMigrationState


class MigrationCompanion(Companion):
    """Tells the state of the migration that the metadata have; nothing runs."""

    def __init__(self, metadata: MetadataRuntime) -> None:
        self._metadata = metadata

    def gauges(self) -> dict[str, float]:
        """Return the state of the migration; nothing where there was none.

        ZkMigrationState has the numbers of ZkMigrationStateRecord.
        """
        image = self._metadata.image
        if image.features.zk_migration_state == ZkMigrationState.NONE:
            return {}
        return self._state_gauges()

    def _state_gauges(self) -> dict[str, float]:
        image = self._metadata.image
        brokers = image.cluster.brokers.values()
        return {
            "ZkMigrationState": image.features.zk_migration_state,
            "MigratingZkBrokerCount": sum(broker.is_migrating_zk_broker for broker in brokers),
        }
