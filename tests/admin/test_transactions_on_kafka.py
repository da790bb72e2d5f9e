"""Transactions of real Kafka, held against kafka-transactions at the same time."""

import pytest
from confluent_kafka import Producer

from kwire.admin import AdminClient
from kwire.admin.topic_partition import TopicPartition
from real_kafka import Cluster
from tests.support.real_kafka.hanging_transaction import leave_hanging
from tests.support.real_kafka.topics import create, delete

TOOL = "org.apache.kafka.tools.TransactionsCommand"
TOPIC = "transactions-on-kafka"
ID = "transactions-on-kafka-id"


def java(cluster: Cluster, *arguments: str) -> list[list[str]]:
    """Return the words of each line that kafka-transactions prints, the heading left out."""
    done = cluster.tool(TOOL, "--bootstrap-server", cluster.bootstrap_servers, *arguments)
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines()[1:] if line.strip()]


def begin(cluster: Cluster) -> Producer:
    """Begin a transaction, and write a record to each of the partitions 0 and 1."""
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": ID, "log_level": 0}
    )
    producer.init_transactions(60)
    producer.begin_transaction()
    for partition in (0, 1):
        producer.produce(TOPIC, b"record", partition=partition)
    producer.flush(60)
    return producer


async def test_transactions_are_those_of_kafkas_tool_and_can_be_ended(kafka440: Cluster) -> None:
    create(kafka440.bootstrap_servers, TOPIC)
    producer = begin(kafka440)
    first, hanging = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 2)
    hanging_id = await leave_hanging(kafka440, hanging)
    async with AdminClient(kafka440.bootstrap_servers, timeout=60) as admin:
        # Listings, descriptions and producers are those of Kafka's own tool.
        listed = (await admin.list_transactions()).all()
        assert sorted(
            [t.transactional_id, str(broker), str(t.producer_id), t.state]
            for broker, listings in listed.items()
            for t in listings
        ) == sorted(java(kafka440, "list"))
        transaction = (await admin.describe_transactions([ID]))[ID]
        [row] = java(kafka440, "describe", "--transactional-id", ID)
        assert [
            str(transaction.coordinator_id),
            ID,
            str(transaction.producer_id),
            str(transaction.producer_epoch),
            transaction.state,
            str(transaction.timeout_ms),
            str(transaction.start_time_ms),
        ] == row[:7]
        assert set(map(str, transaction.partitions)) == set(row[8].split(","))
        [active] = (await admin.describe_producers([first]))[first]
        [row] = java(kafka440, "describe-producers", "--topic", TOPIC, "--partition", "0")
        assert [
            str(active.producer_id),
            str(active.producer_epoch),
            "-1" if active.coordinator_epoch is None else str(active.coordinator_epoch),
            str(active.last_sequence),
            str(active.last_timestamp),
            str(active.transaction_start_offset),
        ] == row
        # What hangs is what nobody began.
        search = await admin.find_hanging_transactions(topics=[TOPIC], longer_than_ms=0)
        [found] = search.transactions
        found_by_java = java(
            kafka440, "find-hanging", "--topic", TOPIC, "--max-transaction-timeout", "0"
        )
        assert (found.partition, found.producer.producer_id) == (hanging, hanging_id)
        assert [(row[1], row[2], row[5]) for row in found_by_java] == [
            ("2", str(hanging_id), str(found.producer.transaction_start_offset))
        ]
        await admin.abort_transaction(hanging, hanging_id, found.producer.producer_epoch)
        search = await admin.find_hanging_transactions(topics=[TOPIC], longer_than_ms=0)
        assert not search.transactions
        # An open transaction is ended through its coordinator, and its producer fenced.
        ended = await admin.force_terminate_transaction(ID)
        assert ended.producer_id == transaction.producer_id
        assert ended.producer_epoch > transaction.producer_epoch
        assert not (await admin.describe_transactions([ID]))[ID].partitions
    with pytest.raises(Exception, match="fenced"):
        producer.commit_transaction(60)
    delete(kafka440.bootstrap_servers, TOPIC)
