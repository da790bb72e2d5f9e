"""The state of the controllers' migration driver, as far as it shows from outside (KIP-866).

The driver keeps its state in memory and tells nobody. It follows from /migration, /controller, the
record in the log and the registrations. Java: KRaftMigrationDriver, MigrationDriverState.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kwire.image.features import ZkMigrationState
from kwire.migration.operator.facts import (
    BEHIND,
    KRaftFacts,
    MigrationFacts,
    ZooKeeperFacts,
)
from kwire.migration.operator.readiness import BrokerReadiness, ControllerReadiness
from kwire.text.phrases import listed
from kwire.zookeeper.znodes import MigrationZnode


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverView:
    """The driver of the active controller.

    state: Kafka's name of it, two of them with `or` if they cannot be told apart, empty if it is
    not known. reason: what it follows from, or why it is not known. waits_for: what has to happen.
    """

    state: str = ""
    reason: str = ""
    waits_for: str = ""


def driver_view(
    facts: MigrationFacts,
    controllers: Sequence[ControllerReadiness],
    brokers: Sequence[BrokerReadiness],
) -> DriverView:
    """Return the state of the driver.

    1. A log in state NONE or POST_MIGRATION has no active driver.
    2. Without /migration the driver has not reached ZooKeeper.
    3. While nobody leads no driver does anything.
    4. Before the copy it waits for controllers, then for brokers, then for /controller.
    5. After the copy it claims /controller after each election, synchronises, and writes twice.
    """
    zookeeper, kraft = facts.zookeeper, facts.kraft
    if kraft is None or kraft.state is None:
        return DriverView(reason="the metadata log was not read")
    # 1.
    if kraft.state == ZkMigrationState.NONE:
        return DriverView(state="INACTIVE", reason="no migration was begun: the log is KRaft's own")
    if kraft.state == ZkMigrationState.POST_MIGRATION:
        return DriverView(state="INACTIVE", reason="the migration is finalised")
    if zookeeper is None:
        return DriverView(reason="ZooKeeper was not read")
    # 2.
    if zookeeper.migration is None:
        return DriverView(
            state="UNINITIALIZED",
            reason="/migration does not exist",
            waits_for="the active controller to reach ZooKeeper: see zookeeper.connect in its"
            " properties, and its log",
        )
    # 3.
    if kraft.leader_id < 0:
        return DriverView(
            state="INACTIVE", reason="no controller leads", waits_for="an election: see Controllers"
        )
    # 4. and 5.
    if kraft.state == ZkMigrationState.PRE_MIGRATION:
        return _before(zookeeper, kraft, controllers, brokers)
    if not zookeeper.migration.is_copied:
        return _without_offset(facts, kraft)
    return _after(zookeeper, kraft, zookeeper.migration)


def _before(
    zookeeper: ZooKeeperFacts,
    kraft: KRaftFacts,
    controllers: Sequence[ControllerReadiness],
    brokers: Sequence[BrokerReadiness],
) -> DriverView:
    missing = [item.node_id for item in controllers if item.is_ready is False]
    if missing:
        return DriverView(
            state="WAIT_FOR_CONTROLLER_QUORUM",
            reason="not all voters are ready",
            waits_for=_ids("controller", missing),
        )
    # Fenced ones are registered, which is what the driver looks at.
    waiting = [item.node_id for item in brokers if item.mode != "zookeeper"]
    if waiting or not zookeeper.broker_ids:
        return DriverView(
            state="WAIT_FOR_BROKERS",
            reason="not all brokers are registered in migration mode",
            waits_for=_ids("broker", waiting) if waiting else "brokers to register in ZooKeeper",
        )
    if not _is_claimed(zookeeper, kraft):
        return DriverView(
            state="BECOME_CONTROLLER",
            reason=f"/controller is not claimed by {kraft.leader_id} in epoch {kraft.epoch}",
            waits_for=f"{kraft.leader_id} to take /controller",
        )
    if zookeeper.migration is not None and zookeeper.migration.is_copied:
        return DriverView(
            state="SYNC_KRAFT_TO_ZK",
            reason="/controller is claimed, and /migration says that a copy was made; the log has"
            " none",
            waits_for="the log to be as long as /migration says: then ZooKeeper loses every topic",
        )
    return DriverView(
        state="ZK_MIGRATION",
        reason="/controller is claimed, and /migration has no offset",
        waits_for="the copy to be committed",
    )


def _without_offset(facts: MigrationFacts, kraft: KRaftFacts) -> DriverView:
    """Return the state for a log in state MIGRATION that /migration does not know."""
    reason = "the log is in state MIGRATION, and /migration has no offset: "
    if facts.claimed_epoch is None:
        reason += "this ZooKeeper was not the one that was copied, or /migration was deleted"
        return DriverView(state="INACTIVE", reason=reason)
    if facts.claimed_epoch == kraft.epoch:
        return DriverView(
            state="ZK_MIGRATION",
            reason="the copy is in the metadata log",
            waits_for="/migration to get its offset",
        )
    reason += f"the leader of epoch {facts.claimed_epoch} ended before it wrote it"
    return DriverView(state="INACTIVE", reason=reason)


def _after(zookeeper: ZooKeeperFacts, kraft: KRaftFacts, at: MigrationZnode) -> DriverView:
    if not _is_claimed(zookeeper, kraft):
        return DriverView(
            state="BECOME_CONTROLLER",
            reason=f"/controller is {zookeeper.controller or 'not there'}, while {kraft.leader_id}"
            f" leads in epoch {kraft.epoch}",
            waits_for=f"{kraft.leader_id} to take /controller",
        )
    if at.kraft_metadata_epoch < kraft.epoch:
        return DriverView(
            state="SYNC_KRAFT_TO_ZK or KRAFT_CONTROLLER_TO_BROKER_COMM",
            reason=f"/controller is claimed; nothing of epoch {kraft.epoch} is in ZooKeeper yet",
            waits_for="the synchronisation to end",
        )
    if (behind := kraft.end - 1 - at.kraft_metadata_offset) > BEHIND:
        return DriverView(
            state="DUAL_WRITE or SYNC_KRAFT_TO_ZK",
            reason=f"/controller is claimed; /migration is {behind} records behind",
            waits_for="ZooKeeper to catch up",
        )
    return DriverView(state="DUAL_WRITE", reason="/controller is claimed; /migration follows")


def _is_claimed(zookeeper: ZooKeeperFacts, kraft: KRaftFacts) -> bool:
    controller = zookeeper.controller
    return (
        controller is not None
        and controller.node_id == kraft.leader_id
        and controller.kraft_epoch == kraft.epoch
    )


def _ids(noun: str, ids: Sequence[int]) -> str:
    return f"{noun}{'s' if len(ids) > 1 else ''} {listed(ids)}"
