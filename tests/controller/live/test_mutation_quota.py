"""Clients of real brokers feel the mutation quota alike, whoever has the quorum."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from real_kafka import Launcher, Layout
from tests.support.controller.live.broker_traffic import until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.live.tool_runner import ToolProcess, comparable
from tests.support.real_kafka.own_cluster import OwnCluster

TOPICS, CONFIGS = "org.apache.kafka.tools.TopicCommand", "kafka.admin.ConfigCommand"
GREEDY = "--entity-type clients --entity-name greedy"
ANONYMOUS = "--entity-type users --entity-name ANONYMOUS"
PUBLISHED = 1.0
"""Seconds after which controller and brokers have applied a change of a quota."""
STEPS = (
    (CONFIGS, f"--alter {GREEDY} --add-config controller_mutation_rate=0.01"),
    (CONFIGS, f"--describe {GREEDY}"),
    (TOPICS, "--create --topic first --partitions 5 --replication-factor 1"),
    (TOPICS, "--create --topic second --partitions 1 --replication-factor 1"),
    (TOPICS, "--delete --topic first"),
    # A user's quota comes before that of the client id.
    (CONFIGS, f"--alter {ANONYMOUS} --add-config controller_mutation_rate=1000"),
    (TOPICS, "--create --topic second --partitions 1 --replication-factor 1"),
    (CONFIGS, f"--alter {ANONYMOUS} --delete-config controller_mutation_rate"),
    (TOPICS, "--delete --topic first"),
    (CONFIGS, f"--alter {GREEDY} --delete-config controller_mutation_rate"),
    (TOPICS, "--delete --topic first"),
    (
        CONFIGS,
        "--alter --entity-type clients --entity-name hasty"
        " --add-config controller_mutation_rate=10",
    ),
)
REFUSED = (3, 4, 8)
"""The steps for which there is no quota left. At the end another client may create 110 partitions,
and 10 more each second."""

THROTTLED_MS = 1000


def outcomes(servers: str, folder: Path) -> dict[str, list[str]]:
    """Run every step as the greedy client."""
    config = folder / "client.properties"
    config.write_text("client.id=greedy\n")
    found = {}
    with ToolProcess() as tools:
        for number, (tool, words) in enumerate(STEPS):
            client = ("--command-config", str(config)) if tool == TOPICS else ()
            outcome = tools.run(tool, "--bootstrap-server", servers, *client, *words.split())
            found[f"{number}. {words}"] = comparable(outcome)
            if tool == CONFIGS:
                time.sleep(PUBLISHED)
    return found


async def throttled(host: str, port: int) -> dict[str, Any]:
    """Ask for too much on one connection with a broker; return what became of it."""
    topic = CreatableTopic(name="large", num_partitions=120, replication_factor=1)
    request = CreateTopicsRequest(timeout_ms=30_000, topics=[topic], validate_only=True)
    async with await Connection.open(host, port, client_id="hasty") as connection:
        permissive = await connection.send(request, 5, timeout=60)
        asked = time.monotonic()
        await connection.send(DescribeClusterRequest(), 0, timeout=60)
        waited_ms = (time.monotonic() - asked) * 1000
        await connection.send(request, 5, timeout=60)
    async with await Connection.open(host, port, client_id="hasty") as connection:
        strict = await connection.send(request, 7, timeout=60)
    assert isinstance(permissive, CreateTopicsResponse)
    assert isinstance(strict, CreateTopicsResponse)
    return {
        "created": permissive.topics[0].error_code,
        "is held back": waited_ms > permissive.throttle_time_ms / 2 > 0,
        "for a second": permissive.throttle_time_ms <= THROTTLED_MS,
        "refused": strict.topics[0].error_code,
        "until": strict.throttle_time_ms > THROTTLED_MS,
    }


EXPECTED = {
    "created": ErrorCode.NONE,
    "is held back": True,
    "for a second": True,
    "refused": ErrorCode.THROTTLING_QUOTA_EXCEEDED,
    "until": True,
}


@pytest.mark.nightly
async def test_a_client_of_a_broker_is_throttled_as_by_kafka(
    kafka: Launcher, own_cluster: OwnCluster, tmp_path: Path
) -> None:
    async with Quorum(1) as quorum:
        nodes = JavaNodes(kafka, quorum)
        try:
            broker = nodes.make(1, "broker")
            await asyncio.to_thread(broker.start)
            await until_broker(quorum, 1, active=True)
            at = broker.broker_address
            ours = await asyncio.to_thread(outcomes, str(at), tmp_path)
            assert await throttled(at.host, at.port) == EXPECTED
        finally:
            await asyncio.to_thread(nodes.close)
    cluster = own_cluster(Layout(controllers=(3000,), brokers=(1,)))
    await asyncio.to_thread(cluster.start)
    at = cluster.nodes[1].broker_address
    theirs = await asyncio.to_thread(outcomes, str(at), tmp_path)
    assert await throttled(at.host, at.port) == EXPECTED
    assert ours == theirs
    refused = [number for number, lines in enumerate(ours.values()) if lines[0] != "exit 0"]
    assert refused == list(REFUSED)
