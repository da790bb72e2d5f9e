"""The driver's state from outside; the states are those that Kafka 3.9.1 logged in such a place."""

import pytest

from kwire.image.features import ZkMigrationState
from kwire.migration.operator.driver_view import DriverView
from kwire.migration.operator.facts import MigrationFacts
from kwire.migration.operator.status import status_of
from kwire.zookeeper.znodes import MigrationZnode
from tests.support.migration.sides import (
    BEFORE_THE_COPY,
    KRAFT_CONTROLLER,
    UP_TO_48,
    broker,
    dual_write,
    finalised,
    kraft,
    unnoted,
    waiting,
    zookeeper,
)

PRE, COPIED = ZkMigrationState.PRE_MIGRATION, ZkMigrationState.MIGRATION
BOTH = [broker(0), broker(1)]


def driver(facts: MigrationFacts) -> DriverView:
    return status_of(facts).driver


CASES = {
    "born as KRaft": (MigrationFacts(kraft=kraft(ZkMigrationState.NONE)), "INACTIVE"),
    "finalised": (finalised(), "INACTIVE"),
    "no /migration": (MigrationFacts(zookeeper=zookeeper(), kraft=kraft(PRE)), "UNINITIALIZED"),
    "a controller is not ready": (
        MigrationFacts(
            zookeeper=zookeeper(migration=BEFORE_THE_COPY), kraft=kraft(PRE, BOTH, ready=False)
        ),
        "WAIT_FOR_CONTROLLER_QUORUM",
    ),
    "no broker": (waiting(), "WAIT_FOR_BROKERS"),
    "one broker of two": (waiting(0), "WAIT_FOR_BROKERS"),
    "a dead broker has replicas": (
        MigrationFacts(
            zookeeper=zookeeper(migration=BEFORE_THE_COPY, assigned={7: ("one",)}),
            kraft=kraft(PRE, BOTH),
        ),
        "WAIT_FOR_BROKERS",
    ),
    "all brokers": (waiting(0, 1), "BECOME_CONTROLLER"),
    "claimed": (
        MigrationFacts(
            zookeeper=zookeeper(KRAFT_CONTROLLER, BEFORE_THE_COPY), kraft=kraft(PRE, BOTH)
        ),
        "ZK_MIGRATION",
    ),
    "copied into another ZooKeeper": (
        MigrationFacts(zookeeper=zookeeper(migration=BEFORE_THE_COPY), kraft=kraft(COPIED, BOTH)),
        "INACTIVE",
    ),
    "the end of the copy": (
        MigrationFacts(
            zookeeper=zookeeper(KRAFT_CONTROLLER, BEFORE_THE_COPY), kraft=kraft(COPIED, BOTH)
        ),
        "ZK_MIGRATION",
    ),
    "the leader died at the end of the copy": (unnoted(), "INACTIVE"),
    "an election": (
        MigrationFacts(zookeeper=zookeeper(None, UP_TO_48), kraft=kraft(COPIED, BOTH)),
        "BECOME_CONTROLLER",
    ),
    "after an election": (
        MigrationFacts(
            zookeeper=zookeeper(
                KRAFT_CONTROLLER,
                MigrationZnode(
                    kraft_controller_id=3000,
                    kraft_controller_epoch=4,
                    kraft_metadata_offset=48,
                    kraft_metadata_epoch=3,
                ),
            ),
            kraft=kraft(COPIED, BOTH),
        ),
        "SYNC_KRAFT_TO_ZK or KRAFT_CONTROLLER_TO_BROKER_COMM",
    ),
    "dual write": (dual_write(), "DUAL_WRITE"),
    "stalled": (dual_write(end=150), "DUAL_WRITE or SYNC_KRAFT_TO_ZK"),
    "ZooKeeper unseen": (MigrationFacts(kraft=kraft(PRE)), ""),
    "log unseen": (MigrationFacts(zookeeper=zookeeper()), ""),
}


@pytest.mark.parametrize("case", CASES)
def test_the_state_follows_from_both_sides(case: str) -> None:
    facts, state = CASES[case]
    assert driver(facts).state == state


def test_it_names_the_brokers_that_it_waits_for() -> None:
    assert driver(waiting(0)).waits_for == "broker 1"
    assert driver(waiting()).waits_for == "brokers 0 and 1"
