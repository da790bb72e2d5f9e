"""Fetch: errors, limits and epochs (KIP-74, KIP-320, KIP-516, KIP-595; Java: ReplicaManager)."""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import UUID, uuid4

from kwire.batches import read_batches
from kwire.conform.check import Check, CheckSection, broker_scenario, exchange
from kwire.conform.checks.records.log import (
    CheckedLog,
    batch,
    fetch_partition,
    fetch_request,
    new_log,
)
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.needs import ServerRole
from kwire.conform.server import Server
from kwire.conform.source import SentenceSource, guide, kafka, kip
from kwire.messages.a01_fetch import EpochEndOffset, FetchRequest
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic

_CODES = guide("Error Codes")
_LIMITS = kip(74, "Proposed Changes")
_EPOCHS = kip(320, "Leader Epoch Validation")
_LARGEST = 2**31 - 1
_BY_ID = 13
_AT_ONCE = 5.0
"""Seconds that an answer which need not wait may take on a busy machine."""


async def _topic_id(server: Server, log: CheckedLog) -> UUID:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=log.topic)])
    answer = await server.ask(request)
    topic_id: UUID = answer.topics[0].topic_id
    return topic_id


def _count(records: bytes | None) -> int:
    """Return the number of whole batches."""
    return len(list(read_batches(records or b"")))


def _refused(sentence: str, source: SentenceSource, code: int, **fields: int) -> Check:
    """Return a check of a log with one record, read with these fields of the partition."""

    @broker_scenario(sentence, source)
    async def check(server: Server) -> None:
        log = await new_log(server)
        await log.append()
        expect_error(await log.fetch(**fields), code)

    return check


@broker_scenario("A topic id that does not exist gets UNKNOWN_TOPIC_ID.", kip(516, "Fetch"))
async def _unknown_id(server: Server) -> None:
    (await server.connection()).demand_since(FetchRequest, _BY_ID)
    request = fetch_request("", fetch_partition())
    request.topics[0].topic_id = uuid4()
    expect_error(await server.ask(request), 100)


@broker_scenario("A topic can be read by its id, and the answer has that id.", kip(516, "Fetch"))
async def _by_id(server: Server) -> None:
    (await server.connection()).demand_since(FetchRequest, _BY_ID)
    log = await new_log(server)
    await log.append()
    request = fetch_request("", fetch_partition())
    topic_id = request.topics[0].topic_id = await _topic_id(server, log)
    answer = await log.leader.ask(request)
    expect_error(answer, 0)
    expect_equal("topic id", answer.responses[0].topic_id, topic_id)
    expect_equal("batches", _count(answer.responses[0].partitions[0].records), 1)


@broker_scenario("At the end of the log there are no records and no error.", guide("Fetch API"))
async def _at_end(server: Server) -> None:
    log = await new_log(server)
    offset = await log.append() + 1
    part = await log.fetch(offset)
    expect_error(part, 0)
    expect_equal("batches, high watermark", (_count(part.records), part.high_watermark), (0, 1))


@broker_scenario("An offset within a batch gets that batch whole.", guide("Fetch API"))
async def _within_batch(server: Server) -> None:
    log = await new_log(server)
    await log.append(batch(3))
    part = await log.fetch(2)
    expect_error(part, 0)
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
        expect_error(part, 0)
        expect_equal("batches", _count(part.records), 1)

    return check


def _limit_request(request: FetchRequest) -> None:
    request.max_bytes = 1


def _limit_partition(request: FetchRequest) -> None:
    request.topics[0].partitions[0].partition_max_bytes = 1


@broker_scenario(
    "Beyond max_bytes the partitions after the first with records stay empty.", _LIMITS
)
async def _second_empty(server: Server) -> None:
    log = await new_log(server, partitions=2)
    for index in range(2):
        expect_error(await log.produce(batch(value=bytes(500)), partition=index), 0)
    parts = [fetch_partition(partition=index) for index in range(2)]
    request = fetch_request(log.topic, *parts, max_bytes=1)
    answer = await log.leader.ask(request, log.leader.version_up_to(request, _BY_ID - 1))
    expect_error(answer, 0)
    counts = [_count(part.records) for topic in answer.responses for part in topic.partitions]
    expect_equal("batches", sorted(counts), [0, 1])


@broker_scenario(
    "With fewer than min_bytes the answer comes after max_wait_ms.",
    guide("Fetch API"),
)
async def _waits(server: Server) -> None:
    log = await new_log(server)
    request = fetch_request(log.topic, fetch_partition(), max_wait_ms=400)
    began = time.monotonic()
    await log.leader.ask(request, log.leader.version_up_to(request, _BY_ID - 1))
    waited = time.monotonic() - began
    expect(waited >= 0.35, "an answer after 400 ms", f"one after {waited * 1000:.0f} ms")


@broker_scenario("With min_bytes 0 the answer comes at once.", guide("Fetch API"))
async def _at_once(server: Server) -> None:
    log = await new_log(server)
    request = fetch_request(log.topic, fetch_partition(), max_wait_ms=20_000, min_bytes=0)
    began = time.monotonic()
    await log.leader.ask(request, log.leader.version_up_to(request, _BY_ID - 1))
    waited = time.monotonic() - began
    expect(waited < _AT_ONCE, "an answer at once", f"one after {waited:.1f} s")


@broker_scenario(
    "An error is answered at once, whatever min_bytes is.", kafka("ReplicaManager.fetchMessages")
)
async def _error_at_once(server: Server) -> None:
    log = await new_log(server)
    request = fetch_request(log.topic, fetch_partition(99), max_wait_ms=20_000)
    began = time.monotonic()
    answer = await log.leader.ask(request, log.leader.version_up_to(request, _BY_ID - 1))
    waited = time.monotonic() - began
    expect_error(answer, 1)
    expect(waited < _AT_ONCE, "an answer at once", f"one after {waited:.1f} s")


@broker_scenario(
    "An offset beyond the end of its last fetched epoch gets that end, and no error.",
    kip(595, "Fetch"),
)
async def _diverging(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 12)
    await log.append()
    part = await log.fetch(5, last_fetched_epoch=0, version=12)
    expect_error(part, 0, differs=(1,))
    expect_equal("diverging epoch", part.diverging_epoch, EpochEndOffset(epoch=0, end_offset=1))


@broker_scenario(
    "A last fetched epoch beyond the log's gets OFFSET_OUT_OF_RANGE.",
    kafka("Partition.readRecords"),
)
async def _later_epoch(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 12)
    await log.append()
    expect_error(await log.fetch(1, last_fetched_epoch=50, version=12), 1, differs=(0,))


@broker_scenario("One partition's error does not keep another from being read.", guide("Fetch API"))
async def _one_of_two(server: Server) -> None:
    log = await new_log(server)
    await log.append()
    request = fetch_request(log.topic, fetch_partition(), fetch_partition(partition=7))
    answer = await log.leader.ask(request, log.leader.version_up_to(request, _BY_ID - 1))
    codes = {part.partition_index: part.error_code for part in answer.responses[0].partitions}
    expect_equal("errors", codes, {0: 0, 7: 3})


SECTION = CheckSection(
    "records/fetch",
    "Fetch",
    {
        1: exchange(
            "A topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.",
            _CODES,
            send=lambda server: fetch_request(server.name(), fetch_partition()),
            version=11,
            expect=answers(3),
            role=ServerRole.BROKER,
        ),
        2: _refused(
            "A partition that the topic does not have gets UNKNOWN_TOPIC_OR_PARTITION.",
            _CODES,
            3,
            partition=7,
        ),
        3: _refused("An offset beyond the end gets OFFSET_OUT_OF_RANGE.", _CODES, 1, offset=2),
        4: _refused("A negative offset gets OFFSET_OUT_OF_RANGE.", _CODES, 1, offset=-1),
        5: _refused(
            "A leader epoch beyond the leader's gets UNKNOWN_LEADER_EPOCH.",
            _EPOCHS,
            75,
            current_leader_epoch=_LARGEST,
        ),
        6: _refused(
            "An unknown leader epoch is reported before an offset out of range.",
            _EPOCHS,
            75,
            offset=99,
            current_leader_epoch=_LARGEST,
        ),
        7: _unknown_id,
        8: _by_id,
        9: _at_end,
        10: _within_batch,
        11: _one_batch("max_bytes below the first batch still gets that batch.", _limit_request),
        12: _one_batch(
            "partition_max_bytes below the first batch still gets that batch.", _limit_partition
        ),
        13: _second_empty,
        14: _waits,
        15: _at_once,
        16: _error_at_once,
        17: _diverging,
        18: _one_of_two,
        19: _later_epoch,
    },
)
