"""Clusters for users' tests: kwire's controllers with Kafka's brokers beside, and their faults."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.testing import BackgroundQuorum, LocalBrokers, Quorum
from real_kafka import Launcher
from tests.support.controller.live.broker_traffic import consume, create, produce
from tests.support.eventually import eventually_blocking

pytestmark = pytest.mark.cluster

COMMAND = (sys.executable, "-c", "from kwire.cli.main import main; main()", "controller", "quorum")


@pytest.mark.kwire_cluster(controllers=1, brokers=1)
def test_the_fixture_gives_a_cluster_that_serves_clients(
    kafka: Launcher, kwire_cluster: BackgroundQuorum
) -> None:
    create(kwire_cluster.bootstrap_servers, "numbers", 1, 1)
    produce(kwire_cluster.bootstrap_servers, "numbers", 5)
    assert consume(kwire_cluster.bootstrap_servers, "numbers", 5) == list(range(5))


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["4.3.1", "4.4.0"])
async def test_clients_work_through_every_fault(kafka: Launcher, version: str) -> None:
    async with Quorum(3, brokers=LocalBrokers(2, version=version)) as quorum:
        servers = quorum.bootstrap_servers
        await asyncio.to_thread(create, servers, "t", 2, 2)

        async def works(count: int) -> None:
            await asyncio.to_thread(produce, servers, "t", 10)
            found = await asyncio.to_thread(consume, servers, "t", count)
            assert found == sorted((count // 10) * list(range(10)))

        leader = await quorum.wait_for_leader()
        await quorum.kill(leader)
        await works(10)
        await quorum.restart(leader)
        leader = await quorum.wait_for_leader()
        await quorum.pause(leader, 4)
        await works(20)
        quorum.partition({1}, {2})
        await works(30)
        quorum.heal()
        quorum.slow_disk(await quorum.wait_for_leader(), 0.2)
        await quorum.pause(1, 3)
        await works(40)
        await quorum.kill(2)
        await works(50)
        await quorum.restart(2)
        await works(60)


@pytest.mark.nightly
async def test_two_clusters_run_beside_each_other(kafka: Launcher) -> None:
    async with Quorum(1, brokers=1) as first, Quorum(1, brokers=1) as second:
        assert first.cluster_id != second.cluster_id
        for quorum, count in ((first, 3), (second, 5)):
            servers = quorum.bootstrap_servers
            await asyncio.to_thread(create, servers, "t", 1, 1)
            await asyncio.to_thread(produce, servers, "t", count)
        for quorum, count in ((first, 3), (second, 5)):
            found = await asyncio.to_thread(consume, quorum.bootstrap_servers, "t", count)
            assert found == list(range(count))


@pytest.fixture
def command(kafka: Launcher, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    running = subprocess.Popen(
        [*COMMAND, "-n", "1", "--brokers", "1", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        process_group=0,
    )
    with running:
        yield running
        running.kill()


@pytest.mark.parametrize(
    "end",
    [
        signal.SIGKILL,
        *(pytest.param(end, marks=pytest.mark.nightly) for end in (signal.SIGTERM, signal.SIGINT)),
    ],
)
def test_the_command_prints_addresses_and_leaves_nothing(
    command: "subprocess.Popen[str]", tmp_path: Path, end: signal.Signals
) -> None:
    assert command.stdout is not None
    lines = []
    while (line := command.stdout.readline().rstrip()) != "}":
        assert line, "it ended"
        lines.append(line)
    addresses = json.loads("".join([*lines, "}"]))
    assert addresses["bootstrapServers"] == addresses["brokers"]["1"]
    create(addresses["bootstrapServers"], "t", 1, 1)
    processes = _java_of(tmp_path)
    assert len(processes) == 1
    command.send_signal(end)
    code = command.wait(60)
    assert code == {signal.SIGTERM: 0, signal.SIGKILL: -9, signal.SIGINT: 130}[end]
    eventually_blocking(
        lambda: not _java_of(tmp_path) and not list(tmp_path.glob("kwire-*")), timeout=60, pause=0.1
    )


def _java_of(folder: Path) -> list[str]:
    """Return the processes that run with files below a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = entry.read_bytes()
        except OSError:
            continue
        if str(folder).encode() in text and b"kafka.Kafka" in text:
            found.append(entry.parent.name)
    return found
