"""A producer and a consumer as a process of their own.

    python -m tests.support.proxy.addresses.producer_consumer BOOTSTRAP ...

A line says when the first message has arrived, and they end when stdin ends; then a second line
says, as JSON, how many messages were acknowledged, how many were not, and how many of the
acknowledged never reached the consumer.
"""

import json
import sys
import threading
import time

from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError
from kafka.future import Future

TOPIC = "orders"
PATIENCE = 90.0
PACE = 0.02


def consume(bootstrap: list[str], received: set[bytes], over: threading.Event) -> None:
    """Gather all that arrives, in a group."""
    consumer = KafkaConsumer(
        TOPIC, bootstrap_servers=bootstrap, auto_offset_reset="earliest", group_id="readers"
    )
    while not over.is_set():
        for records in consumer.poll(timeout_ms=200).values():
            received |= {record.value for record in records}
    consumer.close(autocommit=False)


def produce(bootstrap: list[str], over: threading.Event) -> tuple[set[bytes], int]:
    """Send until it is over; what was acknowledged, and how many were not."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    sent: dict[bytes, Future] = {}
    while not over.wait(PACE):
        value = f"order {len(sent)}".encode()
        sent[value] = producer.send(TOPIC, value)
    acknowledged = set()
    for value, future in sent.items():
        try:
            future.get(PATIENCE)
        except KafkaError:
            continue
        acknowledged.add(value)
    producer.close()
    return acknowledged, len(sent) - len(acknowledged)


def wait_for_end(stopped: threading.Event) -> None:
    """Until stdin ends."""
    sys.stdin.read()
    stopped.set()


def say_when_begun(received: set[bytes]) -> None:
    """Print a line once something has arrived."""
    while not received:
        time.sleep(PACE)
    print("begun", flush=True)  # noqa: T201


def main(bootstrap: list[str]) -> None:
    """Talk to these brokers until stdin ends."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics([NewTopic(TOPIC, 2, 2)])
    admin.close()
    received: set[bytes] = set()
    stopped, over = threading.Event(), threading.Event()
    consumer = threading.Thread(target=consume, args=(bootstrap, received, over))
    consumer.start()
    threading.Thread(target=say_when_begun, args=(received,), daemon=True).start()
    threading.Thread(target=wait_for_end, args=(stopped,), daemon=True).start()
    acknowledged, refused = produce(bootstrap, stopped)
    deadline = time.monotonic() + PATIENCE
    while not acknowledged <= received and time.monotonic() < deadline:
        time.sleep(0.1)
    over.set()
    consumer.join()
    lost = len(acknowledged - received)
    print(json.dumps({"acknowledged": len(acknowledged), "refused": refused, "lost": lost}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
