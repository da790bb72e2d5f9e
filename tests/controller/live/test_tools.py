"""Kafka's own tools print the same and end alike, whoever has the quorum."""

import asyncio
import re
import time
from pathlib import Path

import pytest

from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.controller.server.quorum import Quorum
from real_kafka import Launcher, Layout
from tests.support.controller.live.broker_traffic import until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.live.tool_runner import LATE, UNKNOWN_CLASS, ToolProcess, comparable
from tests.support.controller.live.tool_steps import PLAN, TOOLS, ToolStep, every_step
from tests.support.real_kafka.own_cluster import OwnCluster

PROPERTIES = {
    "authorizer.class.name": CLASS_NAME,
    "super.users": "User:ANONYMOUS",
    "auto.create.topics.enable": "false",
}
READS = re.compile(r"list|describe")
PUBLISHED = 0.3
"""Seconds after which brokers have applied what the controller has acknowledged."""
READY = "--create --topic ready --partitions 1 --replication-factor 2"


def outcomes(servers: str, controllers: str, plan: Path) -> dict[str, list[str]]:
    """Run every step; return what is compared of each, by its number and name."""
    plan.write_text(PLAN)
    found = {}
    with ToolProcess() as tools:
        ready = tools.run(f"{TOOLS}TopicCommand", "--bootstrap-server", servers, *READY.split())
        assert ready.code == 0, ready
        for number, step in enumerate(every_step()):
            values = {"servers": servers, "controllers": controllers, "plan": plan}
            line = [word.format_map(values) for word in step.words]
            if READS.search(step.name):
                time.sleep(PUBLISHED)
            outcome = tools.run(*line, text=step.text, seconds=step.seconds)
            assert outcome.code not in (LATE, UNKNOWN_CLASS), step.name
            found[f"{number}. {step.name}"] = _without(step, comparable(outcome))
    return found


def _without(step: ToolStep, lines: list[str]) -> list[str]:
    return [line for line in lines if not (step.skip and re.search(step.skip, line))]


async def of_kwire(kafka: Launcher, plan: Path) -> dict[str, list[str]]:
    async with Quorum(1, properties=PROPERTIES) as quorum:
        nodes = JavaNodes(kafka, quorum)
        try:
            brokers = [nodes.make(id, "broker", PROPERTIES) for id in (1, 2)]
            for broker in brokers:
                await asyncio.to_thread(broker.start)
                await until_broker(quorum, broker.node_id, active=True)
            servers = ",".join(str(broker.broker_address) for broker in brokers)
            return await asyncio.to_thread(outcomes, servers, quorum.bootstrap_controllers, plan)
        finally:
            await asyncio.to_thread(nodes.close)


@pytest.mark.long
async def test_kafkas_tools_print_the_same_for_either_quorum(
    kafka: Launcher, own_cluster: OwnCluster, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    ours = await of_kwire(kafka, plan)
    cluster = own_cluster(Layout(controllers=(3000,), brokers=(1, 2), properties=PROPERTIES))
    await asyncio.to_thread(cluster.start)
    theirs = await asyncio.to_thread(
        outcomes, cluster.bootstrap_servers, cluster.bootstrap_controllers, plan
    )
    assert len(ours) >= STEPS
    differing = {
        step: (lines, theirs[step]) for step, lines in ours.items() if lines != theirs[step]
    }
    assert differing == {}


STEPS = 220
"""The comparison has as many at least."""
