"""Clients in Python, each doing the same work: what they were told comes back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import confluent_kafka.admin
from confluent_kafka import cimpl


@dataclass(frozen=True, slots=True)
class ClientResult:
    """The nodes that a client saw, and its topic after creation and deletion."""

    nodes: set[int]
    created: bool
    deleted: bool


def with_kafka_python(bootstrap: str, topic: str) -> ClientResult:
    """kafka-python."""
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        nodes = {node["broker_id"] for node in admin.describe_cluster()["brokers"]}
        admin.create_topics([NewTopic(topic, 1, 1)])
        created = topic in admin.list_topics()
        admin.delete_topics([topic])
        return ClientResult(nodes, created, topic not in admin.list_topics())
    finally:
        admin.close()


def with_aiokafka(bootstrap: str, topic: str) -> ClientResult:
    """aiokafka."""
    from aiokafka.admin import AIOKafkaAdminClient
    from aiokafka.admin import NewTopic as AioTopic

    async def use_client() -> ClientResult:
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()
        try:
            nodes = {node["node_id"] for node in (await admin.describe_cluster())["brokers"]}
            await admin.create_topics([AioTopic(topic, 1, 1)])
            created = topic in await admin.list_topics()
            await admin.delete_topics([topic])
            return ClientResult(nodes, created, topic not in await admin.list_topics())
        finally:
            await admin.close()

    return asyncio.run(use_client())


def with_confluent(bootstrap: str, topic: str) -> ClientResult:
    """confluent-kafka, which is librdkafka."""
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": bootstrap})
    nodes = set(admin.list_topics(timeout=60).brokers)
    new = cimpl.NewTopic(topic, 1, 1)
    admin.create_topics([new])[topic].result(60)
    created = topic in admin.list_topics(timeout=60).topics
    admin.delete_topics([topic])[topic].result(60)
    return ClientResult(nodes, created, topic not in admin.list_topics(timeout=60).topics)


PYTHON_CLIENTS = {
    "kafka-python": with_kafka_python,
    "aiokafka": with_aiokafka,
    "confluent-kafka": with_confluent,
}
