"""kafka-python: administration, idempotent records, transactions and a classic group."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic

from tests.support.controller.live.libraries.answers import (
    ABORTED,
    COMMITTED,
    NUMBERS,
    PARTITIONS,
    PATIENCE,
    TRANSACTIONS,
    ClientAnswers,
)

TOPIC = "by-kafka-python"
GROUP, MOVED = "python-group", "python-moved"
WRONG = {
    "three replicas": ("x", 3, {}),
    "an unknown key": ("x", 2, {"no.such.key": "1"}),
    "a wrong value": ("x", 2, {"retention.ms": "a"}),
    "a wrong name": ("a/b", 2, {}),
    "a name that is taken": (TOPIC, 2, {}),
}


def with_kafka_python(servers: str) -> dict[str, Any]:
    """Return the answers by step."""
    answers = ClientAnswers()
    with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
        _create(answers, admin)
        _produce(answers, servers)
        _transact(answers, servers)
        _consume(answers, servers)
        _look_back(answers, admin)
    return answers.steps


def _create(answers: ClientAnswers, admin: KafkaAdminClient) -> None:
    ask = answers.ask

    def create(name: str, replicas: int, configs: dict[str, str]) -> Any:
        new = NewTopic(name, PARTITIONS, replicas, topic_configs=configs)
        return admin.create_topics([new], raise_errors=False)

    def alter(value: str) -> Any:
        resource = ConfigResource(ConfigResourceType.TOPIC, TOPIC, {"retention.ms": value})
        return admin.alter_configs([resource])

    def enlarge(count: int) -> Any:
        return admin.create_partitions({TOPIC: count}, raise_errors=False).to_dict()

    def elect() -> Any:
        return admin.elect_leaders(0, {TOPIC: [0]}, raise_errors=False).to_dict()

    ask("create", create, TOPIC, 2, {"max.message.bytes": "100000"})
    admin.wait_for_topics([TOPIC])
    for what, arguments in WRONG.items():
        ask(f"create with {what}", create, *arguments)
    ask("describe", admin.describe_topics, [TOPIC])
    ask("alter", alter, "3600000")
    ask("alter wrongly", alter, "-2")
    ask("more partitions", enlarge, 4)
    ask("fewer partitions", enlarge, 2)
    admin.wait_for_topics([TOPIC])
    ask("elect", elect)
    ask("features", admin.describe_features)


def _produce(answers: ClientAnswers, servers: str) -> None:
    producer = KafkaProducer(bootstrap_servers=servers, enable_idempotence=True, acks="all")
    with closing(producer):

        def produce() -> list[tuple[int, int]]:
            values = [(n % PARTITIONS, str(n).encode()) for n in NUMBERS]
            sent = [producer.send(TOPIC, value, partition=at) for at, value in values]
            return [(one.partition, one.offset) for one in (each.get(PATIENCE) for each in sent)]

        def produce_too_much() -> None:
            producer.send(TOPIC, bytes(200_000)).get(PATIENCE)

        answers.ask("produce", produce)
        answers.ask("produce too much", produce_too_much)


def _transact(answers: ClientAnswers, servers: str) -> None:
    settings = {"bootstrap_servers": servers, "transactional_id": TOPIC}

    def write(producer: KafkaProducer, numbers: range) -> None:
        producer.begin_transaction()
        for n in numbers:
            producer.send(TOPIC, str(n).encode(), partition=TRANSACTIONS).get(PATIENCE)

    def write_and_commit(producer: KafkaProducer) -> None:
        write(producer, ABORTED)
        producer.commit_transaction()

    with closing(KafkaProducer(**settings)) as producer:
        producer.init_transactions()
        write(producer, ABORTED)
        answers.ask("abort", producer.abort_transaction)
        write(producer, COMMITTED)
        offsets = {TopicPartition(TOPIC, 1): OffsetAndMetadata(7, "", -1)}
        answers.ask("send offsets", producer.send_offsets_to_transaction, offsets, MOVED)
        answers.ask("commit", producer.commit_transaction)
        with closing(KafkaProducer(**settings)) as successor:
            successor.init_transactions()
            answers.ask("write of a fenced producer", write_and_commit, producer)


def _consume(answers: ClientAnswers, servers: str) -> None:
    reader = {
        "bootstrap_servers": servers,
        "auto_offset_reset": "earliest",
        "consumer_timeout_ms": PATIENCE * 1000,
    }
    committed = len(NUMBERS) + len(COMMITTED)
    counts = {"read_committed": committed, "read_uncommitted": committed + len(ABORTED)}
    partitions = [TopicPartition(TOPIC, n) for n in range(PARTITIONS)]
    for level, count in counts.items():
        with closing(KafkaConsumer(**reader, isolation_level=level)) as consumer:
            consumer.assign(partitions)
            answers.ask(level, _values, consumer, count)
            answers.ask(f"ends, {level}", consumer.end_offsets, partitions)
    settings = {**reader, "group_id": GROUP, "isolation_level": "read_committed"}
    with closing(KafkaConsumer(TOPIC, **settings)) as consumer:
        answers.ask("read in a group", _values, consumer, committed)
        answers.ask("commit of the group", consumer.commit)


def _values(consumer: KafkaConsumer, count: int) -> list[int]:
    return sorted(int(next(consumer).value) for _ in range(count))


def _look_back(answers: ClientAnswers, admin: KafkaAdminClient) -> None:
    """Describe what there is by now, and delete it."""
    ask, resource = answers.ask, ConfigResource(ConfigResourceType.TOPIC, TOPIC)

    def offsets(group: str) -> list[tuple[int, int]]:
        # At the end of a transaction a reader is before its marker or after it.
        found = admin.list_group_offsets(group)[group]
        pairs = [(at.partition, committed.offset) for at, committed in found.items()]
        return sorted(pair for pair in pairs if pair[0] != TRANSACTIONS)

    def own_groups() -> list[dict[str, Any]]:
        groups = [one for one in admin.list_groups() if one["group_id"] in (GROUP, MOVED)]
        return sorted(groups, key=str)

    ask("configuration", admin.describe_configs, [resource])
    ask("groups", own_groups)
    ask("group", admin.describe_groups, [GROUP])
    for group in (GROUP, MOVED):
        ask(f"offsets of {group}", offsets, group)
    ask("delete records", admin.delete_records, {TopicPartition(TOPIC, 0): 2})
    ask("delete groups", admin.delete_groups, [GROUP, MOVED])
    ask("delete", admin.delete_topics, [TOPIC], raise_errors=False)
    ask("delete again", admin.delete_topics, [TOPIC], raise_errors=False)
