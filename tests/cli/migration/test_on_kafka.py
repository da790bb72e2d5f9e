"""`kwire migration` along a real migration of Kafka 3.9.1 there and back, with its traps.

The controllers are Java's or kwire's: what the commands tell follows from what both show.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kwire.admin.quotas import QuotaEntity
from kwire.admin.sync import AdminClient
from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.crash_points import CLAIM, PRODUCER_IDS
from migrating.real_clusters.layout import KINDS, ControllerKind, MigratingLayout
from migrating.real_clusters.zookeeper_relay import ZooKeeperRelay
from tests.support.cli.command import Command, Run

pytestmark = [pytest.mark.java, pytest.mark.cluster, pytest.mark.migrations]

GONE = QuotaEntity.of(client_id="gone")
PATIENCE = 60.0


class Operator:
    """Asks with the command, as an operator would."""

    def __init__(self, kwire: Command, cluster: MigratingCluster) -> None:
        self._kwire = kwire
        self._cluster = cluster

    def ask(self, command: str, *, controllers: bool = True) -> Run:
        """Run a command of `kwire migration` and print JSON."""
        sides = ["--zookeeper", self._cluster.zookeeper.connect]
        if controllers:
            sides += ["--bootstrap-controller", self._cluster.bootstrap_controllers]
        return self._kwire("migration", command, *sides, "--json")

    def stage(self) -> tuple[str, str, bool | None]:
        """Return the stage, the driver's state, and if there is a way back."""
        document = self.ask("status").json
        exists: bool | None = document["wayBack"]["exists"]
        return document["stage"], document["driver"]["state"], exists

    def found(self, *, controllers: bool = True) -> dict[str, Any]:
        """Return what verify finds, by id."""
        run = self.ask("verify", controllers=controllers)
        return {item["id"]: item for item in run.json["findings"]}

    def finds(self, *ids: str) -> dict[str, Any]:
        """Return what verify finds, once it is this."""
        end = time.monotonic() + PATIENCE
        while set(found := self.found()) != set(ids):
            assert time.monotonic() < end, found
        return found


def before_the_controllers(operator: Operator) -> None:
    """ZooKeeper alone is told and verified; controllers that were asked for were not seen."""
    status = operator.ask("status", controllers=False).json
    assert (status["stage"], status["brokers"][0]["inZooKeeper"]) == ("zookeeper", True)
    assert set(operator.found(controllers=False)) == {"before/ok"}
    asked = operator.ask("status")
    assert (asked.code, asked.json["stage"], asked.json["kraft"]) == (1, "zookeeper", None)


def prepared(operator: Operator, cluster: MigratingCluster) -> None:
    """The controllers wait for the broker."""
    cluster.provision_controllers()
    cluster.wait_for_driver("WAIT_FOR_BROKERS")
    assert operator.stage() == ("prepared", "WAIT_FOR_BROKERS", True)
    document = operator.ask("status").json
    assert document["controllers"][0]["apiVersionsReady"] is True
    assert (document["brokers"][0]["ready"], document["brokers"][0]["mode"]) == (False, "none")
    assert set(operator.found()) == {"before/ok"}


def copied(operator: Operator, cluster: MigratingCluster, relay: ZooKeeperRelay) -> None:
    """A copy that stands still is told as one; dual write follows it."""
    claim = relay.stop_before(CLAIM)
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(cluster.enter_migration_mode)
        claim.wait()
        assert operator.stage() == ("prepared", "BECOME_CONTROLLER", True)
        stop = relay.stop_before(PRODUCER_IDS)
        claim.release()
        stop.wait()
        assert operator.stage() == ("copying", "ZK_MIGRATION", True)
        stop.release()
        work.result()
    cluster.wait_for_dual_write()
    assert operator.stage() == ("hybrid", "DUAL_WRITE", True)
    operator.finds("difference/none")


def returning(operator: Operator, cluster: MigratingCluster) -> None:
    """The way back goes on after the controllers have ended, and is needed no more at its end."""
    cluster.enter_migration_mode()
    assert operator.stage() == ("hybrid", "DUAL_WRITE", True)
    cluster.stop_controllers()
    asked = operator.ask("status", controllers=False).json
    assert (asked["stage"], asked["wayBack"]["exists"]) == ("unknown", None)
    assert asked["wayBack"]["steps"][1]["command"].endswith(" delete /controller")
    cluster.revert_to_zookeeper()
    assert operator.ask("status", controllers=False).json["stage"] == "zookeeper"
    assert set(operator.found(controllers=False)) == {"before/ok"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_stage_there_and_back(kwire: Command, kind: ControllerKind) -> None:
    with (
        MigratingCluster(MigratingLayout(kind=kind)) as cluster,
        ZooKeeperRelay(cluster.zookeeper.address) as relay,
    ):
        operator = Operator(kwire, cluster)
        cluster.controllers_connect = str(relay.address)
        with AdminClient(cluster.bootstrap_servers, timeout=60) as admin:
            admin.alter_client_quotas({GONE: {"producer_byte_rate": 1000.0}}).all()
        before_the_controllers(operator)
        prepared(operator, cluster)
        copied(operator, cluster, relay)
        if kind == "java":
            _dual_write_fails_and_the_next_controller_repairs_it(operator, cluster)
        cluster.migrate_brokers_to_kraft()
        assert operator.stage() == ("kraft-brokers", "DUAL_WRITE", True)
        operator.finds("difference/none")
        returning(operator, cluster)


def _dual_write_fails_and_the_next_controller_repairs_it(
    operator: Operator, cluster: MigratingCluster
) -> None:
    """Remove the last quota of a client id, at which Kafka 3.9.1 fails with a NullPointerException.

    The driver goes on with the next batch; only a new leader synchronises.
    """
    with AdminClient(cluster.bootstrap_servers, timeout=60) as admin:
        admin.alter_client_quotas({GONE: {"producer_byte_rate": None}}).all()
    found = operator.finds("trap/quota-left")
    assert found["trap/quota-left"]["evidence"] == ["client-id gone"]
    cluster.controllers[3000].restart()
    cluster.wait_for_driver("DUAL_WRITE")
    operator.finds("difference/none")


@pytest.mark.parametrize("kind", KINDS)
def test_a_finalised_migration_has_no_way_back_and_is_not_compared(
    kwire: Command, kind: ControllerKind
) -> None:
    with MigratingCluster(MigratingLayout(kind=kind)) as cluster:
        operator = Operator(kwire, cluster)
        cluster.provision_controllers()
        cluster.enter_migration_mode()
        cluster.wait_for_dual_write()
        cluster.migrate_brokers_to_kraft()
        cluster.finalize_migration()
        assert operator.stage() == ("finalised", "INACTIVE", False)
        assert set(operator.found()) == {"sides/finalised"}
