"""Transactions: list, describe, abort those that hang, end those that last (KIP-664, KIP-939)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.admin.producers import FENCE_PRODUCERS, ProducerIdAndEpoch
from kwire.admin.topic_partition import TopicPartition, by_topic
from kwire.admin.wire_values import known
from kwire.errors import InvalidValue, KwireError, UnsupportedVersion
from kwire.messages.a27_write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kwire.messages.a65_describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from kwire.messages.a66_list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)

_DURATION_SINCE = 1
_PATTERN_SINCE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionListing:
    """A transactional id that a broker coordinates; `state` is Kafka's word, as `Ongoing`."""

    transactional_id: str
    producer_id: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionDescription:
    """The transaction of a transactional id, as its coordinator knows it.

    coordinator_id: None if the coordinator is no longer among the brokers.
    start_time_ms: since 1970; None if there is no open transaction.
    partitions: those written to; of a transaction that is ending, those without a marker yet.
    """

    coordinator_id: int | None
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int | None
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionFilters:
    """The arguments of LIST_TRANSACTIONS; an empty one lets everything pass.

    longer_than_ms: running for longer than that. pattern: a regular expression of RE2/J.
    """

    states: tuple[str, ...] = ()
    producer_ids: tuple[int, ...] = ()
    longer_than_ms: int | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionMarker:
    """The arguments of ABORT_TRANSACTION (Java: AbortTransactionSpec).

    coordinator_epoch: of the coordinator that is to be overruled; 0 where it is not known, which
    no coordinator is below.
    """

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int = 0


def _list_request(call: OperationCall[int, TransactionFilters]) -> ListTransactionsRequest:
    filters = call.arguments
    _require(call, filters.longer_than_ms is not None, _DURATION_SINCE, "duration", "3.8 (KIP-994)")
    _require(call, filters.pattern is not None, _PATTERN_SINCE, "pattern", "4.1 (KIP-1152)")
    return ListTransactionsRequest(
        state_filters=filters.states,
        producer_id_filters=filters.producer_ids,
        duration_filter=-1 if filters.longer_than_ms is None else filters.longer_than_ms,
        transactional_id_pattern=filters.pattern,
    )


def _require(
    call: OperationCall[int, TransactionFilters],
    is_filtered: bool,
    since: int,
    noun: str,
    release: str,
) -> None:
    if is_filtered and not call.offers(ListTransactionsRequest, since=since):
        raise UnsupportedVersion(
            f"{call.peer} cannot filter transactions by {noun}: it is older than Kafka {release}"
        )


def _listed(
    response: ListTransactionsResponse, call: OperationCall[int, TransactionFilters]
) -> Iterator[tuple[int, tuple[TransactionListing, ...] | KwireError]]:
    raise_for_code(response.error_code)
    if response.unknown_state_filters:
        # The broker leaves them out and answers: a slip of the pen would find nothing.
        unknown = ", ".join(map(repr, response.unknown_state_filters))
        error = InvalidValue(f"{call.peer} knows no state of transactions called {unknown}")
        yield from ((broker_id, error) for broker_id in call.keys)
    listings = tuple(
        TransactionListing(
            transactional_id=state.transactional_id,
            producer_id=state.producer_id,
            state=state.transaction_state,
        )
        for state in response.transaction_states
    )
    for broker_id in call.keys:
        yield broker_id, listings


LIST_TRANSACTIONS: Operation[int, TransactionFilters, tuple[TransactionListing, ...]] = Operation(
    row=registry.LIST_TRANSACTIONS, build=_list_request, parse=_listed
)


BrokerIds = Mapping[str, int]
"""The ids of brokers by `host:port`."""


def _transactions(
    response: DescribeTransactionsResponse, call: OperationCall[str, BrokerIds]
) -> Iterator[tuple[str, TransactionDescription | KwireError]]:
    for state in response.transaction_states:
        error = refusal(state.error_code)
        coordinator_id = call.arguments.get(call.peer)
        yield state.transactional_id, error or _transaction(state, coordinator_id)


def _transaction(state: TransactionState, coordinator_id: int | None) -> TransactionDescription:
    return TransactionDescription(
        coordinator_id=coordinator_id,
        state=state.transaction_state,
        producer_id=state.producer_id,
        producer_epoch=state.producer_epoch,
        timeout_ms=state.transaction_timeout_ms,
        start_time_ms=known(state.transaction_start_time_ms),
        partitions=tuple(
            TopicPartition(topic.topic, partition)
            for topic in state.topics
            for partition in topic.partitions
        ),
    )


DESCRIBE_TRANSACTIONS: Operation[str, BrokerIds, TransactionDescription] = Operation(
    row=registry.DESCRIBE_TRANSACTIONS,
    build=lambda call: DescribeTransactionsRequest(transactional_ids=call.keys),
    parse=_transactions,
)


def _marker_request(
    call: OperationCall[TopicPartition, TransactionMarker],
) -> WriteTxnMarkersRequest:
    topics = [
        WritableTxnMarkerTopic(name=topic, partition_indexes=indexes)
        for topic, indexes in by_topic(call.keys).items()
    ]
    marker = WritableTxnMarker(
        producer_id=call.arguments.producer_id,
        producer_epoch=call.arguments.producer_epoch,
        coordinator_epoch=call.arguments.coordinator_epoch,
        transaction_result=False,
        topics=topics,
    )
    return WriteTxnMarkersRequest(markers=[marker])


def _marked(
    response: WriteTxnMarkersResponse, call: OperationCall[TopicPartition, TransactionMarker]
) -> Iterator[tuple[TopicPartition, KwireError | None]]:
    for marker in response.markers:
        if marker.producer_id != call.arguments.producer_id:
            continue  # says nothing about the one that was asked for
        for topic in marker.topics:
            for partition in topic.partitions:
                key = TopicPartition(topic.name, partition.partition_index)
                yield key, refusal(partition.error_code)


ABORT_TRANSACTION: Operation[TopicPartition, TransactionMarker, None] = Operation(
    row=registry.ABORT_TRANSACTION, build=_marker_request, parse=_marked
)


FORCE_TERMINATE_TRANSACTION: Operation[str, None, ProducerIdAndEpoch] = replace(
    FENCE_PRODUCERS, row=registry.FORCE_TERMINATE_TRANSACTION
)


async def list_transactions(
    driver: Driver,
    *,
    states: Iterable[str] = (),
    producer_ids: Iterable[int] = (),
    longer_than_ms: int | None = None,
    pattern: str | None = None,
    timeout: float | None = None,
) -> Outcomes[int, tuple[TransactionListing, ...]]:
    """Return the transactional ids that each broker coordinates, by broker.

    states: Kafka's words, as `Ongoing`.
    longer_than_ms: only transactions that run for longer; from Kafka 3.8 on.
    pattern: a regular expression for the whole transactional id; from Kafka 4.1 on.

    Outcomes: InvalidValue for a state that the broker does not know, UnsupportedVersion for a
    broker that cannot filter so, INVALID_REGULAR_EXPRESSION
    (128), COORDINATOR_NOT_AVAILABLE (15) for a broker that shuts down.
    """
    filters = TransactionFilters(
        states=tuple(states),
        producer_ids=tuple(producer_ids),
        longer_than_ms=longer_than_ms,
        pattern=pattern,
    )
    return await driver.run_everywhere(LIST_TRANSACTIONS, filters, timeout=timeout)


async def describe_transactions(
    driver: Driver, transactional_ids: Iterable[str], *, timeout: float | None = None
) -> Outcomes[str, TransactionDescription]:
    """Return the transaction of each transactional id, from its coordinator.

    Outcomes: TRANSACTIONAL_ID_NOT_FOUND (105), TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53).
    """
    driver.check_allowed(registry.DESCRIBE_TRANSACTIONS)
    deadline = driver.deadline(timeout)
    cluster = await driver.router.cluster(deadline)
    broker_ids = {str(node.address): node.node_id for node in cluster.nodes.values()}
    return await driver.run(
        DESCRIBE_TRANSACTIONS, transactional_ids, broker_ids, timeout=deadline.remaining
    )


async def abort_transaction(
    driver: Driver,
    partition: TopicPartition,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int = 0,
    *,
    timeout: float | None = None,
) -> None:
    """Have a partition's leader write the abort marker of a transaction that hangs there.

    That overrules the coordinator: do it only to a transaction that the coordinator knows
    nothing of (`find_hanging_transactions`). The values are those of `describe_producers`.

    Raises BrokerError INVALID_PRODUCER_EPOCH (47), TRANSACTION_COORDINATOR_FENCED (52) for an
    older coordinator epoch than the last marker's, CLUSTER_AUTHORIZATION_FAILED (31).
    """
    marker = TransactionMarker(
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        coordinator_epoch=coordinator_epoch,
    )
    await driver.ask(ABORT_TRANSACTION, partition, marker, timeout=timeout)


async def force_terminate_transaction(
    driver: Driver, transactional_id: str, *, timeout: float | None = None
) -> ProducerIdAndEpoch:
    """Abort the transaction of a transactional id through its coordinator (KIP-939).

    The same request as `fence_producers` sends: the producer is fenced, too.
    """
    return await driver.ask(FORCE_TERMINATE_TRANSACTION, transactional_id, None, timeout=timeout)
