"""Export, diff and metrics of a real quorum, beside what Kafka's own tools set and say."""

import asyncio
from pathlib import Path
from uuid import uuid4

from prometheus_client.parser import text_string_to_metric_families

from kwire.exporter.exporter import Exporter, ExporterConfig
from kwire.net.address import Address
from real_kafka import Cluster
from tests.support.cli.command import Command
from tests.support.cli.quorum_tool import java_status
from tests.support.eventually import eventually
from tests.support.http import ask
from tests.support.real_kafka.topics import create, delete


def test_a_diff_names_exactly_what_kafkas_tools_changed(
    quorum: Cluster, kwire: Command, tmp_path: Path
) -> None:
    name = f"exported-{uuid4()}"
    controllers = ("--bootstrap-controller", quorum.bootstrap_controllers)
    nightly = tmp_path / "nightly.yaml"
    create(quorum.bootstrap_servers, name)
    try:
        nightly.write_text(kwire("export", *controllers).out)
        assert name in nightly.read_text()
        assert kwire("diff", str(nightly), *controllers).code == 0

        change = ("--alter", "--add-config", "retention.ms=60000")
        topic = ("--entity-type", "topics", "--entity-name", name)
        bootstrap = ("--bootstrap-server", quorum.bootstrap_servers)
        tool = quorum.tool("kafka.admin.ConfigCommand", *bootstrap, *topic, *change)
        assert tool.returncode == 0, tool.stderr
        run = kwire("diff", str(nightly), *controllers, "--json")
        assert run.code == 1
        told = [tuple(row.values()) for row in run.json["differences"]]
        assert told == [("added", "topics", name, "configs.retention.ms", None, "60000")]
        delete(quorum.bootstrap_servers, name)
        create(quorum.bootstrap_servers, name)
        anew = kwire("diff", str(nightly), *controllers, "--only", "topics", "-o", "tsv")
        assert [line.split("\t")[:3] for line in anew.out.splitlines()] == [
            ["recreated", "topics", name]
        ]
    finally:
        delete(quorum.bootstrap_servers, name)


async def test_the_exporter_says_what_kafkas_own_tool_says(quorum: Cluster) -> None:
    config = ExporterConfig(
        listen=Address("127.0.0.1", 0),
        bootstrap_controllers=quorum.bootstrap_controllers,
        interval=0.5,
    )
    exporter, ended = Exporter(config), asyncio.Event()
    running = asyncio.create_task(exporter.run(ended))
    await eventually(lambda: exporter.cluster and exporter.cluster.counts)
    before = await asyncio.to_thread(java_status, quorum)
    polled = exporter.quorum.answered
    await eventually(lambda: exporter.quorum.answered > polled + 1)
    _, body = await ask(exporter.server.port, "GET /metrics HTTP/1.1")
    after = await asyncio.to_thread(java_status, quorum)
    ended.set()
    await asyncio.wait_for(running, 60)

    samples = [
        sample for family in text_string_to_metric_families(body) for sample in family.samples
    ]
    found = {sample.name: sample.value for sample in samples if not sample.labels}
    assert found["kafka_quorum_leader_id"] == before["leaderId"]
    assert found["kafka_quorum_leader_epoch"] == before["leaderEpoch"]
    low, high = before["highWatermark"], after["highWatermark"]
    assert isinstance(low, int)
    assert isinstance(high, int)
    assert low <= found["kafka_quorum_high_watermark"] <= high
    ends = [sample for sample in samples if sample.name == "kafka_quorum_replica_log_end_offset"]
    for role, field in (("voter", "currentVoters"), ("observer", "currentObservers")):
        replicas = before[field]
        assert isinstance(replicas, list)
        assert {
            (int(sample.labels["node_id"]), sample.labels["directory_id"])
            for sample in ends
            if sample.labels["role"] == role
        } == {(replica["id"], replica["directoryId"]) for replica in replicas}
    assert {
        sample.labels["cluster_id"] for sample in samples if sample.name == "kafka_cluster_info"
    } == {before["clusterId"]}
    assert found["kafka_cluster_controllers"] == 3
