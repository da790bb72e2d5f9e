"""The parts of a node's migration, put together from its settings (Java: ControllerServer)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from uuid import UUID

from kwire.controller.migration.copy import MetadataCopy, metadata_copy
from kwire.controller.migration.dual_write import dual_write
from kwire.controller.migration.synchronisation import synchronise
from kwire.controller.migration.znode_write import ZnodeWrite
from kwire.controller.migration.znode_writes.passwords import PasswordWriter
from kwire.controller.server.config.migration import MigrationConfig
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.environment import Environment
from kwire.controller.server.large_messages import in_thread_if
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.controller.server.migration.broker_channels import BrokerChannels
from kwire.controller.server.migration.metadata_feed import MetadataFeed
from kwire.controller.server.migration.migration_requests import MigrationRequests
from kwire.controller.server.migration.migration_runtime import MigrationRuntime
from kwire.controller.server.migration.zookeeper_session import ZooKeeperSession
from kwire.controller.server.migration_sensors import MigrationSensors
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.image import MetadataImage
from kwire.zookeeper import InvalidZnode, ZooKeeper
from kwire.zookeeper.metadata import read_metadata
from kwire.zookeeper.zookeeper_metadata import MetadataPart

MANY_TOPICS = 1000
"""Topics from which on they are copied and compared in a thread; each takes 20 microseconds."""

COPIED = frozenset(MetadataPart) - {MetadataPart.CLUSTER, MetadataPart.BROKERS}
"""The parts of ZooKeeper that a copy and a synchronisation look at."""

logger = logging.getLogger(__name__)


def migration_runtime(
    node_config: NodeConfig,
    config: MigrationConfig,
    metadata: MetadataRuntime,
    runtime: RaftRuntime,
    log: DirectoryLog,
    environment: Environment,
    sensors: MigrationSensors,
) -> MigrationRuntime:
    """Return the driver of a node, not started, with all that it acts on."""
    passwords = PasswordWriter(config.password_encoder, environment.token_bytes)
    session = ZooKeeperSession(config.zookeeper, environment.open_zookeeper)

    requests = MigrationRequests(
        session.zookeeper,
        metadata.migration,
        read_copy=partial(_read_copy, config, passwords, environment.new_uuid),
        compare_all=partial(_compare_all, passwords),
        clock=lambda: runtime.now,
    )
    feed = MetadataFeed(metadata, runtime, log)
    return MigrationRuntime(
        metadata,
        runtime,
        feed,
        session,
        requests,
        BrokerChannels.secured(
            node_config.node_id,
            config.inter_broker_listener,
            config.broker_security,
            runtime.fail,
        ),
        sensors,
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
