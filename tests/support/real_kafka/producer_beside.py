"""A producer that runs beside a test, and a consumer that looks for what it produced."""

from __future__ import annotations

from threading import Event, Thread

from confluent_kafka import Consumer, KafkaError, Message, Producer

from tests.support.eventually import eventually_blocking


class ProducerBeside:
    """Produces numbered records in a thread, and knows which of them were acknowledged."""

    def __init__(self, servers: str, topic: str, partitions: int) -> None:
        self.acknowledged: set[int] = set()
        self.failures: list[KafkaError] = []
        self._topic = topic
        self._partitions = partitions
        self._stop = Event()
        self._producer = Producer({"bootstrap.servers": servers, "acks": "all"})
        self._thread = Thread(target=self._run)

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(0.002):
            self._producer.produce(
                self._topic,
                str(number).encode(),
                partition=number % self._partitions,
                on_delivery=self._delivered,
            )
            self._producer.poll(0)
            number += 1
        self._producer.flush(60)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        value = message.value()
        if error is not None:
            self.failures.append(error)
        elif value is not None:
            self.acknowledged.add(int(value))

    def __enter__(self) -> ProducerBeside:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()


def consumed(servers: str, topic: str, count: int) -> set[int]:
    """Read the topic from its beginning until so many different numbers were seen."""
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "all", "auto.offset.reset": "earliest"}
    )
    numbers: set[int] = set()
    try:
        consumer.subscribe([topic])

        def read() -> int:
            for message in consumer.consume(10_000, timeout=1.0):
                value = message.value()
                if message.error() is None and value is not None and len(value) < 20:
                    numbers.add(int(value))
            return len(numbers)

        eventually_blocking(read, lambda found: found >= count)
    finally:
        consumer.close()
    return numbers
