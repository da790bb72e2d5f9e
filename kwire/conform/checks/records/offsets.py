"""ListOffsets (KIP-79, KIP-320, KIP-405, KIP-734, KIP-1005; Java: ReplicaManager.fetchOffset)."""

from __future__ import annotations

import time
from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.records.log import CheckedLog, batch, new_log
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource, guide, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

SECTION = CheckSection("records/list-offsets", "ListOffsets: timestamps and epochs")

_LATEST, _EARLIEST, _MAX_TIMESTAMP, _EARLIEST_LOCAL, _LATEST_TIERED = -1, -2, -3, -4, -5
_CODES = guide("Error Codes")
_TIMES = kip(79, "Proposed Changes")
_LOCAL = kip(405, "ListOffsets")
_LARGEST = 2**31 - 1


async def _list(
    log: CheckedLog, *timestamps: int, version: int | None = None, **fields: Any
) -> Any:
    """Look up timestamps in partition 0; return the answer's part for the first."""
    parts = [
        ListOffsetsPartition(**({"partition_index": 0, "timestamp": timestamp} | fields))
        for timestamp in timestamps
    ]
    topics = [ListOffsetsTopic(name=log.topic, partitions=parts)]
    request = ListOffsetsRequest(replica_id=-1, topics=topics, timeout_ms=10_000)
    answer = await log.leader.ask(request, version)
    return answer.topics[0].partitions[0]


def _needs(version: int, timestamp: int, source: SentenceSource) -> Any:
    """Return a check of a timestamp in the version before its first."""

    @broker_scenario(
        f"Before v{version} the timestamp {timestamp} is refused, or looked up like any other.",
        source,
    )
    async def check(server: Server) -> None:
        log = await new_log(server)
        # Kafka refuses it since 3.8; before, it looked for records since 1969
        expect_error(
            await _list(log, timestamp, version=version - 1),
            ErrorCode.UNSUPPORTED_VERSION,
            ErrorCode.NONE,
        )

    return check


@SECTION.broker_refuses(1, _CODES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
async def _(server: Server) -> Any:
    """A topic that does not exist gets"""
    log = CheckedLog(leader=await server.connection(), topic=server.name())
    return await _list(log, _LATEST)


@SECTION.broker_refuses(2, _CODES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
async def _(server: Server) -> Any:
    """A partition that the topic does not have gets"""
    log = await new_log(server)
    return await _list(log, _LATEST, partition_index=7)


@SECTION.broker_check(3, _TIMES)
async def _(server: Server) -> None:
    """-1 stands for the end of the log, -2 for its beginning."""
    log = await new_log(server)
    await log.append(batch(3))
    offsets = [(await _list(log, timestamp)).offset for timestamp in (_LATEST, _EARLIEST)]
    expect_equal("offsets", offsets, [3, 0])


@SECTION.broker_check(4, _TIMES)
async def _(server: Server) -> None:
    """The offset of a timestamp is that of the first record not before it."""
    log = await new_log(server)
    now = int(time.time() * 1000)
    for age in (3000, 2000, 1000):
        await log.append(batch(timestamp=now - age))
    part = await _list(log, now - 2500)
    expect_equal("offset, timestamp", (part.offset, part.timestamp), (1, now - 2000))


@SECTION.broker_check(5, _TIMES)
async def _(server: Server) -> None:
    """A timestamp after the last record's has neither offset nor error."""
    log = await new_log(server)
    now = int(time.time() * 1000)
    await log.append(batch(timestamp=now - 2000))
    part = await _list(log, now - 1000)
    came = (part.error_code, part.offset, part.timestamp)
    expect_equal("error, offset, timestamp", came, (0, -1, -1))


@SECTION.broker_check(6, schema("ListOffsetsRequest", "version 7"))
async def _(server: Server) -> None:
    """-3 stands for the record with the greatest timestamp."""
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 7)
    now = int(time.time() * 1000)
    for age in (2000, 1000, 3000):
        await log.append(batch(timestamp=now - age))
    part = await _list(log, _MAX_TIMESTAMP)
    expect_equal("offset, timestamp", (part.offset, part.timestamp), (1, now - 1000))


@SECTION.broker_check(7, schema("ListOffsetsResponse", "Offset"))
async def _(server: Server) -> None:
    """In an empty log -3 has neither offset nor error."""
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 7)
    part = await _list(log, _MAX_TIMESTAMP)
    expect_equal("error, offset", (part.error_code, part.offset), (0, -1))


@SECTION.broker_check(8, _LOCAL)
async def _(server: Server) -> None:
    """Without tiered storage -4 stands for the beginning of the log."""
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 8)
    await log.append()
    part = await _list(log, _EARLIEST_LOCAL)
    expect_equal("error, offset", (part.error_code, part.offset), (0, 0))


@SECTION.broker_check(9, schema("ListOffsetsResponse", "version 9"))
async def _(server: Server) -> None:
    """Without tiered storage -5 has neither offset nor error."""
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 9)
    await log.append()
    part = await _list(log, _LATEST_TIERED)
    expect_equal("error, offset", (part.error_code, part.offset), (0, -1))


SECTION[10] = _needs(7, _MAX_TIMESTAMP, schema("ListOffsetsRequest", "version 7"))
SECTION[11] = _needs(8, _EARLIEST_LOCAL, _LOCAL)
SECTION[12] = _needs(9, _LATEST_TIERED, schema("ListOffsetsRequest", "version 9"))


@SECTION.broker_refuses(13, kip(320, "Leader Epoch Validation"), ErrorCode.UNKNOWN_LEADER_EPOCH)
async def _(server: Server) -> Any:
    """A leader epoch beyond the leader's gets"""
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 4)
    return await _list(log, _LATEST, current_leader_epoch=_LARGEST)


@SECTION.broker_refuses(
    15, kafka("ReplicaManager.fetchOffset"), ErrorCode.INVALID_REQUEST, differs=(ErrorCode.NONE,)
)
async def _(server: Server) -> Any:
    """A partition that stands twice in a request gets"""
    log = await new_log(server)
    return await _list(log, _LATEST, _LATEST)


@SECTION.broker_refuses(
    16, _CODES, ErrorCode.UNSUPPORTED_VERSION, ErrorCode.INVALID_REQUEST, ErrorCode.NONE
)
async def _(server: Server) -> Any:
    """A negative timestamp without a meaning is refused, or looked up like any other."""
    log = await new_log(server)
    return await _list(log, -99)
