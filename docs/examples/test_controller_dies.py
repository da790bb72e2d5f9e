"""A client's test that survives the loss of the active controller.

pytest docs/examples/test_controller_dies.py
"""

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kwire.testing import BackgroundQuorum


def test_topics_and_records_are_acknowledged_after_the_active_controller_died(
    kwire_cluster: BackgroundQuorum,
) -> None:
    admin = AdminClient({"bootstrap.servers": kwire_cluster.bootstrap_servers})
    admin.list_topics(timeout=60)
    leader = kwire_cluster.wait_for_leader()
    kwire_cluster.kill(leader)
    admin.create_topics([NewTopic("orders", 2, 2)], operation_timeout=60)["orders"].result(60)
    assert kwire_cluster.wait_for_leader() != leader
    producer = Producer({"bootstrap.servers": kwire_cluster.bootstrap_servers, "acks": "all"})
    for number in range(100):
        producer.produce("orders", str(number))
    assert producer.flush(60) == 0
    kwire_cluster.restart(leader)
