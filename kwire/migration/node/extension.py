"""A node that migrates from ZooKeeper: what is put together from its settings (Java:
ControllerServer)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from uuid import UUID

from prometheus_client.core import Metric

from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.extension import Companion, Extension, NodeParts
from kwire.controller.server.large_messages import in_thread_if
from kwire.image import MetadataImage
from kwire.image.features import ZkMigrationState
from kwire.migration.driver.copy import MetadataCopy, metadata_copy
from kwire.migration.driver.dual_write import dual_write
from kwire.migration.driver.rules import MigrationRules
from kwire.migration.driver.synchronisation import synchronise
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.migration.node.broker_channels import BrokerChannels
from kwire.migration.node.config import (
    ENABLE,
    MIGRATION_KNOWN,
    MigrationConfig,
    migration_config,
)
from kwire.migration.node.driver_runtime import MigrationRuntime
from kwire.migration.node.metadata_feed import MetadataFeed
from kwire.migration.node.requests import MigrationRequests
from kwire.migration.node.sensors import MigrationSensors
from kwire.migration.node.writer import MigrationWriter
from kwire.migration.node.zookeeper_opening import OpenZooKeeper, open_zookeeper
from kwire.migration.node.zookeeper_session import ZooKeeperSession
from kwire.zookeeper import InvalidZnode, ZooKeeper
from kwire.zookeeper.metadata import read_metadata
from kwire.zookeeper.zookeeper_metadata import MetadataPart

MANY_TOPICS = 1000
"""Topics from which on they are copied and compared in a thread; each takes 20 microseconds."""

COPIED = frozenset(MetadataPart) - {MetadataPart.CLUSTER, MetadataPart.BROKERS}
"""The parts of ZooKeeper that a copy and a synchronisation look at."""

logger = logging.getLogger(__name__)


class MigrationExtension(Extension):
    """The rules of a migration, and where it is enabled its driver beside the node.

    config: None where it is not enabled.
    """

    def __init__(
        self,
        config: MigrationConfig | None,
        inter_broker_listener: str,
        open_zookeeper: OpenZooKeeper = open_zookeeper,
    ) -> None:
        self.config = config
        self.rules = MigrationRules(config is not None, inter_broker_listener)
        self._open_zookeeper = open_zookeeper

    @classmethod
    def of(
        cls, node_config: NodeConfig, open_zookeeper: OpenZooKeeper = open_zookeeper
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
        self, parts: NodeParts, config: MigrationConfig | None, open_zookeeper: OpenZooKeeper
    ) -> None:
        self._metadata = parts.metadata
        self.sensors = MigrationSensors()
        self.driver = (
            None if config is None else _driver(parts, config, open_zookeeper, self.sensors)
        )

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


def _driver(
    parts: NodeParts,
    config: MigrationConfig,
    open_zookeeper: OpenZooKeeper,
    sensors: MigrationSensors,
) -> MigrationRuntime:
    metadata, runtime, environment = parts.metadata, parts.runtime, parts.environment
    passwords = PasswordWriter(config.password_encoder, environment.token_bytes)
    session = ZooKeeperSession(config.zookeeper, open_zookeeper)
    writer = MigrationWriter(metadata, runtime)
    requests = MigrationRequests(
        session.zookeeper,
        writer,
        read_copy=partial(_read_copy, config, passwords, environment.new_uuid),
        compare_all=partial(_compare_all, passwords),
        clock=lambda: runtime.now,
    )
    return MigrationRuntime(
        metadata,
        runtime,
        MetadataFeed(metadata, runtime, parts.log),
        session,
        requests,
        BrokerChannels.secured(
            parts.config.node_id,
            config.inter_broker_listener,
            config.broker_security,
            runtime.fail,
        ),
        sensors,
        abort=writer.abort,
        dual_writes=partial(dual_write, passwords=passwords),
    )


async def _read_copy(
    config: MigrationConfig,
    passwords: PasswordWriter,
    new_id: Callable[[], UUID],
    zookeeper: ZooKeeper,
) -> MetadataCopy:
    found = await read_metadata(zookeeper, parts=COPIED)
    return await in_thread_if(
        len(found.topics) > MANY_TOPICS,
        metadata_copy,
        found,
        passwords=passwords.encoder,
        new_id=new_id,
        min_batch_size=config.min_batch_size,
    )


async def _compare_all(
    passwords: PasswordWriter, zookeeper: ZooKeeper, image: MetadataImage, epoch: int
) -> tuple[ZnodeWrite, ...]:
    # What cannot be read is written anew: else one znode would end the dual write for good.
    found = await read_metadata(zookeeper, parts=COPIED, on_invalid=_warn_of)
    is_large = len(found.topics) + len(image.topics.by_id) > MANY_TOPICS
    return tuple(await in_thread_if(is_large, synchronise, found, image, epoch, passwords))


def _warn_of(error: InvalidZnode) -> None:
    logger.warning("a synchronisation takes for not there what it cannot read: %s", error)
