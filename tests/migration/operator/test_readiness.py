"""The nodes that are ready, and why others are not."""

from dataclasses import replace

from kwire.image.features import ZkMigrationState
from kwire.migration.operator.facts import MigrationFacts
from kwire.migration.operator.readiness import BrokerMode, brokers, controllers
from tests.support.migration.sides import (
    BEFORE_THE_COPY,
    broker,
    dual_write,
    kraft,
    waiting,
    zookeeper,
)

PRE = ZkMigrationState.PRE_MIGRATION


def test_a_broker_that_is_not_registered_is_told_what_it_lacks() -> None:
    first, second = brokers(waiting(0))
    assert (first.is_ready, first.mode, first.reason) == (True, BrokerMode.ZOOKEEPER, "")
    assert (second.is_ready, second.mode) == (False, BrokerMode.NONE)
    assert "zookeeper.metadata.migration.enable=true" in second.reason


def test_a_broker_of_assignments_that_runs_nowhere_is_named_with_its_topics() -> None:
    side = zookeeper(migration=BEFORE_THE_COPY, assigned={7: ("one", "three", "two")})
    *_, dead = brokers(MigrationFacts(zookeeper=side, kraft=kraft(PRE)))
    assert (dead.node_id, dead.is_ready, dead.in_zookeeper) == (7, False, False)
    assert dead.reason.startswith("runs nowhere, and has replicas of one, three, ...: start")


def test_another_version_is_named_with_both() -> None:
    facts = replace(waiting(), kraft=kraft(PRE, [broker(0, level=20)]))
    assert brokers(facts)[0].reason == (
        "its inter.broker.protocol.version is 3.8-IV0, metadata.version is 3.9-IV0: they must be"
        " the same"
    )


def test_a_broker_in_dual_write_is_ready_in_both_modes() -> None:
    modes = {item.node_id: (item.mode, item.is_ready) for item in brokers(dual_write(1))}
    assert modes == {0: (BrokerMode.ZOOKEEPER, True), 1: (BrokerMode.KRAFT, True)}


def test_a_controller_without_the_flag_is_not_ready() -> None:
    (item,) = controllers(MigrationFacts(kraft=kraft(PRE, ready=False)))
    assert (item.is_ready, item.registered, item.tag) == (False, False, False)
    assert "zookeeper.metadata.migration.enable=false" in item.reason


def test_a_controller_that_does_not_answer_is_ready_as_it_registered() -> None:
    silent = replace(kraft(PRE), ready_tags={})
    (item,) = controllers(MigrationFacts(kraft=silent))
    assert (item.is_ready, item.registered, item.tag) == (True, True, None)
    assert item.reason == "as it registered; it does not answer now"
    over = replace(kraft(ZkMigrationState.POST_MIGRATION), ready_tags={})
    (item,) = controllers(MigrationFacts(kraft=over))
    assert (item.is_ready, item.reason) == (None, "it does not answer")


def test_below_3_7_a_controller_is_ready_by_its_api_versions() -> None:
    for ready in (True, False):
        (item,) = controllers(MigrationFacts(kraft=kraft(PRE, ready=ready, level=14)))
        assert item.is_ready is ready
        assert "ApiVersions" in item.reason


def test_without_the_log_nothing_is_known() -> None:
    (item,) = controllers(MigrationFacts(kraft=replace(kraft(PRE), image=None, no_image="gone")))
    assert (item.is_ready, item.reason) == (None, "not known: the metadata log was not read")
    (first, _) = brokers(MigrationFacts(zookeeper=zookeeper()))
    assert (first.is_ready, first.mode, first.in_zookeeper) == (None, None, True)
