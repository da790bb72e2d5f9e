"""`kwire transactions list`, `describe` and `producers`, in kafka-transactions' words (KIP-664)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, option, repeated
from kwire.cli.output import Column, Output, Table, number_columns, time_values
from kwire.cli.watching import WATCH, ask_and_show

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.producers import ActiveProducer
    from kwire.admin.topic_partition import TopicPartition
    from kwire.admin.transactions import TransactionDescription, TransactionListing

app = command_group(
    "Describe transactions and producers; end hanging ones.",
    {
        "list": f"{__name__}:list_transactions",
        "describe": f"{__name__}:describe_transactions",
        "producers": f"{__name__}:describe_producers",
        "find-hanging": "kwire.cli.admin.hanging_transactions:find_hanging_transactions",
        "abort": "kwire.cli.admin.hanging_transactions:abort_transaction",
        "fence": "kwire.cli.admin.producer_epochs:fence_producers",
        "terminate": "kwire.cli.admin.producer_epochs:force_terminate_transaction",
    },
)

TOPIC = option(metavar="NAME", help="With --partition, as kafka-transactions has it.")
PARTITION = option(metavar="N", min=0, help="A partition of --topic.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionalIds:
    """The transactional ids that a command is for, in either form."""

    ids: list[str] = argument(default=[], metavar="[ID]...", help="Transactional ids.")
    id_flags: list[str] = repeated(
        "--transactional-id", metavar="ID", help="The same, as kafka-transactions has it."
    )

    def names(self) -> list[str]:
        """Return each id once. Raises WrongUsage if there is none."""
        names = list(dict.fromkeys([*self.ids, *self.id_flags]))
        if not names:
            raise WrongUsage("name a transactional id.")
        return names


@asks_cluster(registry.LIST_TRANSACTIONS)
def list_transactions(
    cluster: ClusterOptions,
    output: Output,
    state: list[str] = repeated(metavar="STATE", help="As Ongoing or PrepareAbort. Repeatable."),
    producer_id: list[int] = repeated(
        metavar="ID", help="List only those of this producer. Repeatable."
    ),
    duration_filter: int | None = option(
        metavar="MS", min=0, help="Only those that run for longer; from Kafka 3.8."
    ),
    pattern: str | None = option(
        "--pattern",
        "--transactional-id-pattern",
        metavar="REGEX",
        help="Transactional ids that match whole; from Kafka 4.1.",
    ),
    watch: float | None = WATCH,
) -> None:
    """List transactional ids with coordinators and states.

    \b
    kwire transactions list --state Ongoing --bootstrap-server localhost:9092
    """

    async def ask(admin: AdminClient) -> Outcomes[int, tuple[TransactionListing, ...]]:
        return await admin.list_transactions(
            states=state,
            producer_ids=producer_id,
            longer_than_ms=duration_filter,
            pattern=pattern,
        )

    def show(outcomes: Outcomes[int, tuple[TransactionListing, ...]]) -> None:
        table = Table.of_outcomes(
            "transactions",
            LISTING_COLUMNS,
            outcomes,
            lambda broker, listings: (_listing_row(broker, listing) for listing in listings),
            key_values=lambda broker: {"coordinator": broker},
        )
        output.show(table, empty="no transactions")

    ask_and_show(cluster, output, ask, show, watch)


LISTING_COLUMNS = [
    Column(key="transactionalId"),
    *number_columns("coordinator", "producerId"),
    Column(key="transactionState"),
]


def _listing_row(broker_id: int, listing: TransactionListing) -> dict[str, Any]:
    return {
        "transactionalId": listing.transactional_id,
        "coordinator": broker_id,
        "producerId": listing.producer_id,
        "transactionState": listing.state,
    }


@asks_cluster(registry.DESCRIBE_TRANSACTIONS)
def describe_transactions(
    cluster: ClusterOptions, output: Output, *, ids: TransactionalIds, watch: float | None = WATCH
) -> None:
    """Describe transactions as their coordinators know them.

    The partitions are those written to; of a transaction that ends, those without its marker yet.

    \b
    kwire transactions describe orders-1 --bootstrap-server localhost:9092
    """

    chosen = ids.names()

    async def ask(admin: AdminClient) -> Outcomes[str, TransactionDescription]:
        return await admin.describe_transactions(chosen)

    def show(outcomes: Outcomes[str, TransactionDescription]) -> None:
        output.show(
            Table.of_outcomes(
                "transactions",
                DESCRIPTION_COLUMNS,
                outcomes,
                _description_row,
                key_values=lambda name: {"transactionalId": name},
            )
        )

    ask_and_show(cluster, output, ask, show, watch)


DESCRIPTION_COLUMNS = [
    Column(key="transactionalId"),
    *number_columns("coordinatorId", "producerId", "producerEpoch"),
    Column(key="transactionState"),
    Column(key="transactionTimeoutMs", right=True),
    Column(key="currentTransactionStartTimeMs", right=True, wide=True),
    Column(key="currentTransactionStartTime"),
    Column(key="transactionDurationMs", right=True),
    Column(key="topicPartitions"),
]


def _description_row(name: str, transaction: TransactionDescription) -> dict[str, Any]:
    start = transaction.start_time_ms
    return {
        "transactionalId": name,
        "coordinatorId": transaction.coordinator_id,
        "producerId": transaction.producer_id,
        "producerEpoch": transaction.producer_epoch,
        "transactionState": transaction.state,
        "transactionTimeoutMs": transaction.timeout_ms,
        **time_values("currentTransactionStartTime", start),
        "transactionDurationMs": None if start is None else now_ms() - start,
        "topicPartitions": [str(partition) for partition in sorted(transaction.partitions)],
    }


@asks_cluster(registry.DESCRIBE_PRODUCERS)
def describe_producers(
    cluster: ClusterOptions,
    output: Output,
    partitions: list[str] = argument(
        default=[], metavar="[TOPIC-PARTITION]...", help="As orders-3."
    ),
    broker: int | None = option(
        "--broker", "--broker-id", metavar="ID", help="By default the leader."
    ),
    topic: str | None = TOPIC,
    partition: int | None = PARTITION,
) -> None:
    """Describe the producers of partitions, open transactions too.

    \b
    kwire transactions producers orders-3 --bootstrap-server localhost:9092
    """
    chosen = named_partitions(partitions, topic, partition)
    outcomes = cluster.run(lambda admin: admin.describe_producers(chosen, broker_id=broker))
    table = Table.of_outcomes(
        "producers",
        PRODUCER_COLUMNS,
        outcomes,
        _producer_rows,
        key_values=lambda key: {"topic": key.topic, "partition": key.partition},
    )
    output.show(table, empty="no producers")


PRODUCER_COLUMNS = [
    Column(key="topic"),
    *number_columns(
        "partition", "producerId", "producerEpoch", "latestCoordinatorEpoch", "lastSequence"
    ),
    Column(key="lastTimestampMs", right=True, wide=True),
    Column(key="lastTimestamp"),
    Column(key="currentTransactionStartOffset", right=True),
]


def _producer_rows(
    partition: TopicPartition, producers: tuple[ActiveProducer, ...]
) -> Iterator[dict[str, Any]]:
    for producer in producers:
        yield {
            "topic": partition.topic,
            "partition": partition.partition,
            "producerId": producer.producer_id,
            "producerEpoch": producer.producer_epoch,
            "latestCoordinatorEpoch": producer.coordinator_epoch,
            "lastSequence": producer.last_sequence,
            **time_values("lastTimestamp", producer.last_timestamp),
            "currentTransactionStartOffset": producer.transaction_start_offset,
        }


def named_partitions(
    texts: list[str], topic: str | None, partition: int | None
) -> list[TopicPartition]:
    """Return the partitions in the options. Raises WrongUsage if there is none."""
    from kwire.admin.topic_partition import TopicPartition

    if (topic is None) is not (partition is None):
        raise WrongUsage("--topic and --partition belong together.")
    with usage_errors():
        chosen = [TopicPartition.parse(text) for text in texts]
    if topic is not None and partition is not None:
        chosen.append(TopicPartition(topic, partition))
    if not chosen:
        raise WrongUsage("name a partition, as in orders-3.")
    return list(dict.fromkeys(chosen))


def now_ms() -> int:
    """Return the time by this machine's clock, which may differ from the brokers'."""
    return int(time.time() * 1000)
