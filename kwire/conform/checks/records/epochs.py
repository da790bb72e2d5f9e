"""OffsetForLeaderEpoch (KIP-101, KIP-279, KIP-320) and DeleteRecords (KIP-107)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.records.log import CheckedLog, batch, new_log
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a21_delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kwire.messages.a23_offset_for_leader_epoch import OffsetForLeaderEpochRequest

SECTION = CheckSection("records/epochs", "Epochs and the beginning of a log")

_CODES = guide("Error Codes")
_FENCING = kip(320, "Leader Epoch Validation")
_TO_HIGH_WATERMARK = -1


async def _delete(log: CheckedLog, offset: int, partition: int = 0) -> Any:
    """Delete records below an offset; return the answer's part for the partition."""
    part = DeleteRecordsPartition(partition_index=partition, offset=offset)
    topics = [DeleteRecordsTopic(name=log.topic, partitions=[part])]
    request = DeleteRecordsRequest(topics=topics, timeout_ms=10_000)
    return (await log.leader.ask(request)).topics[0].partitions[0]


async def _three_records(server: Server) -> CheckedLog:
    log = await new_log(server)
    await log.append(batch(3))
    return log


@SECTION.broker_check(2, schema("OffsetForLeaderEpochResponse", "EndOffset"))
async def _(server: Server) -> None:
    """An epoch beyond the log's has neither end nor error."""
    log = await _three_records(server)
    part = await log.end_of_epoch(await log.leader_epoch() + 9)
    came = (part.error_code, part.leader_epoch, part.end_offset)
    expect_equal("error, epoch, end offset", came, (0, -1, -1))


@SECTION.broker_refuses(3, _CODES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
async def _(server: Server) -> Any:
    """In OffsetForLeaderEpoch a topic that does not exist gets"""
    log = CheckedLog(leader=await server.connection(), topic=server.name())
    return await log.end_of_epoch(0)


@SECTION.broker_refuses(4, _FENCING, ErrorCode.UNKNOWN_LEADER_EPOCH)
async def _(server: Server) -> Any:
    """In OffsetForLeaderEpoch an epoch beyond the leader's gets"""
    log = await _three_records(server)
    log.leader.demand_since(OffsetForLeaderEpochRequest, 2)
    return await log.end_of_epoch(0, current=await log.leader_epoch() + 99)


@SECTION.broker_refuses(
    5,
    _FENCING,
    ErrorCode.FENCED_LEADER_EPOCH,
    differs=(ErrorCode.NONE, ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_LEADER_EPOCH),
)
async def _(server: Server) -> Any:
    """An epoch before the leader's gets"""
    log = await _three_records(server)
    log.leader.demand_since(OffsetForLeaderEpochRequest, 2)
    # a new log's leader has epoch 0, and -1 stands for none: Kafka compares -2 as it is
    return await log.end_of_epoch(0, current=-2)


@SECTION.broker_check(6, kip(107, "Proposed Changes"))
async def _(server: Server) -> None:
    """Records below an offset are deleted, and the log begins with it."""
    log = await _three_records(server)
    part = await _delete(log, 2)
    expect_equal("error, low watermark", (part.error_code, part.low_watermark), (0, 2))
    expect_error(await log.fetch(0), ErrorCode.OFFSET_OUT_OF_RANGE)


@SECTION.broker_check(7, kip(107, "Public Interfaces"))
async def _(server: Server) -> None:
    """-1 deletes up to the high watermark."""
    part = await _delete(await _three_records(server), _TO_HIGH_WATERMARK)
    expect_equal("error, low watermark", (part.error_code, part.low_watermark), (0, 3))


@SECTION.broker_refuses(8, kip(107, "Proposed Changes"), ErrorCode.OFFSET_OUT_OF_RANGE)
async def _(server: Server) -> Any:
    """An offset beyond the high watermark gets"""
    return await _delete(await _three_records(server), 4)


@SECTION.broker_refuses(9, kafka("Partition.deleteRecordsOnLeader"), ErrorCode.OFFSET_OUT_OF_RANGE)
async def _(server: Server) -> Any:
    """A negative offset other than -1 gets"""
    return await _delete(await _three_records(server), -2)


@SECTION.broker_refuses(10, _CODES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
async def _(server: Server) -> Any:
    """DeleteRecords of an unknown topic or partition gets"""
    log = await _three_records(server)
    expect_error(await _delete(log, 1, partition=7), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    log.topic = server.name()
    return await _delete(log, 1)


@SECTION.broker_refuses(11, kafka("Partition.deleteRecordsOnLeader"), ErrorCode.POLICY_VIOLATION)
async def _(server: Server) -> Any:
    """Deleting records of a topic that is only compacted gets"""
    log = await new_log(server, cleanup_policy="compact")
    await log.append(batch(3, key=b"kwire"))
    return await _delete(log, 1)


@SECTION.broker_check(12, kip(107, "Public Interfaces"))
async def _(server: Server) -> None:
    """From v5 on Fetch tells where the log starts, also after records were deleted."""
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 5)
    for _ in range(3):
        await log.append()
    starts = [(await log.fetch()).log_start_offset]
    expect_error(await _delete(log, 2), ErrorCode.NONE)
    starts.append((await log.fetch(2)).log_start_offset)
    expect_equal("start offsets", starts, [0, 2])
