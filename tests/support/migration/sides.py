"""Both sides of a migration made by hand: controller 3000 and brokers 0 and 1 of Kafka 3.9."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from msgspec import structs
from rpds import HashTrieMap

from kwire.image import MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.image.cluster import ClusterImage
from kwire.image.controller import ControllerRegistration
from kwire.image.features import FeaturesImage, ZkMigrationState
from kwire.image.topics import TopicImage, TopicsImage
from kwire.migration.operator.facts import (
    KRaftFacts,
    MigrationFacts,
    ZooKeeperController,
    ZooKeeperFacts,
)
from kwire.net.negotiation import VersionRange
from kwire.zookeeper.znodes import MigrationZnode

CONNECT = "zk1:2181/kafka"
CLUSTER = "3Db5QLSqSZieL3rJBUUegA"
LEVEL = 21
"""metadata.version 3.9-IV0."""

BROKER_0 = ZooKeeperController(node_id=0, is_ephemeral=True)
KRAFT_CONTROLLER = ZooKeeperController(node_id=3000, kraft_epoch=4)
BEFORE_THE_COPY = MigrationZnode()
UP_TO_48 = MigrationZnode(
    kraft_controller_id=3000,
    kraft_controller_epoch=4,
    kraft_metadata_offset=48,
    kraft_metadata_epoch=4,
)


def zookeeper(
    controller: ZooKeeperController | None = BROKER_0,
    migration: MigrationZnode | None = None,
    *,
    broker_ids: Iterable[int] = (0, 1),
    assigned: Mapping[int, tuple[str, ...]] | None = None,
) -> ZooKeeperFacts:
    """Return a ZooKeeper, by default of a cluster without a migration."""
    return ZooKeeperFacts(
        cluster_id=CLUSTER,
        controller=controller,
        controller_epoch=5,
        migration=migration,
        broker_ids=frozenset(broker_ids),
        assigned=assigned,
    )


def broker(node_id: int, *, migrating: bool = True, level: int = LEVEL) -> BrokerRegistration:
    """Return a registered broker, by default in migration mode."""
    return BrokerRegistration(
        id=node_id,
        epoch=node_id,
        incarnation_id=UUID(int=node_id + 1),
        features=HashTrieMap({"metadata.version": VersionRange(level, level)}),
        fenced=False,
        is_migrating_zk_broker=migrating,
    )


def image(
    state: int,
    brokers: Iterable[BrokerRegistration] = (),
    *,
    ready: bool = True,
    level: int = LEVEL,
) -> MetadataImage:
    """Return an image in a state of the migration, with controller 3000."""
    controller = ControllerRegistration(
        id=3000, incarnation_id=UUID(int=3000), zk_migration_ready=ready
    )
    return MetadataImage(
        features=FeaturesImage(
            levels=HashTrieMap({"metadata.version": level}), zk_migration_state=state
        ),
        cluster=ClusterImage(
            controllers=HashTrieMap({3000: controller}),
            brokers=HashTrieMap({item.id: item for item in brokers}),
        ),
    )


def kraft(
    state: int,
    brokers: Iterable[BrokerRegistration] = (),
    *,
    ready: bool = True,
    end: int = 50,
    level: int = LEVEL,
) -> KRaftFacts:
    """Return controllers of which 3000 leads in epoch 4."""
    return KRaftFacts(
        servers="c1:9093",
        cluster_id=CLUSTER,
        leader_id=3000,
        epoch=4,
        voters=frozenset({3000}),
        image=image(state, brokers, ready=ready, level=level),
        end=end,
        ready_tags={3000: ready},
    )


def waiting(*registered: int) -> MigrationFacts:
    """Return a prepared migration, in which these brokers are in migration mode."""
    return MigrationFacts(
        connect=CONNECT,
        zookeeper=zookeeper(migration=BEFORE_THE_COPY),
        kraft=kraft(ZkMigrationState.PRE_MIGRATION, map(broker, registered)),
    )


def left_over(*registered: BrokerRegistration) -> MigrationFacts:
    """Return a prepared migration beside the /migration of an earlier one."""
    brokers = registered or (broker(0), broker(1))
    return MigrationFacts(
        connect=CONNECT,
        zookeeper=zookeeper(migration=UP_TO_48),
        kraft=kraft(ZkMigrationState.PRE_MIGRATION, brokers),
    )


def dual_write(*kraft_brokers: int, end: int = 50) -> MigrationFacts:
    """Return a migration in dual write, in which these brokers are KRaft brokers already."""
    brokers = [broker(node_id, migrating=node_id not in kraft_brokers) for node_id in (0, 1)]
    hybrid = {0, 1} - set(kraft_brokers)
    return MigrationFacts(
        connect=CONNECT,
        zookeeper=zookeeper(KRAFT_CONTROLLER, UP_TO_48, broker_ids=hybrid),
        kraft=kraft(ZkMigrationState.MIGRATION, brokers, end=end),
    )


def unnoted() -> MigrationFacts:
    """Return a migration whose leader of epoch 3 died before /migration got the copy's offset."""
    earlier = ZooKeeperController(node_id=3000, kraft_epoch=3)
    return MigrationFacts(
        connect=CONNECT,
        zookeeper=zookeeper(earlier, BEFORE_THE_COPY),
        kraft=kraft(ZkMigrationState.MIGRATION, [broker(0), broker(1)]),
    )


def stuck(*topics: str) -> MigrationFacts:
    """Return a synchronisation that stands still; the topics are in the metadata log alone."""
    facts = dual_write(end=150)
    assert facts.zookeeper is not None
    assert facts.kraft is not None
    assert facts.kraft.image is not None
    ids = {name: UUID(int=number) for number, name in enumerate(topics)}
    by_id = {id: TopicImage(name=name, id=id) for name, id in ids.items()}
    written = TopicsImage(by_id=HashTrieMap(by_id), ids=HashTrieMap(ids))
    image = structs.replace(facts.kraft.image, topics=written)
    return replace(
        facts,
        zookeeper=replace(facts.zookeeper, topics=frozenset()),
        kraft=replace(facts.kraft, image=image),
    )


def finalised() -> MigrationFacts:
    """Return a migration that is finalised."""
    facts = dual_write(0, 1)
    assert facts.kraft is not None
    log = kraft(ZkMigrationState.POST_MIGRATION, [broker(0, migrating=False)])
    return replace(facts, kraft=log)
