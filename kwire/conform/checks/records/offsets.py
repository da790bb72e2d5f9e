"""ListOffsets (KIP-79, KIP-320, KIP-405, KIP-734, KIP-1005; Java: ReplicaManager.fetchOffset)."""

from __future__ import annotations

import time
from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.records.log import CheckedLog, batch, new_log
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import SentenceSource, guide, kafka, kip
from kwire.messages.a02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

_LATEST, _EARLIEST, _MAX_TIMESTAMP, _EARLIEST_LOCAL, _LATEST_TIERED = -1, -2, -3, -4, -5
_CODES = guide("Error Codes")
_API = guide("ListOffsets API")
_TIMES = kip(79, "Proposed Changes")
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
        expect_error(await _list(log, timestamp, version=version - 1), 35, 0)

    return check


@broker_scenario("A topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.", _CODES)
async def _unknown_topic(server: Server) -> None:
    log = CheckedLog(leader=await server.connection(), topic=server.name())
    expect_error(await _list(log, _LATEST), 3)


@broker_scenario(
    "A partition that the topic does not have gets UNKNOWN_TOPIC_OR_PARTITION.", _CODES
)
async def _unknown_partition(server: Server) -> None:
    log = await new_log(server)
    expect_error(await _list(log, _LATEST, partition_index=7), 3)


@broker_scenario("-1 stands for the end of the log, -2 for its beginning.", _API)
async def _ends(server: Server) -> None:
    log = await new_log(server)
    await log.append(batch(3))
    offsets = [(await _list(log, timestamp)).offset for timestamp in (_LATEST, _EARLIEST)]
    expect_equal("offsets", offsets, [3, 0])


@broker_scenario("The offset of a timestamp is that of the first record not before it.", _TIMES)
async def _by_time(server: Server) -> None:
    log = await new_log(server)
    now = int(time.time() * 1000)
    for age in (3000, 2000, 1000):
        await log.append(batch(timestamp=now - age))
    part = await _list(log, now - 2500)
    expect_equal("offset, timestamp", (part.offset, part.timestamp), (1, now - 2000))


@broker_scenario("A timestamp after the last record's has neither offset nor error.", _TIMES)
async def _after_last(server: Server) -> None:
    log = await new_log(server)
    await log.append(batch(timestamp=1_000))
    part = await _list(log, 2_000)
    came = (part.error_code, part.offset, part.timestamp)
    expect_equal("error, offset, timestamp", came, (0, -1, -1))


@broker_scenario("-3 stands for the record with the greatest timestamp.", kip(734))
async def _max_timestamp(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 7)
    now = int(time.time() * 1000)
    for age in (2000, 1000, 3000):
        await log.append(batch(timestamp=now - age))
    part = await _list(log, _MAX_TIMESTAMP)
    expect_equal("offset, timestamp", (part.offset, part.timestamp), (1, now - 1000))


@broker_scenario("In an empty log -3 has neither offset nor error.", kip(734))
async def _max_of_none(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 7)
    part = await _list(log, _MAX_TIMESTAMP)
    expect_equal("error, offset", (part.error_code, part.offset), (0, -1))


@broker_scenario("Without tiered storage -4 stands for the beginning of the log.", kip(405))
async def _local(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 8)
    await log.append()
    part = await _list(log, _EARLIEST_LOCAL)
    expect_equal("error, offset", (part.error_code, part.offset), (0, 0))


@broker_scenario("Without tiered storage -5 has neither offset nor error.", kip(1005))
async def _tiered(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 9)
    await log.append()
    part = await _list(log, _LATEST_TIERED)
    expect_equal("error, offset", (part.error_code, part.offset), (0, -1))


@broker_scenario(
    "A leader epoch beyond the leader's gets UNKNOWN_LEADER_EPOCH.",
    kip(320, "Leader Epoch Validation"),
)
async def _unknown_epoch(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 4)
    expect_error(await _list(log, _LATEST, current_leader_epoch=_LARGEST), 75)


@broker_scenario(
    "From v4 on the answer has the leader epoch of the offset.",
    kip(320, "ListOffsets"),
)
async def _epoch(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(ListOffsetsRequest, 4)
    await log.append()
    part = await _list(log, _EARLIEST)
    expect_equal("leader epoch", part.leader_epoch, 0)


@broker_scenario(
    "A partition that stands twice in a request gets INVALID_REQUEST.",
    kafka("ReplicaManager.fetchOffset"),
)
async def _twice(server: Server) -> None:
    log = await new_log(server)
    expect_error(await _list(log, _LATEST, _LATEST), 42, differs=(0,))


@broker_scenario(
    "A negative timestamp without a meaning is refused, or looked up like any other.", _CODES
)
async def _no_meaning(server: Server) -> None:
    log = await new_log(server)
    expect_error(await _list(log, -99), 35, 42, 0)


SECTION = CheckSection(
    "records/list-offsets",
    "ListOffsets: timestamps and epochs",
    {
        1: _unknown_topic,
        2: _unknown_partition,
        3: _ends,
        4: _by_time,
        5: _after_last,
        6: _max_timestamp,
        7: _max_of_none,
        8: _local,
        9: _tiered,
        10: _needs(7, _MAX_TIMESTAMP, kip(734)),
        11: _needs(8, _EARLIEST_LOCAL, kip(405)),
        12: _needs(9, _LATEST_TIERED, kip(1005)),
        13: _unknown_epoch,
        14: _epoch,
        15: _twice,
        16: _no_meaning,
    },
)
