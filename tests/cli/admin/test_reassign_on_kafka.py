"""A broker of real Kafka is drained while somebody produces; a throttle survives no kill."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kwire.admin import AdminClient
from kwire.admin.reassignment.journal import VARIABLE
from kwire.messages.config_resource import ConfigResource, ResourceType
from real_kafka import Cluster, Layout
from tests.support.cli.command import KWIRE
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.real_kafka.producer_beside import ProducerBeside, consumed

RACKS = {1: {"broker.rack": "x"}, 2: {"broker.rack": "y"}, 3: {"broker.rack": "y"}}
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
RATE = "100000"
PARTITIONS = 4


@pytest.fixture
def cluster(own_cluster: OwnCluster) -> Iterator[Cluster]:
    layout = Layout(controllers=(3000,), brokers=(1, 2, 3), node_properties=RACKS)
    with own_cluster(layout) as running:
        yield running


class Kwire:
    """Runs the command as a user does, in a process that can be killed."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._at = ["--bootstrap-server", cluster.bootstrap_servers]
        self._folder = folder
        self._environment = {**os.environ, VARIABLE: str(folder / "state")}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [KWIRE, *arguments, *self._at],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str) -> str:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, out + err
        return out


def throttles(cluster: Cluster) -> dict[str, str]:
    """Return every throttle that is set on a broker or on the topic."""
    resources = [
        *(ConfigResource(ResourceType.BROKER, str(node_id)) for node_id in cluster.brokers),
        ConfigResource(ResourceType.TOPIC, "orders"),
    ]

    async def ask() -> dict[str, str]:
        async with AdminClient(bootstrap_servers=cluster.bootstrap_servers, timeout=60) as admin:
            described = (await admin.describe_configs(resources)).all()
        return {
            f"{resource.name} {key}": entry.value
            for resource, keys in described.items()
            for key, entry in keys.items()
            if "replication.throttled" in key and entry.value and not entry.is_default
        }

    return asyncio.run(ask())


def ours(kwire: Kwire) -> list[str]:
    """Return what kwire lists, in the words of Kafka's tool."""
    document = json.loads(kwire("partitions", "reassignments", "--json"))
    return [
        f"{row['topic']}-{row['partition']}: replicas: {joined(row['replicas'])}."
        + (f" adding: {joined(row['adding'])}." if row["adding"] else "")
        + (f" removing: {joined(row['removing'])}." if row["removing"] else "")
        for row in document["partitions"]
    ]


def joined(brokers: list[int]) -> str:
    return ",".join(map(str, brokers))


def theirs(cluster: Cluster) -> list[str]:
    """Return the lines of Kafka's own tool about partitions."""
    run = cluster.tool(REASSIGN, "--bootstrap-server", cluster.bootstrap_servers, "--list")
    return [line for line in run.stdout.splitlines() if line.startswith("orders-")]


@pytest.mark.nightly
def test_a_broker_is_drained_and_nothing_is_lost(cluster: Cluster, tmp_path: Path) -> None:
    """In one cluster, since it takes long to start.

    1. Drain broker 3 with a throttle that makes it slow; kwire and Kafka's tool list the same.
    2. Kill kwire: the throttle is there. The next run ends the move and leaves none but the rate
       that somebody had set before.
    3. Kafka's tool verifies kwire's plan; planning again plans nothing; no record is lost; both
       list the same offsets.
    4. Ctrl-C takes the throttle off while the moves go on; `cancel` takes the moves back.
    """
    kwire = Kwire(cluster, tmp_path)
    kwire("topics", "create", "orders", "--replica-assignment", "1:3,3:1,1:2,3:1")
    rate = "leader.replication.throttled.rate"
    kwire("configs", "set", "broker", "1", f"{rate}=77000000")
    filler = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(12_000):
        filler.produce("orders", os.urandom(1000), partition=number % PARTITIONS)
    filler.flush(60)
    # 1.
    with ProducerBeside(cluster.bootstrap_servers, "orders", PARTITIONS) as beside:
        kwire("partitions", "reassign", "plan", "--drain", "3", "--out", "plan.json")
        apply = ["partitions", "reassign", "apply", "plan.json", "--yes"]
        process = kwire.start(*apply, "--throttle", RATE)
        before = eventually_blocking(lambda: ours(kwire))
        listed = theirs(cluster)
        assert listed
        # A partition may have moved before the second look, but none is there that was not.
        assert set(listed) <= set(before)
        assert set(ours(kwire)) <= set(listed)
        # 2.
        process.kill()
        process.communicate()
        assert throttles(cluster)[f"2 {rate}"] == RATE
        kwire(*apply)
        assert throttles(cluster) == {f"1 {rate}": "77000000"}
        # 3.
        document = json.loads(kwire("partitions", "reassign", "plan", "--drain", "3", "--json"))
        assert document["partitions"] == []
    arguments = ["--reassignment-json-file", str(tmp_path / "plan.json"), "--preserve-throttles"]
    verified = cluster.tool(
        REASSIGN, "--bootstrap-server", cluster.bootstrap_servers, *arguments, "--verify"
    ).stdout
    assert verified.count("is completed.") == 3, verified
    assert beside.acknowledged <= consumed(
        cluster.bootstrap_servers, "orders", len(beside.acknowledged)
    )
    offsets = cluster.tool(
        "org.apache.kafka.tools.GetOffsetShell",
        *("--bootstrap-server", cluster.bootstrap_servers, "--topic", "orders"),
    ).stdout.split()
    rows = kwire("partitions", "offsets", "orders", "-o", "tsv").splitlines()
    assert [":".join(row.split("\t")[:3]) for row in rows] == offsets
    # 4.
    kwire("partitions", "reassign", "plan", "--rf", "3", "orders", "--out", "three.json")
    process = kwire.start(
        "partitions", "reassign", "apply", "three.json", "--yes", "--throttle", RATE
    )
    eventually_blocking(lambda: ours(kwire))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert throttles(cluster) == {f"1 {rate}": "77000000"}
    kwire("partitions", "reassign", "cancel", "--all", "--yes")
    assert json.loads(kwire("partitions", "reassignments", "--json")) == {"partitions": []}
