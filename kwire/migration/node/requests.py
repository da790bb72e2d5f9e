"""The requests of a migration's driver, carried out on a ZooKeeper and on the metadata log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image import MetadataImage
from kwire.image.errors import ReplayError
from kwire.migration.driver.copy import MetadataCopy, TopicsWithoutIds
from kwire.migration.driver.effects import (
    CheckCopy,
    CopyMetadata,
    DriverRequest,
    FindDifferences,
    MetadataCopied,
    ReadAssignedBrokers,
    ReadBrokerIds,
    ReadTree,
    ReadZkController,
    RecoverMigration,
    WriteZooKeeper,
    ZkControllerFound,
)
from kwire.migration.driver.leadership import ZkMigrationLeadershipState
from kwire.migration.driver.manifest import MigrationManifest
from kwire.migration.driver.writing import CopyFailed, LeadershipLost
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.node.writer import MigrationWriter
from kwire.net.many_at_once import many_at_once
from kwire.zookeeper import Create, MultiFailed, NodeExists, ZooKeeper
from kwire.zookeeper.lookups import children_or_none, get_or_none
from kwire.zookeeper.paths import join
from kwire.zookeeper.znodes.broker import BrokerZnode
from kwire.zookeeper.znodes.controller import ControllerEpochZnode, ControllerZnode
from kwire.zookeeper.znodes.migration import MigrationZnode
from kwire.zookeeper.znodes.top_level import DELETE_TOPICS, PERSISTENT_PATHS, with_parents
from kwire.zookeeper.znodes.topic import TopicZnode

ReadCopy = Callable[[ZooKeeper], Awaitable[MetadataCopy]]
"""Reads all of ZooKeeper; returns the records of the copy."""

CompareAll = Callable[[ZooKeeper, MetadataImage, int], Awaitable[tuple[ZnodeWrite, ...]]]
"""Reads all of ZooKeeper; returns the writes after which it is as an image."""


class MigrationRequests:
    """Carries out the requests of a driver, one at a time.

    zookeeper: returns the session. writer: of the metadata log. clock: returns milliseconds.
    """

    def __init__(
        self,
        zookeeper: Callable[[], Awaitable[ZooKeeper]],
        writer: MigrationWriter,
        *,
        read_copy: ReadCopy,
        compare_all: CompareAll,
        clock: Callable[[], int],
    ) -> None:
        self._zookeeper = zookeeper
        self._writer = writer
        self._read_copy = read_copy
        self._compare_all = compare_all
        self._clock = clock

    async def perform(self, request: DriverRequest) -> Any:
        """Carry out a request; return its answer. Raises KwireError as the request says."""
        zookeeper = await self._zookeeper()
        match request:
            case RecoverMigration():
                return await recover_migration(zookeeper)
            case ReadBrokerIds():
                return await broker_ids(zookeeper)
            case ReadAssignedBrokers():
                return await assigned_brokers(zookeeper)
            case ReadZkController():
                return await zk_controller(zookeeper)
            case WriteZooKeeper(operations=operations):
                return await zookeeper.multi(operations)
            case ReadTree(path=path):
                return await tree(zookeeper, path)
            case CheckCopy():
                await self._read_copy(zookeeper)
                return None
            case CopyMetadata(epoch=epoch):
                return await self._copy(zookeeper, epoch)
            case FindDifferences(image=image, controller_epoch=epoch):
                return await self._compare_all(zookeeper, image, epoch)

    async def _copy(self, zookeeper: ZooKeeper, epoch: int) -> MetadataCopied:
        """Copy all of ZooKeeper into the log.

        1. Read everything first: if ZooKeeper does not answer, or has something that cannot be
           copied, nothing has begun.
        2. Write it as one transaction, each batch committed before the next.
        """
        began, manifest = self._clock(), MigrationManifest()
        # 1.
        copy = await self._read_copy(zookeeper)
        # 2.
        try:
            await self._writer.begin(epoch)
            for batch in copy.batches:
                written = self._clock()
                await self._writer.accept_batch(batch, epoch)
                manifest.add(batch, self._clock() - written)
            end = await self._writer.complete(epoch)
        except ApiError as error:
            if error.code == ErrorCode.NOT_CONTROLLER:
                raise LeadershipLost(str(error)) from error
            raise CopyFailed(str(error)) from error
        except ReplayError as error:
            raise CopyFailed(str(error)) from error
        return MetadataCopied(
            end=end,
            manifest=manifest.text(self._clock() - began),
            broker_ids=copy.broker_ids,
        )


async def recover_migration(zookeeper: ZooKeeper) -> ZkMigrationLeadershipState:
    """Read /migration; create it, and Kafka's top-level znodes, if they are not there."""
    for path in PERSISTENT_PATHS:
        if await zookeeper.exists(path) is None:
            for missing in with_parents(path):
                await create_if_missing(zookeeper, missing)
    await create_if_missing(zookeeper, MigrationZnode.path, MigrationZnode().encode())
    znode = await zookeeper.get(MigrationZnode.path)
    found = MigrationZnode.parse(znode.data)
    return ZkMigrationLeadershipState(
        kraft_controller_id=found.kraft_controller_id,
        kraft_controller_epoch=found.kraft_controller_epoch,
        kraft_metadata_offset=found.kraft_metadata_offset,
        kraft_metadata_epoch=found.kraft_metadata_epoch,
        migration_zk_version=znode.version,
    )


async def create_if_missing(zookeeper: ZooKeeper, path: str, data: bytes = b"") -> None:
    """Create a znode; do nothing if it is there."""
    if await zookeeper.exists(path) is not None:
        return
    try:
        await zookeeper.multi([Create(path, data)])
    except MultiFailed as refusal:  # somebody else was faster
        if not isinstance(refusal.error, NodeExists):
            raise


async def broker_ids(zookeeper: ZooKeeper) -> frozenset[int]:
    """Return the brokers that have a session in ZooKeeper."""
    names = await zookeeper.children(BrokerZnode.parent)
    return frozenset(int(name) for name in names if name.isdecimal())


async def assigned_brokers(zookeeper: ZooKeeper) -> frozenset[int]:
    """Return the brokers that have, or get, a replica of any partition.

    Topics whose deletion waits are left out, as they are not copied.

    Raises TopicsWithoutIds: before the claim, since only a ZooKeeper controller gives them ids.
    """
    topics = set(await zookeeper.children(TopicZnode.parent))
    topics -= set(await zookeeper.children(DELETE_TOPICS))

    async def read(name: str) -> tuple[str, TopicZnode] | None:
        path = TopicZnode.path(name)
        znode = await get_or_none(zookeeper, path)  # None: deleted since
        return None if znode is None else (name, TopicZnode.parse(znode.data, path))

    found = dict(topic for topic in await many_at_once(sorted(topics), read) if topic)
    if without_ids := [name for name, topic in found.items() if topic.topic_id is None]:
        raise TopicsWithoutIds(without_ids)
    return frozenset(
        id
        for topic in found.values()
        for partition in topic.partitions.values()
        for id in partition.replicas
    )


async def zk_controller(zookeeper: ZooKeeper) -> ZkControllerFound:
    """Read /controller_epoch, then /controller: the claim is refused if either changes since."""
    found = ZkControllerFound()
    if (epoch := await get_or_none(zookeeper, ControllerEpochZnode.path)) is not None:
        number = ControllerEpochZnode.parse(epoch.data).epoch
        found = replace(found, epoch=number, epoch_zk_version=epoch.version)
    if (znode := await get_or_none(zookeeper, ControllerZnode.path)) is not None:
        controller = ControllerZnode.parse(znode.data)
        found = replace(
            found,
            controller_id=controller.broker_id,
            controller_zk_version=znode.version,
            kraft_epoch=-1 if controller.kraft_epoch is None else controller.kraft_epoch,
        )
    return found


async def tree(zookeeper: ZooKeeper, path: str) -> tuple[str, ...]:
    """Return the paths of all znodes below one; none if it is not there."""
    names = await children_or_none(zookeeper, path) or []
    children = [join(path, name) for name in names]
    below = await many_at_once(children, partial(tree, zookeeper))
    return (*children, *(path for paths in below for path in paths))
