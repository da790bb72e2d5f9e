"""The driver of a node that migrates, with all that it acts on (Java: ControllerServer)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from uuid import UUID

from kwire.controller.server.extension import NodeParts
from kwire.controller.server.large_messages import in_thread_if
from kwire.image import MetadataImage
from kwire.migration.driver.copy import MetadataCopy, metadata_copy
from kwire.migration.driver.dual_write import dual_write
from kwire.migration.driver.synchronisation import synchronise
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.migration.node.broker_channels import BrokerChannels
from kwire.migration.node.config import MigrationConfig
from kwire.migration.node.driver_runtime import MigrationRuntime
from kwire.migration.node.metadata_feed import MetadataFeed
from kwire.migration.node.requests import MigrationRequests
from kwire.migration.node.sensors import MigrationSensors
from kwire.migration.node.writer import MigrationWriter
from kwire.migration.node.zookeeper_opening import ZooKeeperOpener
from kwire.migration.node.zookeeper_session import ZooKeeperSession
from kwire.zookeeper import InvalidZnode, ZooKeeper
from kwire.zookeeper.metadata import read_metadata
from kwire.zookeeper.zookeeper_metadata import MetadataPart

MANY_TOPICS = 1000
"""Topics from which on they are copied and compared in a thread; each takes 20 microseconds."""

COPIED = frozenset(MetadataPart) - {MetadataPart.CLUSTER, MetadataPart.BROKERS}
"""The parts of ZooKeeper that a copy and a synchronisation look at."""

logger = logging.getLogger(__name__)


def migration_driver(
    parts: NodeParts,
    config: MigrationConfig,
    open_zookeeper: ZooKeeperOpener,
) -> MigrationRuntime:
    """Return a driver, not started."""
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
        MigrationSensors(),
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
