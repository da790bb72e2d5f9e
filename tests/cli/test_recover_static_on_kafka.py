"""A static quorum of real Kafka, of which one controller's disk is left, serves again."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from kwire.logdir.names import METADATA_FOLDER, QUORUM_STATE
from real_kafka import Cluster, Layout
from tests.support.cli.command import Command, Run
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster

LOST = (3000, 3001)
LEFT = 3002


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("3.9.1", marks=pytest.mark.releases)])
def test_the_controller_that_is_left_leads_by_its_new_configuration(
    own_cluster: OwnCluster, kwire: Command, version: str
) -> None:
    with own_cluster(Layout.quorum(version, static=True)) as cluster:
        _lose_two(cluster, kwire)
        survivor = cluster.nodes[LEFT]
        data = Path(survivor.folder, "data")
        plan = kwire("storage", "recover", str(data))
        assert plan.code == 0, plan
        assert "set controller.quorum.voters to these voters on every controller" in plan.out
        assert kwire(*_apply(cluster, data)).code == 0
        state = json.loads(data.joinpath(METADATA_FOLDER, QUORUM_STATE).read_text())
        assert state["currentVoters"] == [{"voterId": LEFT}]
        assert "done already" in kwire("storage", "recover", str(data)).out
        voters = {"controller.quorum.voters": f"{LEFT}@{survivor.quorum_address}"}
        for node in (survivor, cluster.nodes[1]):
            node.configure(voters)
            node.start()
        _serves_as_before(cluster, kwire)


def _lose_two(cluster: Cluster, kwire: Command) -> None:
    """Write something, kill all nodes, and delete the directories of two controllers."""
    at = ("--bootstrap-server", cluster.bootstrap_servers)
    assert kwire("topics", "create", "orders", "--partitions", "2", *at).code == 0
    for node in reversed(cluster.nodes.values()):
        node.kill()
    for node_id in LOST:
        shutil.rmtree(Path(cluster.nodes[node_id].folder, "data"))


def _apply(cluster: Cluster, data: Path) -> tuple[str, ...]:
    return ("storage", "recover", str(data), "--apply", "--cluster-id", cluster.cluster_id)


def _serves_as_before(cluster: Cluster, kwire: Command) -> None:
    at = ("--bootstrap-controller", str(cluster.nodes[LEFT].controller_address))
    check = partial(kwire, "quorum", "status", "-o", "json", *at)
    status = eventually_blocking(check, lambda run: run.code == 0).json
    assert status["leaderId"] == LEFT
    cluster.nodes[1].wait_until_it_lists(1)
    brokers = ("--bootstrap-server", cluster.bootstrap_servers)
    listed = kwire("topics", "list", *brokers)
    assert "orders" in listed.out
    created: Run = kwire("topics", "create", "returns", *brokers)
    assert created.code == 0, created
