"""Producers as partitions and coordinators know them: describe, fence (KIP-664, KIP-98)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import refusal
from kwire.admin.operation import Operation, OperationCall, RequestPart
from kwire.admin.outcomes import Outcomes
from kwire.admin.topic_partition import TopicPartition, by_topic
from kwire.admin.wire_values import known
from kwire.errors import KwireError
from kwire.messages.a22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.messages.a61_describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    ProducerState,
    TopicRequest,
)

PARTITIONS_PER_REQUEST = 500
"""Partitions in one DescribeProducers request: a broker may lead many thousand of them. The number
is that of kafka-transactions find-hanging."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveProducer:
    """A producer that a replica remembers having written to it (Java: ProducerState).

    last_timestamp: ms since 1970. coordinator_epoch: of the last marker; None without one.
    transaction_start_offset: of the open transaction; None if there is none.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int | None
    last_timestamp: int | None
    coordinator_epoch: int | None
    transaction_start_offset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdAndEpoch:
    """The id and the epoch that a coordinator gave last; writes of an older epoch are refused."""

    producer_id: int
    producer_epoch: int


def _producers_requests(
    call: OperationCall[TopicPartition, int | None],
) -> Iterator[RequestPart[TopicPartition]]:
    for start in range(0, len(call.keys), PARTITIONS_PER_REQUEST):
        keys = call.keys[start : start + PARTITIONS_PER_REQUEST]
        topics = [
            TopicRequest(name=topic, partition_indexes=indexes)
            for topic, indexes in by_topic(keys).items()
        ]
        yield keys, DescribeProducersRequest(topics=topics)


def _producers(
    response: DescribeProducersResponse, call: OperationCall[TopicPartition, int | None]
) -> Iterator[tuple[TopicPartition, tuple[ActiveProducer, ...] | KwireError]]:
    for topic in response.topics:
        for partition in topic.partitions:
            error = refusal(partition.error_code, partition.error_message)
            producers = tuple(map(_producer, partition.active_producers))
            yield TopicPartition(topic.name, partition.partition_index), error or producers


def _producer(state: ProducerState) -> ActiveProducer:
    return ActiveProducer(
        producer_id=state.producer_id,
        producer_epoch=state.producer_epoch,
        last_sequence=known(state.last_sequence),
        last_timestamp=known(state.last_timestamp),
        coordinator_epoch=known(state.coordinator_epoch),
        transaction_start_offset=known(state.current_txn_start_offset),
    )


DESCRIBE_PRODUCERS: Operation[TopicPartition, int | None, tuple[ActiveProducer, ...]] = Operation(
    row=registry.DESCRIBE_PRODUCERS, build=_producers_requests, parse=_producers
)
# A replica that was named is asked as it is: there is no other to look up.
_DESCRIBE_PRODUCERS_OF_A_REPLICA = replace(
    DESCRIBE_PRODUCERS,
    row=replace(registry.DESCRIBE_PRODUCERS, route=registry.Route.NODE),
    target=lambda partition, broker_id: broker_id,
    moved=frozenset(),
)


def _new_epoch_requests(call: OperationCall[str, None]) -> Iterator[RequestPart[str]]:
    for transactional_id in call.keys:
        yield (
            (transactional_id,),
            InitProducerIdRequest(
                transactional_id=transactional_id, transaction_timeout_ms=call.timeout_ms
            ),
        )


def _fenced(
    response: InitProducerIdResponse, call: OperationCall[str, None]
) -> Iterator[tuple[str, ProducerIdAndEpoch | KwireError]]:
    identity = ProducerIdAndEpoch(
        producer_id=response.producer_id, producer_epoch=response.producer_epoch
    )
    yield call.keys[0], refusal(response.error_code) or identity


FENCE_PRODUCERS: Operation[str, None, ProducerIdAndEpoch] = Operation(
    row=registry.FENCE_PRODUCERS, build=_new_epoch_requests, parse=_fenced
)


async def describe_producers(
    driver: Driver,
    partitions: Iterable[TopicPartition],
    *,
    broker_id: int | None = None,
    timeout: float | None = None,
) -> Outcomes[TopicPartition, tuple[ActiveProducer, ...]]:
    """Return the producers that each partition's leader remembers.

    broker_id: ask the replicas on this broker instead; NOT_LEADER_OR_FOLLOWER (6) of a
    partition then means that it has none.

    Outcomes: UNKNOWN_TOPIC_OR_PARTITION (3) after about a second, TOPIC_AUTHORIZATION_FAILED.
    """
    operation = DESCRIBE_PRODUCERS if broker_id is None else _DESCRIBE_PRODUCERS_OF_A_REPLICA
    return await driver.run(operation, partitions, broker_id, timeout=timeout)


async def fence_producers(
    driver: Driver, transactional_ids: Collection[str], *, timeout: float | None = None
) -> Outcomes[str, ProducerIdAndEpoch]:
    """Give each transactional id a new epoch: its producers can write no more.

    1. The coordinator aborts an open transaction first, and says CONCURRENT_TRANSACTIONS (51)
       until that is done; it is asked again.
    2. A transactional id that did not exist exists after that.

    Outcomes: TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53).
    """
    return await driver.run(FENCE_PRODUCERS, transactional_ids, None, timeout=timeout)
