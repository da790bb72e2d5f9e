"""Sequences of idempotent producers: duplicates, gaps, epochs (KIP-98, KIP-360)."""

from __future__ import annotations

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.producers.producer import idempotent_producer
from kwire.conform.expectation import expect_equal, expect_error, expect_refused
from kwire.conform.server import Server
from kwire.conform.source import kafka, kip
from kwire.conform.verdict import Skipped
from kwire.messages.a21_delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kwire.messages.a61_describe_producers import DescribeProducersRequest, TopicRequest

_LAST_SEQUENCE = 2**31 - 1
_KEPT = 5
"""Batches of each producer in a partition that a leader remembers."""
_GUARANTEES = kip(98, "Idempotent Producer Guarantees")


@broker_scenario("Batches whose sequences follow each other are appended in order.", _GUARANTEES)
async def _in_order(server: Server) -> None:
    producer = await idempotent_producer(server)
    offsets = [await producer.append(sequence) for sequence in range(3)]
    expect_equal("offsets", offsets, [0, 1, 2])


@broker_scenario(
    "The next sequence follows the last record of a batch, not the first.", _GUARANTEES
)
async def _records_count(server: Server) -> None:
    producer = await idempotent_producer(server)
    await producer.append(0, records=3)
    expect_error(await producer.produce(1), 45, 46)
    expect_equal("offset", await producer.append(3), 3)


@broker_scenario("A sequence that leaves a gap gets OUT_OF_ORDER_SEQUENCE_NUMBER.", _GUARANTEES)
async def _gap(server: Server) -> None:
    producer = await idempotent_producer(server)
    await producer.append(0)
    expect_error(await producer.produce(2), 45)


@broker_scenario("A batch that is refused leaves nothing, and the right one follows.", _GUARANTEES)
async def _refused_leaves_nothing(server: Server) -> None:
    producer = await idempotent_producer(server)
    await producer.append(0)
    await producer.produce(2)
    expect_equal("end offset", await producer.end_offset(), 1)
    expect_equal("offset", await producer.append(1), 1)


@broker_scenario(
    "A repeated batch is not appended again; the answer has its first offset.", _GUARANTEES
)
async def _duplicate(server: Server) -> None:
    producer = await idempotent_producer(server)
    batch = producer.batch(0, records=2)
    first = await producer.send(batch)
    second = await producer.send(batch)
    expect_error(second, 0)
    expect_equal("offset", second.base_offset, first.base_offset)
    expect_equal("end offset", await producer.end_offset(), 2)


@broker_scenario(
    "Each of a producer's last five batches is recognised when it is repeated.",
    kafka("ProducerStateEntry.NUM_BATCHES_TO_RETAIN"),
)
async def _last_five(server: Server) -> None:
    producer = await idempotent_producer(server)
    for sequence in range(_KEPT):
        await producer.append(sequence)
    again = [await producer.append(sequence) for sequence in range(_KEPT)]
    expect_equal("offsets", again, list(range(_KEPT)))
    expect_equal("end offset", await producer.end_offset(), _KEPT)


@broker_scenario(
    "A repeated batch before the last five gets OUT_OF_ORDER_ or DUPLICATE_SEQUENCE_NUMBER.",
    _GUARANTEES,
)
async def _before_the_last_five(server: Server) -> None:
    producer = await idempotent_producer(server)
    for sequence in range(_KEPT + 1):
        await producer.append(sequence)
    expect_error(await producer.produce(0), 45, 46)
    expect_equal("end offset", await producer.end_offset(), _KEPT + 1)


@broker_scenario(
    "A producer that a partition does not know may begin with any sequence.",
    kip(360, "Proposed Changes"),
)
async def _any_first(server: Server) -> None:
    producer = await idempotent_producer(server)
    expect_error(await producer.produce(7), 0, differs=(45, 59))
    expect_equal("offset", await producer.append(8), 1)


@broker_scenario(
    "After 2147483647 comes the sequence 0.", kafka("DefaultRecordBatch.incrementSequence")
)
async def _wraps(server: Server) -> None:
    producer = await idempotent_producer(server)
    if (await producer.produce(_LAST_SEQUENCE)).error_code:
        raise Skipped("a producer that it does not know must begin with the sequence 0")
    expect_equal("offset", await producer.append(0), 1)


@broker_scenario("A new epoch begins with the sequence 0.", kip(360, "Proposed Changes"))
async def _new_epoch(server: Server) -> None:
    producer = await idempotent_producer(server)
    await producer.append(0)
    expect_equal("offset", await producer.append(0, producer_epoch=producer.epoch + 1), 1)


@broker_scenario(
    "A new epoch that begins with another sequence gets OUT_OF_ORDER_SEQUENCE_NUMBER.", _GUARANTEES
)
async def _new_epoch_gap(server: Server) -> None:
    producer = await idempotent_producer(server)
    await producer.append(0)
    expect_error(await producer.produce(1, producer_epoch=producer.epoch + 1), 45)


@broker_scenario(
    "A batch of an older epoch gets INVALID_PRODUCER_EPOCH.", kip(588, "Proposed Changes")
)
async def _old_epoch(server: Server) -> None:
    producer = await idempotent_producer(server)
    await producer.append(0, producer_epoch=producer.epoch + 1)
    expect_error(await producer.produce(1), 47)


@broker_scenario("Each partition counts the sequences of a producer for itself.", _GUARANTEES)
async def _partitions(server: Server) -> None:
    producer = await idempotent_producer(server, partitions=2)
    await producer.append(0)
    await producer.append(1)
    expect_equal("offset", await producer.append(0, partition=1), 0)
    expect_error(await producer.produce(2, partition=1), 45)


@broker_scenario("Two producers in a partition count their sequences apart.", _GUARANTEES)
async def _producers(server: Server) -> None:
    first = await idempotent_producer(server)
    await first.append(0)
    expect_equal("offset", await first.append(0, producer_id=first.producer_id + 10**9), 1)
    expect_equal("offset", await first.append(1), 2)


@broker_scenario("A producer is still known when its records have been deleted.", kip(360))
async def _deleted_records(server: Server) -> None:
    producer = await idempotent_producer(server)
    await producer.append(0)
    partition = DeleteRecordsPartition(partition_index=0, offset=-1)
    topic = DeleteRecordsTopic(name=producer.topic, partitions=[partition])
    request = DeleteRecordsRequest(topics=[topic], timeout_ms=10_000)
    expect_error(await producer.leader.ask(request), 0)
    expect_error(await producer.produce(2), 45)
    expect_equal("offset", await producer.append(1), 1)


@broker_scenario(
    "A batch with a producer id and without a sequence gets INVALID_RECORD.",
    kafka("LogValidator.validateBatch"),
)
async def _no_sequence(server: Server) -> None:
    producer = await idempotent_producer(server)
    expect_refused(await producer.produce(-1), 87)


@broker_scenario(
    "A control batch of a client gets INVALID_RECORD.", kafka("LogValidator.validateBatch")
)
async def _control_batch(server: Server) -> None:
    producer = await idempotent_producer(server)
    expect_error(await producer.produce(0, is_control=True), 87)


@broker_scenario(
    "More than one batch for a partition in one request gets INVALID_RECORD.",
    kafka("ProduceRequest.validateRecords"),
)
async def _two_batches(server: Server) -> None:
    producer = await idempotent_producer(server)
    data = producer.batch(0) + producer.batch(1)
    expect_refused(await producer.send(data), 87)


@broker_scenario("DescribeProducers returns a producer's epoch and last sequence.", kip(664))
async def _described(server: Server) -> None:
    producer = await idempotent_producer(server)
    await producer.append(0, records=3)
    topic = TopicRequest(name=producer.topic, partition_indexes=(0,))
    answer = await producer.leader.ask(DescribeProducersRequest(topics=[topic]))
    expect_error(answer, 0)
    states = answer.topics[0].partitions[0].active_producers
    expect_equal("producers", [state.producer_id for state in states], [producer.producer_id])
    expect_equal("epoch", states[0].producer_epoch, producer.epoch)
    expect_equal("last sequence", states[0].last_sequence, 2)
    expect_equal("start of a transaction", states[0].current_txn_start_offset, -1)


@broker_scenario("Batches without a producer id are never taken for duplicates.", _GUARANTEES)
async def _not_idempotent(server: Server) -> None:
    producer = await idempotent_producer(server)
    batch = producer.batch(-1, producer_id=-1, producer_epoch=-1)
    await producer.send(batch)
    await producer.send(batch)
    expect_equal("end offset", await producer.end_offset(), 2)


SECTION = CheckSection(
    "producers/sequences",
    "Sequences of idempotent producers",
    {
        1: _in_order,
        2: _records_count,
        3: _gap,
        4: _refused_leaves_nothing,
        5: _duplicate,
        6: _last_five,
        7: _before_the_last_five,
        8: _any_first,
        9: _wraps,
        10: _new_epoch,
        11: _new_epoch_gap,
        12: _old_epoch,
        13: _partitions,
        14: _producers,
        15: _deleted_records,
        16: _no_sequence,
        17: _control_batch,
        18: _two_batches,
        19: _described,
        20: _not_idempotent,
    },
)
