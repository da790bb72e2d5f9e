"""Real Kafka behind a proxy: listeners for its controllers, and a client's work."""

import real_kafka
from kwire.proxy import (
    Address,
    Listener,
    Proxy,
)
from real_kafka import Cluster

MESSAGES = 500


def kwire_address(address: real_kafka.Address) -> Address:
    """The proxy's idea of the same address."""
    return Address(address.host, address.port)


async def in_front_of_controllers(proxy: Proxy, cluster: Cluster) -> str:
    """A listener for each controller, which advertises it; the addresses as a bootstrap list."""
    addresses = []
    for node_id, node in cluster.controllers.items():
        listener = Listener(node_id=node_id, upstream=kwire_address(node.controller_address))
        address = await proxy.listen(listener)
        node.advertise(real_kafka.Address(address.host, address.port))
        addresses.append(str(address))
    return ",".join(addresses)


def read_and_write(bootstrap: str) -> int:
    """Create a topic, produce to it, consume it; returns how many messages came back intact."""
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics([NewTopic("orders", 2, 1)])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=5)
    sent = {f"message {number}".encode() * 20 for number in range(MESSAGES)}
    for value in sent:
        producer.send("orders", value)
    producer.flush()
    producer.close()
    consumer = KafkaConsumer(
        "orders",
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        group_id="readers",
        consumer_timeout_ms=60_000,
    )
    received = set()
    for message in consumer:
        received.add(message.value)
        if len(received) == MESSAGES:
            break
    consumer.close()
    return len(received & sent)
