"""A broker of Kafka's with PEM stores boots from controllers that listen with SSL (KIP-651)."""

import asyncio

import trustme

from kwire.testing.quorum import Quorum
from kwire.text.properties import parse_properties
from real_kafka import Launcher
from tests.support.controller.live.broker_traffic import until_broker
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.pem_stores import CONTROLLERS, stores


def create(bootstrap: str, topic: str) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])
    finally:
        admin.close()


async def test_a_broker_boots_and_creates_a_topic_over_mutual_tls(kafka: Launcher) -> None:
    authority = trustme.CA()
    written = CONTROLLERS | stores(authority, "127.0.0.1", "localhost")
    read = parse_properties("".join(f"{name}={value}\n" for name, value in written.items()))
    async with Quorum(3, properties=read | {"ssl.client.auth": "required"}) as quorum:
        java = JavaNodes(kafka, quorum)
        try:
            broker = java.make(1, "broker", written)
            await asyncio.to_thread(broker.start)
            await until_broker(quorum, 1, active=True)
            await asyncio.to_thread(create, str(broker.broker_address), "sealed")
            leader = await quorum.active_controller()
            assert leader.metadata.image.topics.topic("sealed") is not None
        finally:
            await asyncio.to_thread(java.close)
