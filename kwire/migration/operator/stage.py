"""The stage of a migration in an operator's words, from both sides (KIP-866)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from kwire.image.features import ZkMigrationState
from kwire.migration.operator.facts import MigrationFacts
from kwire.migration.operator.readiness import BrokerMode, BrokerReadiness


class MigrationStage(StrEnum):
    """The progress of a migration.

    ZOOKEEPER: there are no controllers yet. PREPARED: they wait. COPYING: from /controller being
    claimed to the end of the copy. UNNOTED: the copy has ended, and its leader did before it noted
    so in /migration. HYBRID: dual write, brokers in ZooKeeper mode. KRAFT_BROKERS: dual write, all
    brokers are KRaft. RETURNING: there was a copy, and /controller is not KRaft's any more, while
    no log is seen. KRAFT: no migration, or none any more of which a record tells. LEFT_OVER: the
    controllers wait, and /migration is that of an earlier migration. LOST: the metadata log is in a
    migration, and ZooKeeper is not.
    """

    UNKNOWN = "unknown"
    ZOOKEEPER = "zookeeper"
    PREPARED = "prepared"
    COPYING = "copying"
    UNNOTED = "unnoted"
    HYBRID = "hybrid"
    KRAFT_BROKERS = "kraft-brokers"
    FINALISED = "finalised"
    KRAFT = "kraft"
    RETURNING = "returning"
    LEFT_OVER = "left-over"
    LOST = "lost"


def stage_of(facts: MigrationFacts, brokers: Sequence[BrokerReadiness]) -> MigrationStage:
    """Return the stage, as far as the visible sides tell it."""
    zookeeper, state = facts.zookeeper, facts.state
    match state:
        case None:
            return _without_log(facts)
        case ZkMigrationState.NONE:
            return MigrationStage.KRAFT
        case ZkMigrationState.POST_MIGRATION:
            return MigrationStage.FINALISED
        case ZkMigrationState.PRE_MIGRATION if facts.has_left_over_migration:
            return MigrationStage.LEFT_OVER
        case ZkMigrationState.PRE_MIGRATION:
            controller = zookeeper.controller if zookeeper else None
            claimed = controller is not None and controller.is_kraft
            return MigrationStage.COPYING if claimed else MigrationStage.PREPARED
        case ZkMigrationState.MIGRATION:
            position = facts.migration
            if zookeeper is not None and not (position and position.is_copied):
                return _without_offset(facts)
            hybrid = any(broker.mode is BrokerMode.ZOOKEEPER for broker in brokers)
            return MigrationStage.HYBRID if hybrid else MigrationStage.KRAFT_BROKERS
    return MigrationStage.UNKNOWN


def _without_offset(facts: MigrationFacts) -> MigrationStage:
    """Return the stage of a log with a copy that /migration does not know.

    The leader that ends the copy writes /migration next. If it ends in between, Java's next driver
    stays INACTIVE (KRaftMigrationDriver.WaitForControllerQuorumEvent).
    """
    if facts.migration is None or facts.kraft is None or facts.claimed_epoch is None:
        return MigrationStage.LOST
    is_now = facts.claimed_epoch == facts.kraft.epoch
    return MigrationStage.COPYING if is_now else MigrationStage.UNNOTED


def _without_log(facts: MigrationFacts) -> MigrationStage:
    """Return what ZooKeeper alone tells: it does not tell if a migration was finalised."""
    zookeeper = facts.zookeeper
    if zookeeper is None or (zookeeper.controller is not None and zookeeper.controller.is_kraft):
        return MigrationStage.UNKNOWN
    if zookeeper.migration is None:
        return MigrationStage.ZOOKEEPER
    return MigrationStage.RETURNING if facts.is_copied else MigrationStage.PREPARED


def stage_sentence(
    stage: MigrationStage, facts: MigrationFacts, brokers: Sequence[BrokerReadiness]
) -> str:
    """Return the stage as a sentence."""
    kraft = sum(broker.mode is BrokerMode.KRAFT for broker in brokers)
    waiting = [broker.node_id for broker in brokers if broker.mode is not BrokerMode.ZOOKEEPER]
    match stage:
        case MigrationStage.ZOOKEEPER:
            return "ZooKeeper mode: no migration has begun"
        case MigrationStage.PREPARED if facts.state is None:
            return f"a migration was prepared; the controllers were not {_sought(facts)}"
        case MigrationStage.PREPARED if facts.zookeeper is None:
            return "prepared: the controllers wait; ZooKeeper, which has the brokers, was not read"
        case MigrationStage.PREPARED:
            return (
                f"prepared: the controllers wait, {len(brokers) - len(waiting)} of {len(brokers)}"
                " brokers are in migration mode"
            )
        case MigrationStage.LEFT_OVER:
            return "prepared, but /migration is left from an earlier migration"
        case MigrationStage.RETURNING if facts.zookeeper and facts.zookeeper.controller is None:
            return "on the way back: nobody is the controller after a copy"
        case MigrationStage.RETURNING:
            return "on the way back: a broker in ZooKeeper mode is the controller after a copy"
        case MigrationStage.COPYING:
            return "copying ZooKeeper's metadata to the metadata log"
        case MigrationStage.UNNOTED:
            return "the copy is in the metadata log, and /migration does not say so"
        case MigrationStage.HYBRID:
            return f"dual write: {kraft} of {len(brokers)} brokers are KRaft brokers"
        case MigrationStage.KRAFT_BROKERS:
            return "dual write: all brokers are KRaft brokers; not finalised"
        case MigrationStage.FINALISED:
            return "finalised: ZooKeeper is not written any more"
        case MigrationStage.KRAFT if facts.is_kraft_beside_zookeeper:
            return "no migration: the controllers began as KRaft, beside a cluster with ZooKeeper"
        case MigrationStage.KRAFT:
            return "no migration: the controllers began as KRaft"
        case MigrationStage.LOST:
            return "the metadata log is in a migration, and ZooKeeper knows of none"
        case _:
            if facts.kraft is not None:
                return "not known: the metadata log was not read"
            return f"not known: the controllers were not {_sought(facts)}"


def _sought(facts: MigrationFacts) -> str:
    return "seen" if facts.has_asked_kraft else "asked"
