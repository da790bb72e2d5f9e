"""A registration that blocks an upgrade, on a release that removes none (KAFKA-20395)."""

from __future__ import annotations

import asyncio

import pytest

from kwire.doctor.examine import examine
from kwire.doctor.finding import Finding
from kwire.doctor.gather import gather
from real_kafka import Cluster, Layout, free_port
from tests.support.admin.ghost_registration import register_ghost
from tests.support.cli.command import Command
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster

GONE = 3999
"""A controller of Kafka 3.9 that is registered and gone."""
OLD = {"kraft.version": (0, 1), "metadata.version": (1, 21)}
SHARE = "share.version"
DISARM = f"kwire quorum forget {GONE} --disarm"


def findings(cluster: Cluster) -> dict[str, Finding]:
    """Return what doctor says of registrations."""
    found = examine(asyncio.run(gather([cluster.controllers[3000].controller_address])))
    return {item.id: item for item in found if item.id.startswith("registrations/")}


def test_a_dead_controller_blocks_an_upgrade_until_it_is_disarmed(
    own_cluster: OwnCluster, kwire: Command
) -> None:
    with own_cluster(Layout(controllers=(3000,))) as cluster:
        at = ("--bootstrap-controller", cluster.bootstrap_controllers)
        address = cluster.controllers[3000].controller_address
        assert kwire("features", "downgrade", f"{SHARE}=0", "--yes", *at).code == 0
        asyncio.run(register_ghost((address.host, address.port), GONE, OLD, free_port()))
        upgrade = ("features", "upgrade", f"{SHARE}=1", *at)
        refused = eventually_blocking(lambda: kwire(*upgrade), lambda run: run.code == 1)
        assert f"Controller {GONE} does not support this feature" in refused.out

        found = findings(cluster)
        assert found["registrations/blocks-upgrade"].fixes[1].steps[0] == DISARM
        unoffered = kwire("quorum", "forget", str(GONE), "--yes", *at)
        assert unoffered.code == 1
        assert f"{DISARM} has it hold no feature back" in unoffered.out

        voter = kwire("quorum", "forget", "3000", "--disarm", "--yes", *at)
        assert (voter.code, "controller 3000 is a voter" in voter.error) == (1, True)
        disarmed = kwire("quorum", "forget", str(GONE), "--disarm", "--yes", "--json", *at)
        assert disarmed.code == 0, disarmed.err
        assert "it does not vote; the leader has had no fetch of it" in disarmed.err
        assert "refused the connection" in disarmed.err
        registrations = disarmed.json["registrations"]
        rows = {row["feature"]: (row["before"], row["after"]) for row in registrations}
        assert rows["metadata.version"] == ("1-21", "7-30")
        assert rows[SHARE] == ("-", "0-1")
        assert "kraft.version" not in rows

        raised = kwire(*upgrade)
        assert raised.code == 0, raised.out
        again = kwire("quorum", "forget", str(GONE), "--disarm", "--yes", "--json", *at)
        assert (again.code, again.json["registrations"]) == (0, [])
        found = findings(cluster)
        assert "registrations/blocks-upgrade" not in found
        leave = found["registrations/stale"].fixes[1].steps
        assert leave == (
            "leave it: it holds no feature back, and goes only with metadata.version 33"
            " (Kafka 4.4)",
        )


@pytest.mark.releases
def test_it_is_forgotten_from_kafka_4_4_on(kafka440: Cluster, kwire: Command) -> None:
    at = ("--bootstrap-controller", kafka440.bootstrap_controllers)
    (node,) = kafka440.controllers.values()
    address = node.controller_address
    asyncio.run(register_ghost((address.host, address.port), GONE, OLD, free_port()))
    disarmed = kwire("quorum", "forget", str(GONE), "--disarm", "--yes", *at)
    assert (disarmed.code, "this cluster removes registrations" in disarmed.error) == (1, True)
    forgotten = kwire("quorum", "forget", str(GONE), "--yes", "--json", *at)
    assert [row["state"] for row in forgotten.json["controllers"]] == ["unregistered"]
