"""A node that migrates from ZooKeeper: what is put together from its settings (Java:
ControllerServer)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client.core import Metric

from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.extension import Companion, Extension, NodeParts
from kwire.image.features import ZkMigrationState
from kwire.migration.driver.rules import MigrationRules
from kwire.migration.node.config import (
    ENABLE,
    MIGRATION_KNOWN,
    MigrationConfig,
    migration_config,
)
from kwire.migration.node.sensors import MigrationSensors
from kwire.migration.node.zookeeper_opening import ZooKeeperOpener, open_zookeeper

if TYPE_CHECKING:
    from kwire.migration.node.driver_runtime import MigrationRuntime


class MigrationExtension(Extension):
    """The rules of a migration, and where it is enabled its driver beside the node.

    config: None where it is not enabled.
    """

    def __init__(
        self,
        config: MigrationConfig | None,
        inter_broker_listener: str,
        open_zookeeper: ZooKeeperOpener = open_zookeeper,
    ) -> None:
        self.config = config
        self.rules = MigrationRules(config is not None, inter_broker_listener)
        self._open_zookeeper = open_zookeeper

    @classmethod
    def of(
        cls, node_config: NodeConfig, open_zookeeper: ZooKeeperOpener = open_zookeeper
    ) -> MigrationExtension:
        """Read the settings of a migration. Raises InvalidValue as `migration_config`."""
        config = migration_config(node_config.static)
        return cls(config, node_config.inter_broker_listener, open_zookeeper)

    @property
    def known(self) -> frozenset[str]:
        """The names of settings that have an effect by this."""
        return frozenset({ENABLE}) if self.config is None else MIGRATION_KNOWN

    def companion(self, parts: NodeParts) -> MigrationCompanion:
        """Return the driver of a node, not started, with all that it acts on."""
        return MigrationCompanion(parts, self.config, self._open_zookeeper)


class MigrationCompanion(Companion):
    """Runs a migration's driver beside a node.

    driver: None where no migration is enabled. sensors: of its writes to ZooKeeper.
    """

    def __init__(
        self, parts: NodeParts, config: MigrationConfig | None, open_zookeeper: ZooKeeperOpener
    ) -> None:
        self._metadata = parts.metadata
        self.sensors = MigrationSensors()
        self.driver: MigrationRuntime | None = None
        if config is not None:
            # Imported where it is needed: most controllers migrate nothing.
            from kwire.migration.node.assembly import migration_driver

            self.driver = migration_driver(parts, config, open_zookeeper, self.sensors)

    def start(self) -> None:
        """Start the driver."""
        if self.driver is not None:
            self.driver.start()

    def suspend(self) -> None:
        """Have the driver stand still until `resume`."""
        if self.driver is not None:
            self.driver.suspend()

    def resume(self) -> None:
        """Have the driver go on."""
        if self.driver is not None:
            self.driver.resume()

    async def stop(self) -> None:
        """Stop the driver; its session with ZooKeeper ends."""
        if self.driver is not None:
            await self.driver.stop()

    def gauges(self) -> dict[str, float]:
        """Return values of a migration; none where there is and was none.

        ZkMigrationState has the numbers of ZkMigrationStateRecord.
        """
        metadata, image = self._metadata, self._metadata.image
        state = image.features.zk_migration_state
        if self.driver is None and state == ZkMigrationState.NONE:
            return {}
        brokers = image.cluster.brokers.values()
        gauges: dict[str, float] = {
            "ZkMigrationState": state,
            "MigratingZkBrokerCount": sum(broker.is_migrating_zk_broker for broker in brokers),
        }
        if self.driver is not None:
            last = metadata.offset - 1
            gauges["ZkWriteBehindLag"] = self.sensors.lag(last, is_active=metadata.is_active)
        return gauges

    def collect(self) -> Iterable[Metric]:
        """Return the times of the writes, where there is a driver."""
        return self.sensors.collect() if self.driver is not None else ()
