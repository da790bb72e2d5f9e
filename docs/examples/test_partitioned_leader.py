"""A partitioned leader acknowledges nothing that is lost.

pytest -p kwire.controller.pytest_plugin docs/examples/test_partitioned_leader.py
"""

import contextlib

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kwire.controller import BackgroundQuorum


def test_every_acknowledged_topic_is_there_after_the_partition(
    kwire_cluster: BackgroundQuorum,
) -> None:
    admin = AdminClient({"bootstrap.servers": kwire_cluster.bootstrap_servers})
    admin.list_topics(timeout=60)
    acknowledged = set()

    def create(name: str) -> None:
        with contextlib.suppress(KafkaException):  # refused, or not known: it may be there
            admin.create_topics([NewTopic(name, 1, 1)], request_timeout=20)[name].result(30)
            acknowledged.add(name)

    create("before")
    leader = kwire_cluster.wait_for_leader()
    kwire_cluster.partition({leader})  # from the other controllers and the brokers
    for number in range(5):
        create(f"during-{number}")
    kwire_cluster.heal()
    create("after")
    assert {"before", "after"} <= acknowledged
    assert acknowledged <= set(admin.list_topics(timeout=60).topics)
