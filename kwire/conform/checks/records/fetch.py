"""Fetch: errors, limits and epochs (KIP-74, KIP-320, KIP-516, KIP-595; Java: ReplicaManager)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from kwire.batches import read_batches
from kwire.conform.check import Check, CheckSection, broker_scenario, exchange, gets
from kwire.conform.checks.records.log import (
    CheckedLog,
    batch,
    fetch_partition,
    fetch_request,
    new_log,
)
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource, ServerRole, guide, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import EpochEndOffset, FetchRequest

SECTION = CheckSection("records/fetch", "Fetch")

_CODES = guide("Error Codes")
_LIMITS = kip(74, "Proposed Changes")
_EPOCHS = kip(320, "Leader Epoch Validation")
_LARGEST = 2**31 - 1
_BY_ID = 13
_AT_ONCE = 5.0
"""Seconds that an answer which need not wait may take on a busy machine."""


def _count(records: bytes | None) -> int:
    """Return the number of whole batches."""
    return len(list(read_batches(records or b"")))


def _refused(sentence: str, source: SentenceSource, code: int, **fields: int) -> Check:
    """Return a check of a log with one record, read with these fields of the partition."""

    @broker_scenario(gets(sentence, code), source)
    async def check(server: Server) -> None:
        log = await new_log(server)
        await log.append()
        expect_error(await log.fetch(**fields), code)

    return check


SECTION[1] = exchange(
    "A topic that does not exist gets",
    _CODES,
    send=lambda server: fetch_request(server.name(), fetch_partition()),
    version=11,
    since=11,
    expect=answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    role=ServerRole.BROKER,
)
SECTION[2] = _refused(
    "A partition that the topic does not have gets",
    _CODES,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    partition=7,
)
SECTION[3] = _refused(
    "An offset beyond the end gets", _CODES, ErrorCode.OFFSET_OUT_OF_RANGE, offset=2
)
SECTION[4] = _refused("A negative offset gets", _CODES, ErrorCode.OFFSET_OUT_OF_RANGE, offset=-1)
SECTION[5] = _refused(
    "A leader epoch beyond the leader's gets",
    _EPOCHS,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    current_leader_epoch=_LARGEST,
)
SECTION[6] = _refused(
    "An unknown leader epoch is reported before an offset out of range.",
    _EPOCHS,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    offset=99,
    current_leader_epoch=_LARGEST,
)


@SECTION.broker_refuses(7, kip(516, "Fetch"), ErrorCode.UNKNOWN_TOPIC_ID)
async def _(server: Server) -> Any:
    """A topic id that does not exist gets"""
    (await server.connection()).demand_since(FetchRequest, _BY_ID)
    request = fetch_request("", fetch_partition())
    request.topics[0].topic_id = uuid4()
    return await server.ask(request)


@SECTION.broker_check(9, kafka("UnifiedLog.read"))
async def _(server: Server) -> None:
    """At the end of the log there are no records and no error."""
    log = await new_log(server)
    offset = await log.append() + 1
    part = await log.fetch(offset)
    expect_error(part, ErrorCode.NONE)
    expect_equal("batches, high watermark", (_count(part.records), part.high_watermark), (0, 1))


@SECTION.broker_check(10, kafka("UnifiedLog.read"))
async def _(server: Server) -> None:
    """An offset within a batch gets that batch whole."""
    log = await new_log(server)
    await log.append(batch(3))
    part = await log.fetch(2)
    expect_error(part, ErrorCode.NONE)
    offsets = [found.base_offset for found in read_batches(part.records or b"")]
    expect_equal("base offsets", offsets, [0])


def _one_batch(sentence: str, limit: Callable[[FetchRequest], None]) -> Check:
    @broker_scenario(sentence, _LIMITS)
    async def check(server: Server) -> None:
        log = await new_log(server)
        for _ in range(2):
            await log.append(batch(value=bytes(500)))
        request = fetch_request(log.topic, fetch_partition())
        limit(request)
        version = log.leader.version_up_to(request, _BY_ID - 1)
        part = (await log.leader.ask(request, version)).responses[0].partitions[0]
        expect_error(part, ErrorCode.NONE)
        expect_equal("batches", _count(part.records), 1)

    return check


def _limit_request(request: FetchRequest) -> None:
    request.max_bytes = 1


SECTION[11] = _one_batch("max_bytes below the first batch still gets that batch.", _limit_request)


def _limit_partition(request: FetchRequest) -> None:
    request.topics[0].partitions[0].partition_max_bytes = 1


SECTION[12] = _one_batch(
    "partition_max_bytes below the first batch still gets that batch.", _limit_partition
)


@SECTION.broker_check(13, _LIMITS)
async def _(server: Server) -> None:
    """Beyond max_bytes the partitions after the first with records stay empty."""
    log = await new_log(server, partitions=2)
    for index in range(2):
        expect_error(await log.produce(batch(value=bytes(500)), partition=index), ErrorCode.NONE)
    parts = [fetch_partition(partition=index) for index in range(2)]
    request = fetch_request(log.topic, *parts, max_bytes=1)
    answer = await log.leader.ask(request, log.leader.version_up_to(request, _BY_ID - 1))
    expect_error(answer, ErrorCode.NONE)
    counts = [_count(part.records) for topic in answer.responses for part in topic.partitions]
    expect_equal("batches", counts, [1, 0])


@SECTION.broker_check(14, schema("FetchRequest", "MaxWaitMs"))
async def _(server: Server) -> None:
    """With fewer than min_bytes the answer comes after max_wait_ms."""
    log = await new_log(server)
    request = fetch_request(log.topic, fetch_partition(), max_wait_ms=400)
    began = time.monotonic()
    await log.leader.ask(request, log.leader.version_up_to(request, _BY_ID - 1))
    waited = time.monotonic() - began
    expect(waited >= 0.35, "an answer after 400 ms", f"one after {waited * 1000:.0f} ms")


@SECTION.broker_check(15, schema("FetchRequest", "MinBytes"))
async def _(server: Server) -> None:
    """With min_bytes 0 the answer comes at once."""
    log = await new_log(server)
    await _answered_at_once(server, log, fetch_request(log.topic, fetch_partition(), min_bytes=0))


@SECTION.broker_check(16, kafka("ReplicaManager.fetchMessages"))
async def _(server: Server) -> None:
    """An error is answered at once, whatever min_bytes is."""
    log = await new_log(server)
    answer = await _answered_at_once(server, log, fetch_request(log.topic, fetch_partition(99)))
    expect_error(answer, ErrorCode.OFFSET_OUT_OF_RANGE)


async def _answered_at_once(server: Server, log: CheckedLog, request: FetchRequest) -> Any:
    """Return the answer to a request that could wait for four times as long."""
    at_once = _AT_ONCE * server.target.slowness
    request = request.replace(max_wait_ms=round(4000 * at_once))
    began = time.monotonic()
    answer = await log.leader.ask(request, log.leader.version_up_to(request, _BY_ID - 1))
    waited = time.monotonic() - began
    expect(waited < at_once, "an answer at once", f"one after {waited:.1f} s")
    return answer


@SECTION.broker_check(17, kip(595, "Fetch"))
async def _(server: Server) -> None:
    """An offset beyond the end of its last fetched epoch gets that end, and no error."""
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 12)
    await log.append()
    epoch = await log.leader_epoch()
    part = await log.fetch(5, last_fetched_epoch=epoch, version=12)
    expect_error(part, ErrorCode.NONE, differs=(ErrorCode.OFFSET_OUT_OF_RANGE,))
    expect_equal("diverging epoch", part.diverging_epoch, EpochEndOffset(epoch=epoch, end_offset=1))


@SECTION.broker_check(18, schema("FetchResponse", "ErrorCode"))
async def _(server: Server) -> None:
    """One partition's error does not keep another from being read."""
    log = await new_log(server)
    await log.append()
    request = fetch_request(log.topic, fetch_partition(), fetch_partition(partition=7))
    answer = await log.leader.ask(request, log.leader.version_up_to(request, _BY_ID - 1))
    codes = {part.partition_index: part.error_code for part in answer.responses[0].partitions}
    expect_equal("errors", codes, {0: ErrorCode.NONE, 7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})


@SECTION.broker_refuses(
    19, kafka("Partition.readRecords"), ErrorCode.OFFSET_OUT_OF_RANGE, differs=(ErrorCode.NONE,)
)
async def _(server: Server) -> Any:
    """A last fetched epoch beyond the log's gets"""
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 12)
    await log.append()
    return await log.fetch(1, last_fetched_epoch=50, version=12)
