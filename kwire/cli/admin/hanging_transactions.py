"""`kwire transactions find-hanging` and `abort`: for transactions that no coordinator ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.admin.transactions import PARTITION, TOPIC, named_partitions, now_ms
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.options import argument, flag, option
from kwire.cli.output import (
    ERROR,
    MESSAGE,
    Column,
    Output,
    Table,
    dry_run_facts,
    error_document,
    number_columns,
    time_values,
)
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.hanging_transactions import HangingSearch, HangingTransaction
    from kwire.admin.producers import ActiveProducer
    from kwire.admin.topic_partition import TopicPartition
    from kwire.admin.transactions import TransactionMarker

MINUTE = 60_000
"""Milliseconds."""


@asks_cluster(registry.LIST_TRANSACTIONS)
def find_hanging_transactions(
    cluster: ClusterOptions,
    output: Output,
    broker: int | None = option(
        "--broker", "--broker-id", metavar="ID", help="Only replicas on this broker."
    ),
    topic: str | None = option(metavar="NAME", help="By default all topics."),
    partition: int | None = PARTITION,
    max_transaction_timeout: int = option(
        default=15,
        metavar="MINUTES",
        min=0,
        help="Transactions that are younger may still end well.",
    ),
) -> None:
    """Find open transactions that no coordinator will end.

    They hold up consumers of committed records and compaction, until they are aborted.

    \b
    kwire transactions find-hanging --bootstrap-server localhost:9092
    """
    from kwire.admin.topic_partition import TopicPartition

    if partition is not None and topic is None:
        raise WrongUsage("--partition is a partition of --topic.")

    async def search(admin: AdminClient) -> HangingSearch:
        partitions = None
        if topic is not None and partition is not None:
            partitions = [TopicPartition(topic, partition)]
        return await admin.find_hanging_transactions(
            topics=None if topic is None else [topic],
            partitions=partitions,
            broker_id=broker,
            longer_than_ms=max_transaction_timeout * MINUTE,
        )

    with _silent_coordinators():
        found = cluster.run(search)
    rows = [_row(transaction) for transaction in found.transactions]
    rows += [{"topic": name, **error_document(error)} for name, error in found.failed.items()]
    output.show(Table("transactions", COLUMNS, rows), empty="no hanging transactions")


@contextmanager
def _silent_coordinators() -> Iterator[None]:
    """Raise CommandFailed for the errors of coordinators, in one sentence."""
    try:
        yield
    except ExceptionGroup as group:
        reasons = "; ".join(str(error) for error in group.exceptions)
        raise CommandFailed(
            f"not every coordinator answered, so what hangs is not known: {harmless(reasons)}."
        ) from group


COLUMNS = [
    Column(key="topic"),
    *number_columns("partition", "producerId", "producerEpoch", "coordinatorEpoch", "startOffset"),
    Column(key="lastTimestampMs", right=True, wide=True),
    Column(key="lastTimestamp"),
    Column(key="durationMinutes", title="Duration(min)", right=True),
    Column(key="transactionalId", wide=True),
    ERROR,
    MESSAGE,
]


def _row(transaction: HangingTransaction) -> dict[str, Any]:
    producer = transaction.producer
    last = producer.last_timestamp
    return {
        "topic": transaction.partition.topic,
        "partition": transaction.partition.partition,
        "producerId": producer.producer_id,
        "producerEpoch": producer.producer_epoch,
        "coordinatorEpoch": producer.coordinator_epoch,
        "startOffset": producer.transaction_start_offset,
        **time_values("lastTimestamp", last),
        "durationMinutes": None if last is None else max(0, now_ms() - last) // MINUTE,
        "transactionalId": transaction.transactional_id,
        "error": None,
        "message": None,
    }


@asks_cluster(registry.ABORT_TRANSACTION)
def abort_transaction(
    cluster: ClusterOptions,
    output: Output,
    partition_name: str | None = argument(
        default=None, metavar="[TOPIC-PARTITION]", help="As orders-3."
    ),
    topic: str | None = TOPIC,
    partition: int | None = PARTITION,
    start_offset: int | None = option(
        metavar="OFFSET", help="Where it begins, as find-hanging shows it."
    ),
    producer_id: int | None = option(
        metavar="ID", help="For brokers before Kafka 3.0, with the epochs."
    ),
    producer_epoch: int | None = option(
        metavar="EPOCH", help="Of the producer; with --producer-id."
    ),
    coordinator_epoch: int | None = option(
        metavar="EPOCH", help="That the marker gets; with --producer-id."
    ),
    force: bool = flag("--force", help="Even if a coordinator may still end it."),
    dry_run: bool = flag("--dry-run", help="Check that it hangs, and change nothing."),
    yes: bool = YES,
) -> None:
    """Abort a hanging transaction in one partition. Refused for one that a coordinator knows.

    \b
    kwire transactions abort orders-3 --start-offset 4711 --bootstrap-server localhost:9092
    """

    [key] = _single(named_partitions([partition_name] if partition_name else [], topic, partition))
    option_marker = _given_marker(producer_id, producer_epoch, coordinator_epoch)
    marker_given = any(v is not None for v in (producer_id, producer_epoch, coordinator_epoch))
    # Of both, one would be left out, and the transaction of another producer aborted.
    if option_marker is None if start_offset is None else marker_given:
        raise WrongUsage(
            "give --start-offset, or --producer-id, --producer-epoch and --coordinator-epoch."
        )

    async def prepare(admin: AdminClient) -> TransactionMarker:
        marker = option_marker or _marker(await _open_transaction(admin, key, start_offset))
        if not force:
            await _require_hanging(admin, key, marker.producer_id)
        return marker

    with _silent_coordinators():
        marker = cluster.run(prepare)
    if not dry_run:
        confirm(f"Abort the transaction of producer {marker.producer_id} in {key}?", yes=yes)
        cluster.run(
            lambda admin: admin.abort_transaction(
                key, marker.producer_id, marker.producer_epoch, marker.coordinator_epoch
            ),
        )
    output.show(_aborted(key, marker, dry_run_facts(dry_run)))


def _given_marker(
    producer_id: int | None, producer_epoch: int | None, coordinator_epoch: int | None
) -> TransactionMarker | None:
    from kwire.admin.transactions import TransactionMarker

    if producer_id is None or producer_epoch is None or coordinator_epoch is None:
        return None
    # A coordinator epoch that is not known is written -1: 0 overrules nobody.
    return TransactionMarker(
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        coordinator_epoch=max(0, coordinator_epoch),
    )


def _aborted(key: TopicPartition, marker: TransactionMarker, facts: dict[str, Any]) -> Table:
    row = {
        "topic": key.topic,
        "partition": key.partition,
        "producerId": marker.producer_id,
        "producerEpoch": marker.producer_epoch,
        "coordinatorEpoch": marker.coordinator_epoch,
    }
    columns = [Column(key=name, right=name != "topic") for name in row]
    return Table("transactions", columns, [row], facts=facts)


def _single(partitions: list[TopicPartition]) -> list[TopicPartition]:
    if len(partitions) > 1:
        raise WrongUsage("name one partition: a transaction begins elsewhere in each.")
    return partitions


async def _open_transaction(
    admin: Any, key: TopicPartition, start_offset: int | None
) -> ActiveProducer:
    """Return the producer of the transaction that begins there. Raises CommandFailed."""
    producers: tuple[ActiveProducer, ...] = (await admin.describe_producers([key]))[key]
    for producer in producers:
        if producer.transaction_start_offset == start_offset:
            return producer
    offsets = (producer.transaction_start_offset for producer in producers)
    begins = [str(offset) for offset in offsets if offset is not None]
    known = f"open ones begin at {', '.join(begins)}" if begins else "none is open there"
    raise CommandFailed(f"no open transaction begins at offset {start_offset} of {key}: {known}.")


def _marker(producer: ActiveProducer) -> TransactionMarker:
    from kwire.admin.transactions import TransactionMarker

    return TransactionMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        coordinator_epoch=producer.coordinator_epoch or 0,
    )


async def _require_hanging(admin: Any, key: TopicPartition, producer_id: int) -> None:
    found: HangingSearch = await admin.find_hanging_transactions(partitions=[key], longer_than_ms=0)
    for error in found.failed.values():
        raise error
    if not any(t.producer.producer_id == producer_id for t in found.transactions):
        raise CommandFailed(
            f"a coordinator may still end the transaction of producer {producer_id} in {key}:"
            " leave it to it, or take `kwire transactions terminate`, or give --force."
            " Nothing was changed."
        )
