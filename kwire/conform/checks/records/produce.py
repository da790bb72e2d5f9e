"""Produce: acknowledgements, and batches that are refused (KIP-98, KIP-467; Java: LogValidator)."""

from __future__ import annotations

import time
from typing import Any

from kwire.batches import Compression, Record, build_legacy_batch
from kwire.conform.check import CheckSection
from kwire.conform.checks.records.log import batch, new_log, produce_request
from kwire.conform.connection import PATIENCE
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.reaction import ConnectionState
from kwire.conform.server import Server
from kwire.conform.vocabulary import (
    ConformanceVerdict,
    Deviation,
    Skipped,
    documentation,
    guide,
    kafka,
    kip,
    schema,
)
from kwire.error_codes import ErrorCode
from kwire.messages.a00_produce import PartitionProduceData, ProduceRequest
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.net.address import Address

SECTION = CheckSection("records/produce", "Produce")

_ONE_BATCH = kafka("ProduceRequest.validateRecords")
_CODES = guide("Error Codes")
_ACKS = schema("ProduceRequest", "Acks")
_DAY_MS = 86_400_000
_BY_NAME = 12


def _flipped(data: bytes) -> bytes:
    """Return a batch with a bit of its last record flipped, its CRC left."""
    return data[:-2] + bytes([data[-2] ^ 1]) + data[-1:]


@SECTION.broker_refuses(1, _CODES, ErrorCode.INVALID_REQUIRED_ACKS)
async def _(server: Server) -> Any:
    """acks other than -1, 0 and 1 gets"""
    log = await new_log(server)
    return await log.produce(batch(), acks=2)


@SECTION.broker_refuses(
    2,
    kafka("KafkaApis.handleProduceRequest"),
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    differs=(ErrorCode.INVALID_REQUIRED_ACKS,),
)
async def _(server: Server) -> Any:
    """An unknown topic is reported before a bad number of acks."""
    log = await new_log(server)
    log.topic = server.name()
    return await log.produce(batch(), acks=2)


@SECTION.broker_check(3, _CODES)
async def _(server: Server) -> None:
    """A topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION, and is not created."""
    name = server.name()
    server.remove_topic(name)
    answer = await server.ask(produce_request(name, batch()), 7)
    expect_error(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    topics = [MetadataRequestTopic(name=name)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    expect_error(await server.ask(request), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@SECTION.broker_refuses(4, _CODES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
async def _(server: Server) -> Any:
    """A partition that the topic does not have gets"""
    log = await new_log(server)
    return await log.produce(batch(), partition=7)


@SECTION.broker_check(5, _ACKS)
async def _(server: Server) -> None:
    """A Produce with acks 0 gets no answer, and the next request gets one."""
    log = await new_log(server)
    request = produce_request(log.topic, batch(), acks=0)
    version = log.leader.version_up_to(request, _BY_NAME)
    await log.leader.send(log.leader.frame(request, version))
    part = await log.produce(batch())  # an answer to the first would have its correlation id
    expect_error(part, ErrorCode.NONE)
    expect_equal("base offset", part.base_offset, 1)


@SECTION.broker_check(6, kafka("KafkaApis.handleProduceRequest"))
async def _(server: Server) -> None:
    """With acks 0 an error ends the connection, since there is no answer to tell it in."""
    log = await new_log(server)
    connection = await server.new_connection(Address.parse(log.leader.peer))
    request = produce_request(log.topic, batch(), acks=0, partition=7)
    await connection.send(connection.frame(request, connection.version_up_to(request, _BY_NAME)))
    expect(await connection.receive(PATIENCE) is None, "no answer", "an answer")
    closed = connection.state in (ConnectionState.CLOSED, ConnectionState.RESET)
    verdict = ConformanceVerdict.DIFFERS
    expect_equal("the connection is closed", closed, True, otherwise=verdict)


@SECTION.broker_refuses(7, _CODES, ErrorCode.CORRUPT_MESSAGE)
async def _(server: Server) -> Any:
    """A batch whose CRC is wrong gets"""
    log = await new_log(server)
    return await log.produce(_flipped(batch()))


@SECTION.broker_refuses(
    8,
    _ONE_BATCH,
    ErrorCode.INVALID_RECORD,
    differs=(
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    ),
)
async def _(server: Server) -> Any:
    """From v3 on a batch of format 1 gets"""
    log = await new_log(server)
    data = build_legacy_batch([Record(value=b"kwire", timestamp=0)], 1)
    return await log.produce(data)


@SECTION.broker_refuses(
    9,
    _ONE_BATCH,
    ErrorCode.INVALID_RECORD,
    differs=(ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_REQUEST),
)
async def _(server: Server) -> Any:
    """From v3 on two batches for a partition get"""
    log = await new_log(server)
    return await log.produce(batch() + batch())


@SECTION.broker_refuses(
    10,
    _ONE_BATCH,
    ErrorCode.INVALID_RECORD,
    differs=(ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_REQUEST),
)
async def _(server: Server) -> Any:
    """From v3 on no batch for a partition gets"""
    log = await new_log(server)
    return await log.produce(b"")


@SECTION.broker_refuses(11, kip(110, "Public Interfaces"), ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
async def _(server: Server) -> Any:
    """Before v7 a batch compressed with zstd gets"""
    log = await new_log(server)
    data = batch(compression=Compression.ZSTD)
    return await log.produce(data, version=6)


@SECTION.broker_refuses(12, _CODES, ErrorCode.MESSAGE_TOO_LARGE)
async def _(server: Server) -> Any:
    """A batch beyond max.message.bytes gets"""
    log = await new_log(server, max_message_bytes="100")
    return await log.produce(batch(value=bytes(200)))


@SECTION.broker_refuses(13, kip(937, "Public Interfaces"), ErrorCode.INVALID_TIMESTAMP)
async def _(server: Server) -> Any:
    """A record older than the topic takes gets"""
    try:
        log = await new_log(server, message_timestamp_before_max_ms="3600000")
    except Deviation as end:
        raise Skipped(f"no topic with message.timestamp.before.max.ms: {end.came}") from None
    return await log.produce(batch(timestamp=0))


@SECTION.broker_refuses(15, kip(467, "Public Interfaces"), ErrorCode.INVALID_RECORD)
async def _(server: Server) -> Any:
    """In a compacted topic a record without a key gets"""
    log = await new_log(server, cleanup_policy="compact")
    return await log.produce(batch(key=None))


@SECTION.broker_check(16, kip(467, "Public Interfaces"))
async def _(server: Server) -> None:
    """From v8 on the answer names the records for which a batch was refused."""
    log = await new_log(server, cleanup_policy="compact")
    log.leader.demand_since(ProduceRequest, 8)
    part = await log.produce(batch(2, key=None))
    indexes = [error.batch_index for error in part.record_errors]
    expect_equal("records", indexes, [0, 1])


@SECTION.broker_check(17, kip(966, "Proposed Changes"))
async def _(server: Server) -> None:
    """A batch is appended unless it gets NOT_ENOUGH_REPLICAS."""
    log = await new_log(server, min_insync_replicas="2")
    part = await log.produce(batch())
    expect_error(
        part, ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS
    )  # since 3.7 no more need be in sync than there are
    after = await log.produce(batch(), acks=1)
    expect_equal("base offset", after.base_offset, 0 if part.error_code else 1)


@SECTION.broker_check(18, documentation("min.insync.replicas"))
async def _(server: Server) -> None:
    """With acks 1 min.insync.replicas does not count."""
    log = await new_log(server, min_insync_replicas="2")
    expect_error(await log.produce(batch(), acks=1), ErrorCode.NONE)


@SECTION.broker_check(19, schema("ProduceResponse", "BaseOffset"))
async def _(server: Server) -> None:
    """The offsets of a batch follow those of the batch before."""
    log = await new_log(server)
    offsets = [await log.append(batch(count)) for count in (2, 3, 1)]
    expect_equal("base offsets", offsets, [0, 2, 5])


@SECTION.broker_check(21, schema("ProduceResponse", "LogAppendTimeMs"))
async def _(server: Server) -> None:
    """With LogAppendTime the append time is the broker's."""
    log = await new_log(server, message_timestamp_type="LogAppendTime")
    part = await log.produce(batch(timestamp=0))
    expect_error(part, ErrorCode.NONE)
    age = abs(time.time() * 1000 - part.log_append_time_ms)  # clocks may differ
    expect(age < _DAY_MS, "the broker's time", part.log_append_time_ms)


@SECTION.broker_check(22, schema("ProduceResponse", "ErrorCode"))
async def _(server: Server) -> None:
    """One partition's error does not keep another from being appended to."""
    log = await new_log(server)
    request = produce_request(log.topic, batch())
    other = PartitionProduceData(index=7, records=batch())
    request.topic_data[0].partition_data.append(other)
    answer = await log.leader.ask(request, log.leader.version_up_to(request, _BY_NAME))
    parts = [part for topic in answer.responses for part in topic.partition_responses]
    expect_equal(
        "errors",
        {part.index: part.error_code for part in parts},
        {0: ErrorCode.NONE, 7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION},
    )


@SECTION.broker_check(23, _CODES)
async def _(server: Server) -> None:
    """What is refused leaves nothing in the log."""
    log = await new_log(server)
    expect_error(await log.produce(_flipped(batch())), ErrorCode.CORRUPT_MESSAGE)
    expect_equal("base offset", await log.append(), 0)
