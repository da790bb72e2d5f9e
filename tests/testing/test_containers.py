"""A proxy in front of Kafka in a container: its clients are on this machine and in containers."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer

from kwire.errors import InvalidValue
from kwire.testing.containers import container_proxy
from real_kafka import Cluster, Layout, launcher

if TYPE_CHECKING:
    from docker import DockerClient

pytestmark = pytest.mark.container

PRODUCE = "echo {text} | java -cp '/opt/kafka/libs/*' org.apache.kafka.tools.ConsoleProducer"


class KafkaInContainer:
    """A broker of the tests, as testcontainers' KafkaContainer would be."""

    def __init__(self, cluster: Cluster, engine: DockerClient) -> None:
        self._address = str(cluster.brokers[1].broker_address)
        self._container = engine.containers.get(f"{cluster.site_name}-node-1")

    def get_bootstrap_server(self) -> str:
        return self._address

    def get_wrapped_container(self) -> Any:
        return self._container


def test_clients_on_both_sides_meet_the_faults(docker_engine: DockerClient) -> None:
    with closing(Cluster(launcher("container"), Layout.combined())) as cluster:
        cluster.start()
        kafka = KafkaInContainer(cluster, docker_engine)
        with container_proxy(kafka) as proxy:
            lost = proxy.on("Produce", topic="orders", direction="response").close().call(1)
            servers = proxy.bootstrap_servers
            producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
            producer.produce("orders", "here")
            assert producer.flush(60) == 0
            command = f"{PRODUCE.format(text='there')} --bootstrap-server {servers} --topic orders"
            docker_engine.containers.run(
                kafka.get_wrapped_container().image,
                ["sh", "-c", command],
                network=cluster.site_name,
                remove=True,
            )
            assert (lost.hits, proxy.seen("Produce", topic="orders")) == (1, 3)
            assert read(servers, 2) == [b"here", b"there"]
        with pytest.raises(InvalidValue, match="in no network elsewhere"):
            container_proxy(kafka, "elsewhere")


def read(servers: str, count: int) -> list[bytes | None]:
    """Return the values of so many records of the topic."""
    options = {"group.id": "reader", "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": servers, **options})
    consumer.subscribe(["orders"])
    values: list[bytes | None] = []
    deadline = time.monotonic() + 60
    while len(values) < count and time.monotonic() < deadline:
        record = consumer.poll(1)
        if record is not None and record.error() is None:
            values.append(record.value())
    consumer.close()
    return values
