"""A partitioned leader acknowledges nothing that is lost: two clients' history is linearizable.

pytest docs/examples/test_partitioned_leader.py
"""

import threading
import time

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.cimpl import NewTopic

from kwire.fault_lab.history import Fate, RecordedOperation
from kwire.fault_lab.linearizable import check_linearizable
from kwire.fault_lab.models import RegisterModel
from kwire.testing import BackgroundQuorum

TOPIC, KEY = "partitioned", "retention.ms"


def test_acknowledged_changes_survive_a_partition_of_the_leader(
    kwire_cluster: BackgroundQuorum,
) -> None:
    admin = AdminClient({"bootstrap.servers": kwire_cluster.bootstrap_servers})
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(60)
    history: list[RecordedOperation] = []
    writers = [
        threading.Thread(target=write, args=(server, client, history))
        for client, server in enumerate(kwire_cluster.bootstrap_servers.split(","), 1)
    ]
    for writer in writers:
        writer.start()
    time.sleep(1)
    leader = kwire_cluster.wait_for_leader()
    kwire_cluster.partition({leader})  # from the other controllers and the brokers
    time.sleep(10)
    kwire_cluster.heal()
    for writer in writers:
        writer.join()
    assert any(operation.fate is Fate.OK for operation in history)
    history.append(read_last(admin, kwire_cluster.bootstrap_servers))
    found = check_linearizable(RegisterModel("config"), history)
    assert found.valid, f"none of these can come next: {found.stuck}"


def write(server: str, client: int, history: list[RecordedOperation]) -> None:
    """Set the configuration again and again, each time to another value."""
    admin = AdminClient({"bootstrap.servers": server})
    for number in range(20):
        value = str(1_000_000 * client + number)
        begin, fate = time.monotonic(), Fate.OK
        entry = ConfigEntry(KEY, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource("topic", TOPIC, incremental_configs=[entry])
        try:
            admin.incremental_alter_configs([resource], request_timeout=5)[resource].result(10)
        except KafkaException:
            fate = Fate.UNKNOWN  # no answer, or a refusal: it may take effect, now or later
        history.append(
            RecordedOperation(
                key=f"config:{KEY}",
                kind="set",
                fate=fate,
                begin=begin,
                end=time.monotonic(),
                value=value,
                client=client,
            )
        )
        time.sleep(0.5)


def read_last(admin: AdminClient, servers: str) -> RecordedOperation:
    """Read the value when every broker has all that was acknowledged."""
    admin.create_topics([NewTopic("last", 1, 1)])["last"].result(60)
    begin = time.monotonic()
    for server in servers.split(","):
        broker = AdminClient({"bootstrap.servers": server})
        while "last" not in broker.list_topics(timeout=60).topics:
            time.sleep(0.1)
    resource = ConfigResource("topic", TOPIC)
    value = admin.describe_configs([resource])[resource].result(60)[KEY].value
    return RecordedOperation(
        key=f"config:{KEY}",
        kind="read",
        fate=Fate.OK,
        begin=begin,
        end=time.monotonic(),
        result=value,
    )
