"""A node that migrates from ZooKeeper: what is put together from its settings (Java:
ControllerServer)."""

from __future__ import annotations

from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.extension import Extension, NodeParts
from kwire.migration.driver.rules import MigrationRules
from kwire.migration.node.companion import MigrationCompanion
from kwire.migration.node.config import (
    ENABLE,
    MIGRATION_KNOWN,
    MigrationConfig,
    migration_config,
)
from kwire.migration.node.zookeeper_opening import ZooKeeperOpener, open_zookeeper


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
        """Return the driver of a node, not started; where it does not migrate, gauges alone."""
        if self.config is None:
            return MigrationCompanion(parts.metadata)
        # Imported where it is needed: most controllers migrate nothing.
        from kwire.migration.node.assembly import migration_driver

        return migration_driver(parts, self.config, self._open_zookeeper)
