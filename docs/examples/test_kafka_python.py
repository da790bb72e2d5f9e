"""kafka-python: the broker writes a record, its answer is lost, and the record is there once.

pytest docs/examples/test_kafka_python.py
"""

from kafka import KafkaConsumer, KafkaProducer

from kwire.testing import FaultProxy


def test_a_record_is_sent_again_and_not_doubled(kwire_proxy: FaultProxy) -> None:
    kwire_proxy.on("Produce", topic="kafka-python", direction="response").close().call(2)
    servers = kwire_proxy.bootstrap_servers
    producer = KafkaProducer(bootstrap_servers=servers, enable_idempotence=True)
    for number in range(3):
        producer.send("kafka-python", str(number).encode()).get(60)
    producer.close()
    assert kwire_proxy.seen("Produce", topic="kafka-python") == 4
    consumer = KafkaConsumer(
        "kafka-python",
        bootstrap_servers=servers,
        auto_offset_reset="earliest",
        consumer_timeout_ms=5000,
    )
    assert [record.value for record in consumer] == [b"0", b"1", b"2"]
    consumer.close()
