"""A whole exporter on a quorum of kwire's own: followed, lost, and found again."""

import asyncio

from prometheus_client.parser import text_string_to_metric_families

from kwire.exporter.exporter import Exporter, ExporterConfig
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.net.address import Address
from kwire.testing.quorum import Quorum
from simulated_broker import SimulatedBroker
from tests.support.eventually import eventually
from tests.support.http import ask
from tests.support.virtual_time import in_virtual_time


async def scrape(exporter: Exporter) -> dict[str, float]:
    """Return the values of the series without labels."""
    status, body = await ask(exporter.server.port, "GET /metrics HTTP/1.1")
    assert status == "HTTP/1.1 200 OK"
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(body)
        for sample in family.samples
        if not sample.labels
    }


@in_virtual_time
async def test_an_exporter_follows_a_quorum_and_tells_when_it_is_gone() -> None:
    quorum = Quorum(1)
    await quorum.start()
    try:
        config = ExporterConfig(
            listen=Address("127.0.0.1", 0),
            bootstrap_controllers=quorum.bootstrap_controllers,
            interval=0.5,
        )
        exporter, ended = Exporter(config), asyncio.Event()
        running = asyncio.create_task(exporter.run(ended))
        await eventually(lambda: exporter.server.port)
        assert exporter.cluster is not None
        cluster = exporter.cluster
        await eventually(lambda: cluster.counts is not None and exporter.quorum.quorum is not None)
        # The controller registers itself a moment after it leads.
        found = await eventually(
            lambda: scrape(exporter), lambda found: found["kafka_cluster_controllers"]
        )
        assert (found["kafka_quorum_up"], found["kafka_cluster_up"]) == (1, 1)
        assert found["kafka_quorum_voters"] == found["kafka_cluster_controllers"] == 1
        assert found["kafka_cluster_partitions"] == 0

        address = Address.parse(quorum.bootstrap_controllers)
        broker = await SimulatedBroker.open(1, address.host, address.port)
        topic = CreatableTopic(name="events", num_partitions=3, replication_factor=1)
        await broker.connection.send(CreateTopicsRequest(topics=[topic], timeout_ms=60_000))
        await eventually(lambda: cluster.counts is not None and cluster.counts.totals.partitions)
        assert (await scrape(exporter))["kafka_cluster_partitions"] == 3
        await broker.close()
    finally:
        await quorum.stop()
    await eventually(lambda: cluster.counts is None and exporter.quorum.quorum is None)
    found = await scrape(exporter)
    assert (found["kafka_quorum_up"], found["kafka_cluster_up"]) == (0, 0)
    assert "kafka_cluster_partitions" not in found
    assert "kafka_quorum_leader_id" not in found
    ended.set()
    await asyncio.wait_for(running, 60)
