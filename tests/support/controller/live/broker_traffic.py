"""Work of clients on Kafka's brokers, and waits for what their controllers know."""

import asyncio
import uuid
from collections.abc import Callable

from kwire.image.partition import PartitionRegistration
from kwire.testing.quorum import Quorum


async def until_broker(
    quorum: Quorum, broker_id: int, *, active: bool, timeout: float = 60
) -> None:
    """Wait until the leader has it that a broker takes part, or does not."""
    async with asyncio.timeout(timeout):
        leader = await quorum.active_controller()
        await leader.metadata.until(
            lambda: leader.metadata.image.cluster.is_active(broker_id) is active
        )


async def until_partitions(
    quorum: Quorum,
    topic: str,
    condition: Callable[[PartitionRegistration], bool],
    timeout: float = 60,
) -> None:
    """Wait until every partition of a topic is as wanted."""
    leader = await quorum.active_controller()

    def holds() -> bool:
        found = leader.metadata.image.topics.topic(topic)
        return found is not None and all(map(condition, found.partitions.values()))

    async with asyncio.timeout(timeout):
        await leader.metadata.until(holds)


def create(bootstrap: str, topic: str, partitions: int, replicas: int) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        admin.create_topics(
            [NewTopic(topic, num_partitions=partitions, replication_factor=replicas)]
        )
    finally:
        admin.close()


def produce(bootstrap: str, topic: str, count: int) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True, acks="all")
    try:
        for sent in [producer.send(topic, str(n).encode()) for n in range(count)]:
            sent.get(timeout=60)
    finally:
        producer.close()


def transact(bootstrap: str, topic: str) -> None:
    """Three records that count and three that do not; readers are at read_committed."""
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id="t")
    try:
        producer.init_transactions()
        for numbers, end in ((range(90, 93), "abort"), (range(3), "commit")):
            producer.begin_transaction()
            for number in numbers:
                producer.send(topic, str(number).encode())
            getattr(producer, f"{end}_transaction")()
    finally:
        producer.close()


def consume(bootstrap: str, topic: str, count: int) -> list[int]:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        group_id=f"g-{uuid.uuid4()}",
        consumer_timeout_ms=60_000,
    )
    try:
        return sorted(int(next(consumer).value) for _ in range(count))
    finally:
        consumer.close()
