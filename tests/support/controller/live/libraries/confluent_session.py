"""confluent-kafka, which is librdkafka: also a group of the consumer protocol (KIP-848)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import closing
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    ElectionType,
    IsolationLevel,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.support.controller.live.libraries.answers import (
    ABORTED,
    COMMITTED,
    NODES,
    NUMBERS,
    PARTITIONS,
    PATIENCE,
    TRANSACTIONS,
    ClientAnswers,
    answer_of,
)
from tests.support.eventually import eventually_blocking

TOPIC = "by-librdkafka"
GROUPS = {"librdkafka-classic": "classic", "librdkafka-consumer": "consumer"}
MOVED = "librdkafka-moved"
_OFFSETS: Any = OffsetSpec  # its functions have no types


def with_confluent_kafka(servers: str) -> dict[str, Any]:
    """Return the answers by step."""
    answers = ClientAnswers()
    admin = AdminClient({"bootstrap.servers": servers})
    # librdkafka gives up what it asked of an address once it knows the brokers.
    eventually_blocking(
        lambda: len(admin.list_topics(timeout=PATIENCE).brokers), lambda count: count == NODES
    )
    _create(answers, admin)
    _produce(answers, servers)
    _transact(answers, servers)
    for level in ("read_committed", "read_uncommitted"):
        answers.ask(level, _all_values, servers, level)
    for group, protocol in GROUPS.items():
        _consume(answers, admin, servers, group, protocol)
    _look_back(answers, admin)
    return answers.steps


def _results(futures: Mapping[Any, Future[Any]]) -> list[Any]:
    """Return each result, or the name of its error."""
    return [answer_of(future.result, PATIENCE) for future in futures.values()]


def _asked(call: Callable[..., Mapping[Any, Future[Any]]], keys: Any) -> list[Any]:
    """Return the result of each key, or the name of its error."""
    return _results(call(keys))


def _create(answers: ClientAnswers, admin: AdminClient) -> None:
    ask = answers.ask

    def create(name: str, replicas: int = 2, **configs: str) -> list[Any]:
        pairs = {key.replace("_", "."): value for key, value in configs.items()}
        new = NewTopic(name, PARTITIONS, replicas, config=pairs)
        return _results(admin.create_topics([new], request_timeout=PATIENCE))

    def alter(value: str) -> list[Any]:
        entry = ConfigEntry("retention.ms", value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=[entry])
        return _results(admin.incremental_alter_configs([resource]))

    ask("create", create, TOPIC, max_message_bytes="100000")
    ask("create again", create, TOPIC)
    ask("create with three replicas", create, "x", 3)
    ask("create with an unknown key", create, "x", no_such_key="1")
    ask("create with a wrong name", create, "a/b")
    ask("alter", alter, "3600000")
    ask("alter wrongly", alter, "-2")
    for count in (4, 2):
        new = [NewPartitions(TOPIC, count)]
        ask(f"{count} partitions", _asked, admin.create_partitions, new)
    rule = AclBinding(
        *(ResourceType.TOPIC, TOPIC, ResourcePatternType.LITERAL, "User:alice", "*"),
        *(AclOperation.READ, AclPermissionType.ALLOW),
    )
    ask("add an ACL", _asked, admin.create_acls, [rule])


def _produce(answers: ClientAnswers, servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})

    def produce() -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []

        def delivered(error: Any, message: Any) -> None:
            assert error is None, error
            found.append((message.partition(), message.offset()))

        for n in NUMBERS:
            producer.produce(TOPIC, str(n), partition=n % PARTITIONS, on_delivery=delivered)
        assert producer.flush(PATIENCE) == 0
        return sorted(found)

    answers.ask("produce", produce)


def _transact(answers: ClientAnswers, servers: str) -> None:
    settings = {"bootstrap.servers": servers, "transactional.id": TOPIC}

    def write(numbers: range) -> None:
        producer.begin_transaction()
        for n in numbers:
            producer.produce(TOPIC, str(n), partition=TRANSACTIONS)
        producer.flush(PATIENCE)

    def write_and_commit() -> None:
        write(ABORTED)
        producer.commit_transaction(PATIENCE)

    producer = Producer(settings)
    producer.init_transactions(PATIENCE)
    write(ABORTED)
    answers.ask("abort", producer.abort_transaction, PATIENCE)
    write(COMMITTED)
    with closing(Consumer({"bootstrap.servers": servers, "group.id": MOVED})) as consumer:
        offsets = [TopicPartition(TOPIC, 1, 7)]
        group = consumer.consumer_group_metadata()
        answers.ask("send offsets", producer.send_offsets_to_transaction, offsets, group, PATIENCE)
    answers.ask("commit", producer.commit_transaction, PATIENCE)
    successor = Producer(settings)
    successor.init_transactions(PATIENCE)
    answers.ask("write of a fenced producer", write_and_commit)


def _values(consumer: Consumer, count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        message = consumer.poll(PATIENCE)
        assert message is not None, f"{len(found)} of {count} records came"
        assert message.error() is None, message.error()
        found.append(int(message.value() or b""))
    return sorted(found)


def _all_values(servers: str, level: str) -> list[int]:
    count = len(NUMBERS) + len(COMMITTED) + (len(ABORTED) if level == "read_uncommitted" else 0)
    settings = {"bootstrap.servers": servers, "group.id": "-", "enable.auto.commit": False}
    with closing(Consumer({**settings, "isolation.level": level})) as consumer:
        consumer.assign([TopicPartition(TOPIC, n, OFFSET_BEGINNING) for n in range(PARTITIONS)])
        return _values(consumer, count)


def _offsets(found: Iterable[TopicPartition]) -> list[tuple[int, int]]:
    """Return the offset of each partition, but not of those with transactions.

    At the end of a transaction a reader is before its marker or after it.
    """
    return sorted((one.partition, one.offset) for one in found if one.partition != TRANSACTIONS)


def _consume(
    answers: ClientAnswers, admin: AdminClient, servers: str, group: str, protocol: str
) -> None:
    settings = {
        "bootstrap.servers": servers,
        "group.id": group,
        "group.protocol": protocol,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }

    def described() -> Any:
        found = admin.describe_consumer_groups([group])[group].result(PATIENCE)
        assigned = [len(one.assignment.topic_partitions) for one in found.members]
        return [found.state, found.type, found.partition_assignor, assigned]

    def committed() -> Any:
        return _offsets(consumer.commit(asynchronous=False) or [])

    with closing(Consumer(settings)) as consumer:
        consumer.subscribe([TOPIC])
        count = len(NUMBERS) + len(COMMITTED)
        answers.ask(f"read in {group}", _values, consumer, count)
        answers.ask(f"{group} with a member", described)
        answers.ask(
            f"commit of {group}",
            committed,
        )
    answers.ask(f"{group} without a member", described)


def _look_back(answers: ClientAnswers, admin: AdminClient) -> None:
    """Describe what there is by now, and delete it."""
    ask, at_end = answers.ask, {TopicPartition(TOPIC, 0): _OFFSETS.latest()}

    def topic() -> Any:
        found = admin.describe_topics(TopicCollection([TOPIC]))[TOPIC].result(PATIENCE)
        return [(one.id, len(one.replicas)) for one in found.partitions]

    def configs() -> Any:
        resource = ConfigResource(ResourceType.TOPIC, TOPIC)
        (future,) = admin.describe_configs([resource]).values()
        return {key: (one.value, one.source) for key, one in future.result(PATIENCE).items()}

    def offsets(group: str) -> Any:
        asked = [ConsumerGroupTopicPartitions(group)]
        found = admin.list_consumer_group_offsets(asked)[group].result(PATIENCE)
        return _offsets(found.topic_partitions)

    def groups() -> Any:
        found = admin.list_consumer_groups().result(PATIENCE)
        listed = [one for one in found.valid if one.group_id in (*GROUPS, MOVED)]
        return sorted((one.group_id, one.state.name, one.type.name) for one in listed)

    def elected() -> Any:
        found = admin.elect_leaders(ElectionType.PREFERRED, [TopicPartition(TOPIC, 0)])
        return [error and error.name() for error in found.result(PATIENCE).values()]

    def end(level: IsolationLevel) -> Any:
        found = admin.list_offsets(at_end, isolation_level=level)
        return [one.result(PATIENCE).offset for one in found.values()]

    ask("topic", topic)
    ask("configuration", configs)
    ask("groups", groups)
    for group in (*GROUPS, MOVED):
        ask(f"offsets of {group}", offsets, group)
    for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED):
        ask(f"end, {level.name}", end, level)
    ask("elect", elected)
    ask("delete groups", _asked, admin.delete_consumer_groups, [*GROUPS, MOVED])
    for step in ("delete", "delete again"):
        ask(step, _asked, admin.delete_topics, [TOPIC])
