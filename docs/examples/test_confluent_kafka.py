"""confluent-kafka: the second commit is refused, and the producer tries it again by itself.

pytest docs/examples/test_confluent_kafka.py
"""

from confluent_kafka import Producer

from kwire.testing import FaultProxy


def test_a_commit_is_tried_again(kwire_proxy: FaultProxy) -> None:
    kwire_proxy.on("EndTxn").error("COORDINATOR_NOT_AVAILABLE").call(2)
    servers = {"bootstrap.servers": kwire_proxy.bootstrap_servers}
    producer = Producer({**servers, "transactional.id": "confluent"})
    producer.init_transactions(60)
    for number in range(2):
        producer.begin_transaction()
        producer.produce("confluent", str(number))
        producer.commit_transaction(60)
    assert kwire_proxy.seen("EndTxn") == 3
    assert kwire_proxy.unused() == []
