"""Transactions that are open in a partition though no coordinator will end them (KIP-664).

They keep the last stable offset where it is: consumers that read only what is committed get nothing
more, and compaction stops. Bugs of the past left them behind; `kafka-transactions find-hanging` is
the model (TransactionsCommand.java).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kwire.admin.driver import Driver
from kwire.admin.producers import ActiveProducer, describe_producers
from kwire.admin.topic_partition import TopicPartition
from kwire.admin.topics import describe_topics
from kwire.admin.transactions import (
    TransactionDescription,
    describe_transactions,
    list_transactions,
)
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, KwireError

LONGEST_TIMEOUT_MS = 15 * 60 * 1000
"""Kafka's default of transaction.max.timeout.ms: a coordinator aborts what is older."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HangingTransaction:
    """An open transaction in a partition that no coordinator will end.

    transactional_id: None if no coordinator knows the producer id.
    """

    partition: TopicPartition
    producer: ActiveProducer
    transactional_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HangingSearch:
    """The result of a search.

    searched: the number of partitions that were. failed: why others were not, by the name of the
    partition or of its topic.
    """

    transactions: tuple[HangingTransaction, ...]
    searched: int
    failed: Mapping[str, KwireError]


async def find_hanging_transactions(
    driver: Driver,
    *,
    topics: Iterable[str] | None = None,
    partitions: Iterable[TopicPartition] | None = None,
    broker_id: int | None = None,
    longer_than_ms: int = LONGEST_TIMEOUT_MS,
    timeout: float | None = None,
) -> HangingSearch:
    """Return the transactions that hang in these partitions, or in those of these topics.

    topics, partitions: by default every topic of the cluster. broker_id: only the replicas on
    this broker, asked there. longer_than_ms: since the producer's last write; shorter ones are
    left to their coordinator.

    1. Ask for the producers of each partition; keep open transactions that last long enough.
    2. Ask every broker for the transactional ids of their producers, and each coordinator for
       the transaction.
    3. A transaction hangs in a partition if no coordinator knows its producer, or the one that
       does has no marker to write there.

    Raises ExceptionGroup if a coordinator does not answer in step 2: what it knows may be what
    is missing, and an end to a transaction that does not hang loses its data.
    """
    deadline = driver.deadline(timeout)
    failed: dict[str, KwireError] = {}
    if partitions is None:
        partitions = await _partitions(driver, topics, broker_id, failed, deadline.remaining)
    # 1.
    outcomes = await describe_producers(
        driver, partitions, broker_id=broker_id, timeout=deadline.remaining
    )
    before = int(time.time() * 1000) - longer_than_ms
    candidates = [
        (partition, producer)
        for partition, producers in outcomes.items()
        for producer in producers
        if producer.transaction_start_offset is not None
        and (producer.last_timestamp is None or producer.last_timestamp < before)
    ]
    # 2.
    names: dict[int, str] = {}
    transactions: dict[str, TransactionDescription] = {}
    if candidates:
        producer_ids = {producer.producer_id for _, producer in candidates}
        names = await _transactional_ids(driver, producer_ids, deadline.remaining)
        transactions = await _existing_transactions(driver, names.values(), deadline.remaining)
    # 3.
    hanging = []
    for partition, producer in candidates:
        name = names.get(producer.producer_id)
        transaction = transactions.get(name) if name is not None else None
        if transaction is None or partition not in transaction.partitions:
            hanging.append(
                HangingTransaction(partition=partition, producer=producer, transactional_id=name)
            )
    return HangingSearch(
        transactions=tuple(hanging),
        searched=len(outcomes),
        failed=failed | {str(key): error for key, error in outcomes.failed.items()},
    )


async def _partitions(
    driver: Driver,
    topics: Iterable[str] | None,
    broker_id: int | None,
    failed: dict[str, KwireError],
    timeout: float,
) -> list[TopicPartition]:
    """Return the partitions of topics, or those that have a replica on the broker."""
    described = await describe_topics(driver, topics, timeout=timeout)
    for name, error in described.failed.items():
        failed[str(name)] = error
    return [
        TopicPartition(topic.name, partition.partition)
        for topic in described.values()
        for partition in topic.partitions
        if broker_id is None or broker_id in partition.replicas
    ]


async def _transactional_ids(
    driver: Driver, producer_ids: set[int], timeout: float
) -> dict[int, str]:
    """Return the transactional id of each producer that a coordinator knows."""
    listed = await list_transactions(driver, producer_ids=producer_ids, timeout=timeout)
    return {
        listing.producer_id: listing.transactional_id
        for listings in listed.all().values()
        for listing in listings
        if listing.producer_id in producer_ids
    }


async def _existing_transactions(
    driver: Driver, names: Iterable[str], timeout: float
) -> dict[str, TransactionDescription]:
    """Return the transactions of these ids, without those that have gone in the meantime."""
    described = await describe_transactions(driver, names, timeout=timeout)
    failed = [
        error
        for error in described.failed.values()
        if not (
            isinstance(error, BrokerError) and error.code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        )
    ]
    if failed:
        raise ExceptionGroup("the coordinators of some transactions did not answer", failed)
    return dict(described)
