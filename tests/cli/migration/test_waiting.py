"""`kwire migration status` while the driver waits for the controllers (KIP-866).

The driver's log says WAIT_FOR_CONTROLLER_QUORUM; the command concludes it from outside.
"""

from __future__ import annotations

from typing import Any

import pytest

from migrating.real_clusters import properties
from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.layout import MigratingLayout
from real_kafka import Launcher
from tests.support.cli.command import Command

pytestmark = [pytest.mark.cluster, pytest.mark.migrations]

READY = {"ready": True, "registeredReady": True, "apiVersionsReady": True, "reason": None}


def status(kwire: Command, cluster: MigratingCluster) -> dict[str, Any]:
    sides = ["--zookeeper", cluster.zookeeper.connect]
    sides += ["--bootstrap-controller", cluster.bootstrap_controllers]
    document: dict[str, Any] = kwire("migration", "status", *sides, "--json").json
    return document


def test_controllers_that_are_not_started_or_lack_the_flag_are_waited_for(
    kwire: Command, kafka: Launcher
) -> None:
    layout = MigratingLayout(kind="kwire", controllers=(3000, 3001, 3002))
    with MigratingCluster(layout) as cluster:
        cluster.provision_controllers(later={3002})
        cluster.wait_for_driver("WAIT_FOR_CONTROLLER_QUORUM")
        waiting = status(kwire, cluster)
        assert waiting["stage"] == "prepared"
        assert waiting["driver"] == {
            "state": "WAIT_FOR_CONTROLLER_QUORUM",
            "reason": "not all voters are ready",
            "waitsFor": "controller 3002",
        }
        assert waiting["controllers"] == [
            {"id": 3000, **READY},
            {"id": 3001, **READY},
            {
                "id": 3002,
                "ready": False,
                "registeredReady": None,
                "apiVersionsReady": None,
                "reason": "not registered: start it, or look at its log",
            },
        ]

        last = cluster.controllers[3002]
        last.configure(properties.without_zookeeper())
        last.start()
        last.wait_until_served()
        waiting = status(kwire, cluster)
        assert waiting["driver"]["state"] == "WAIT_FOR_CONTROLLER_QUORUM"
        assert "WAIT_FOR_CONTROLLER_QUORUM" in cluster.driver_states()
        assert waiting["controllers"][2]["registeredReady"] is False
        assert waiting["controllers"][2]["reason"] == (
            "registered with zookeeper.metadata.migration.enable=false: set it, and restart it"
        )

        last.configure(properties.controller(layout, cluster.zookeeper.connect))
        last.restart()
        cluster.wait_for_driver("WAIT_FOR_BROKERS")
        document = status(kwire, cluster)
        assert document["driver"]["state"] == "WAIT_FOR_BROKERS"
        assert [controller["ready"] for controller in document["controllers"]] == [True] * 3
