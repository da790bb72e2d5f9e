"""Sequences of idempotent producers: duplicates, gaps, epochs (KIP-98, KIP-360)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.producers.producer import idempotent_producer
from kwire.conform.expectation import expect_equal, expect_error, expect_refused
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped, documentation, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a21_delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)

SECTION = CheckSection("producers/sequences", "Sequences of idempotent producers")

_LAST_SEQUENCE = 2**31 - 1
_KEPT = 5
"""Batches of each producer in a partition that a leader remembers."""
_GUARANTEES = kip(98, "Idempotent Producer Guarantees")


@SECTION.broker_check(1, _GUARANTEES)
async def _(server: Server) -> None:
    """Batches whose sequences follow each other are appended in order."""
    producer = await idempotent_producer(server)
    offsets = [await producer.append(sequence) for sequence in range(3)]
    expect_equal("offsets", offsets, [0, 1, 2])


@SECTION.broker_check(2, _GUARANTEES)
async def _(server: Server) -> None:
    """The next sequence follows the last record of a batch, not the first."""
    producer = await idempotent_producer(server)
    await producer.append(0, records=3)
    expect_error(
        await producer.produce(1),
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
    )
    expect_equal("offset", await producer.append(3), 3)


@SECTION.broker_refuses(3, _GUARANTEES, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
async def _(server: Server) -> Any:
    """A sequence that leaves a gap gets"""
    producer = await idempotent_producer(server)
    await producer.append(0)
    return await producer.produce(2)


@SECTION.broker_check(4, _GUARANTEES)
async def _(server: Server) -> None:
    """A batch that is refused leaves nothing, and the right one follows."""
    producer = await idempotent_producer(server)
    await producer.append(0)
    await producer.produce(2)
    expect_equal("end offset", await producer.end_offset(), 1)
    expect_equal("offset", await producer.append(1), 1)


@SECTION.broker_check(5, _GUARANTEES)
async def _(server: Server) -> None:
    """A repeated batch is not appended again; the answer has its first offset."""
    producer = await idempotent_producer(server)
    batch = producer.batch(0, records=2)
    first = await producer.send(batch)
    second = await producer.send(batch)
    expect_error(second, ErrorCode.NONE)
    expect_equal("offset", second.base_offset, first.base_offset)
    expect_equal("end offset", await producer.end_offset(), 2)


@SECTION.broker_check(6, documentation("enable.idempotence"))
async def _(server: Server) -> None:
    """Each of a producer's last five batches is recognised when it is repeated."""
    producer = await idempotent_producer(server)
    for sequence in range(_KEPT):
        await producer.append(sequence)
    again = [await producer.append(sequence) for sequence in range(_KEPT)]
    expect_equal("offsets", again, list(range(_KEPT)))
    expect_equal("end offset", await producer.end_offset(), _KEPT)


@SECTION.broker_check(7, _GUARANTEES)
async def _(server: Server) -> None:
    """A repeated batch before the last five gets OUT_OF_ORDER_ or DUPLICATE_SEQUENCE_NUMBER."""
    producer = await idempotent_producer(server)
    for sequence in range(_KEPT + 1):
        await producer.append(sequence)
    expect_error(
        await producer.produce(0),
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
    )
    expect_equal("end offset", await producer.end_offset(), _KEPT + 1)


@SECTION.broker_check(8, kip(360, "Proposed Changes"))
async def _(server: Server) -> None:
    """A producer that a partition does not know may begin with any sequence."""
    producer = await idempotent_producer(server)
    expect_error(
        await producer.produce(7),
        ErrorCode.NONE,
        differs=(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID),
    )
    expect_equal("offset", await producer.append(8), 1)


@SECTION.broker_check(9, kafka("DefaultRecordBatch.incrementSequence"))
async def _(server: Server) -> None:
    """After 2147483647 comes the sequence 0."""
    producer = await idempotent_producer(server)
    if (await producer.produce(_LAST_SEQUENCE)).error_code:
        raise Skipped("a producer that it does not know must begin with the sequence 0")
    expect_equal("offset", await producer.append(0), 1)


@SECTION.broker_check(10, kip(360, "Proposed Changes"))
async def _(server: Server) -> None:
    """A new epoch begins with the sequence 0."""
    producer = await idempotent_producer(server)
    await producer.append(0)
    expect_equal("offset", await producer.append(0, producer_epoch=producer.epoch + 1), 1)


@SECTION.broker_refuses(11, _GUARANTEES, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
async def _(server: Server) -> Any:
    """A new epoch that begins with another sequence gets"""
    producer = await idempotent_producer(server)
    await producer.append(0)
    return await producer.produce(1, producer_epoch=producer.epoch + 1)


@SECTION.broker_refuses(12, kip(588, "Proposed Changes"), ErrorCode.INVALID_PRODUCER_EPOCH)
async def _(server: Server) -> Any:
    """A batch of an older epoch gets"""
    producer = await idempotent_producer(server)
    await producer.append(0, producer_epoch=producer.epoch + 1)
    return await producer.produce(1)


@SECTION.broker_check(13, _GUARANTEES)
async def _(server: Server) -> None:
    """Each partition counts the sequences of a producer for itself."""
    producer = await idempotent_producer(server, partitions=2)
    await producer.append(0)
    await producer.append(1)
    expect_equal("offset", await producer.append(0, partition=1), 0)
    expect_error(await producer.produce(2, partition=1), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


@SECTION.broker_check(14, _GUARANTEES)
async def _(server: Server) -> None:
    """Two producers in a partition count their sequences apart."""
    first = await idempotent_producer(server)
    await first.append(0)
    expect_equal("offset", await first.append(0, producer_id=first.producer_id + 10**9), 1)
    expect_equal("offset", await first.append(1), 2)


@SECTION.broker_check(15, kip(360, "Proposed Changes"))
async def _(server: Server) -> None:
    """A producer is still known when its records have been deleted."""
    producer = await idempotent_producer(server)
    await producer.append(0)
    partition = DeleteRecordsPartition(partition_index=0, offset=-1)
    topic = DeleteRecordsTopic(name=producer.topic, partitions=[partition])
    request = DeleteRecordsRequest(topics=[topic], timeout_ms=10_000)
    expect_error(await producer.leader.ask(request), ErrorCode.NONE)
    expect_error(await producer.produce(2), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    expect_equal("offset", await producer.append(1), 1)


@SECTION.broker_check(16, kafka("LogValidator.validateBatch"))
async def _(server: Server) -> None:
    """A batch with a producer id and without a sequence gets INVALID_RECORD."""
    producer = await idempotent_producer(server)
    expect_refused(await producer.produce(-1), ErrorCode.INVALID_RECORD)


@SECTION.broker_refuses(17, kafka("LogValidator.validateBatch"), ErrorCode.INVALID_RECORD)
async def _(server: Server) -> Any:
    """A control batch of a client gets"""
    producer = await idempotent_producer(server)
    return await producer.produce(0, is_control=True)


@SECTION.broker_check(20, _GUARANTEES)
async def _(server: Server) -> None:
    """Batches without a producer id are never taken for duplicates."""
    producer = await idempotent_producer(server)
    batch = producer.batch(-1, producer_id=-1, producer_epoch=-1)
    await producer.send(batch)
    await producer.send(batch)
    expect_equal("end offset", await producer.end_offset(), 2)
