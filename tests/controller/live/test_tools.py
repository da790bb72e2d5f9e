"""Kafka's own tools and client libraries get the same, whoever has the quorum."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.testing.quorum import Quorum
from real_kafka import Launcher, Layout
from tests.support.controller.live.broker_traffic import until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.live.tool_comparison import (
    ComparedCluster,
    Outcomes,
    configure,
    outcomes,
)
from tests.support.controller.sasl_listeners import ADMIN
from tests.support.real_kafka.own_cluster import OwnCluster

PROPERTIES: Mapping[str, str] = {
    "authorizer.class.name": CLASS_NAME,
    "super.users": f"User:ANONYMOUS;User:{ADMIN}",
    "auto.create.topics.enable": "false",
    "delegation.token.secret.key": "a secret of the cluster",
}
BROKERS, JOINING = (1, 2), 3200
LEVELS = {"4.3.1": "4.3-IV0", "4.4.0": "4.4-IV2"}
"""The metadata.version of a new cluster of each release."""


async def of_kwire(kafka: Launcher, folder: Path, release: str) -> Outcomes:
    async with Quorum(1, properties=PROPERTIES, release=LEVELS[release]) as quorum:
        nodes = JavaNodes(kafka, quorum, release)
        try:
            brokers = {id: nodes.make(id, "broker", PROPERTIES) for id in BROKERS}
            ports = {id: configure(broker) for id, broker in brokers.items()}
            for broker in brokers.values():
                await asyncio.to_thread(broker.start)
                await until_broker(quorum, broker.node_id, active=True)
            joining = nodes.make(JOINING, "controller", PROPERTIES)
            await asyncio.to_thread(joining.start)
            compared = ComparedCluster(
                brokers=brokers,
                sasl=ports,
                controllers=quorum.bootstrap_controllers,
                joining=joining,
            )
            return await asyncio.to_thread(outcomes, compared, folder)
        finally:
            await asyncio.to_thread(nodes.close)


def of_kafka(own_cluster: OwnCluster, folder: Path, release: str) -> Outcomes:
    layout = Layout(controllers=(3000,), brokers=BROKERS, version=release, properties=PROPERTIES)
    cluster = own_cluster(layout)
    ports = {id: configure(broker) for id, broker in cluster.brokers.items()}
    cluster.start()
    controllers = cluster.bootstrap_controllers
    compared = ComparedCluster(
        brokers=dict(cluster.brokers),
        sasl=ports,
        controllers=controllers,
        joining=cluster.join_controller(JOINING),
    )
    return outcomes(compared, folder)


@pytest.mark.nightly
@pytest.mark.parametrize("release", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)])
async def test_tools_and_libraries_get_the_same_from_either_quorum(
    kafka: Launcher, own_cluster: OwnCluster, tmp_path: Path, release: str
) -> None:
    ours = await of_kwire(kafka, tmp_path / "kwire", release)
    theirs = await asyncio.to_thread(of_kafka, own_cluster, tmp_path / "kafka", release)
    assert len(ours) >= STEPS
    differing = {
        step: (lines, theirs[step]) for step, lines in ours.items() if lines != theirs[step]
    }
    assert differing == {}


STEPS = 445
"""The comparison has as many at least."""
