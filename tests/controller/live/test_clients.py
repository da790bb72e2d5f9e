"""Clients of three families work with two brokers that know only kwire's controllers."""

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kwire.codec.declaration import Response
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from real_kafka import Launcher, RunningNode
from tests.support.controller.live.broker_traffic import consume, produce, transact, until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.eventually import eventually

CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance"
TWO = {
    "offsets.topic.replication.factor": "2",
    "transaction.state.log.replication.factor": "2",
    "default.replication.factor": "2",
}


async def until_named(broker: RunningNode, count: int, timeout: float = 60) -> None:
    """Wait until a broker names so many.

    librdkafka gives up what it asked of a broker (_DESTROY_BROKER) as soon as another one, which
    reads the metadata log a little later, does not name it.
    """
    address = broker.broker_address

    def names_them(answer: Response) -> bool:
        assert isinstance(answer, MetadataResponse)
        return len(answer.brokers) == count

    async with asyncio.timeout(timeout), await Connection.open(address.host, address.port) as asked:
        request = MetadataRequest(topics=[])
        await eventually(lambda: asked.send(request), names_them, timeout=timeout, pause=0.1)


def create(bootstrap: str, topic: str) -> None:
    """Two partitions, each on both brokers, by librdkafka.

    It gives up a request to a bootstrap address, too, once it knows the brokers: they come first.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.list_topics(timeout=60)
    for made in admin.create_topics([NewTopic(topic, 2, 2)]).values():
        made.result(timeout=60)


@contextmanager
def subscribed(bootstrap: str, topic: str) -> Iterator[Consumer]:
    """A consumer of librdkafka's in a group of its own."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": f"g-{uuid.uuid4()}",
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
    }
    consumer = Consumer(settings)
    with closing(consumer):
        consumer.subscribe([topic])
        yield consumer


def librdkafka_consumes(bootstrap: str, topic: str, count: int) -> list[int]:
    """So many values, in order."""
    with subscribed(bootstrap, topic) as consumer:
        found: list[int] = []
        while len(found) < count:
            message = consumer.poll(60)
            assert message is not None, f"{len(found)} of {count} records came"
            assert message.error() is None, message.error()
            found.append(int(message.value() or b""))
    return sorted(found)


def librdkafka_produces(bootstrap: str, topic: str) -> None:
    """Ten numbers without a transaction, an aborted one, a committed one."""
    idempotent = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for number in range(10):
        idempotent.produce(topic, str(number))
    assert idempotent.flush(60) == 0
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "librdkafka"})
    producer.init_transactions(60)
    for numbers, end in ((range(90, 93), "abort"), (range(10, 13), "commit")):
        producer.begin_transaction()
        for number in numbers:
            producer.produce(topic, str(number))
        getattr(producer, f"{end}_transaction")(60)


def by_kafkas_tools(broker: RunningNode, bootstrap: str, topic: str) -> list[int]:
    """Five records of a transaction, and what a group of the console consumer reads."""
    told = broker.tool(
        PERFORMANCE,
        *("--producer-props", f"bootstrap.servers={bootstrap}", "--topic", topic),
        *("--num-records", "5", "--throughput", "-1"),
        *("--payload-monotonic", "--transactional-id", "java"),
    )
    assert told.returncode == 0, told.stderr
    told = broker.tool(
        CONSUMER,
        *("--bootstrap-server", bootstrap, "--topic", topic, "--from-beginning"),
        *("--group", "java", "--max-messages", "5", "--timeout-ms", "60000"),
        *("--isolation-level", "read_committed"),
    )
    assert told.returncode == 0, told.stderr
    return sorted(map(int, told.stdout.split()))


def kafka_python(bootstrap: str, topic: str) -> list[int]:
    """Idempotent and transactional records, read by a group."""
    transact(bootstrap, topic)
    produce(bootstrap, topic, 10)
    return consume(bootstrap, topic, 13)


@pytest.mark.parametrize(
    ("version", "release"),
    [("4.3.1", None), pytest.param("3.9.1", "3.9-IV0", marks=pytest.mark.releases)],
)
async def test_every_family_of_clients_creates_produces_and_consumes(
    kafka: Launcher, version: str, release: str | None
) -> None:
    async with Quorum(3, release=release) as quorum:
        nodes = JavaNodes(kafka, quorum, version)
        try:
            first, second = [nodes.make(id, "broker", TWO) for id in (1, 2)]
            for broker in (first, second):
                await asyncio.to_thread(broker.start)
                await until_broker(quorum, broker.node_id, active=True)
            for broker in (first, second):
                await until_named(broker, 2)
            both = f"{first.broker_address},{second.broker_address}"
            for topic in ("librdkafka", "python", "java"):
                await asyncio.to_thread(create, both, topic)
            await asyncio.to_thread(librdkafka_produces, both, "librdkafka")
            found = await asyncio.to_thread(librdkafka_consumes, both, "librdkafka", 13)
            assert found == list(range(13))
            found = await asyncio.to_thread(kafka_python, both, "python")
            assert found == sorted([*range(10), *range(3)])
            found = await asyncio.to_thread(by_kafkas_tools, first, both, "java")
            assert found == list(range(5))
        finally:
            await asyncio.to_thread(nodes.close)
