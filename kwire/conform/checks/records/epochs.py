"""OffsetForLeaderEpoch (KIP-101, KIP-279, KIP-320) and DeleteRecords (KIP-107)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.records.log import CheckedLog, batch, new_log
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kafka, kip
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


@SECTION.broker_check(1, kip(101))
async def _(server: Server) -> None:
    """The epoch of the log's last record ends at the log's end."""
    part = await (await _three_records(server)).end_of_epoch(0)
    came = (part.error_code, part.leader_epoch, part.end_offset)
    expect_equal("error, epoch, end offset", came, (0, 0, 3))


@SECTION.broker_check(2, kip(279))
async def _(server: Server) -> None:
    """An epoch beyond the log's has neither end nor error."""
    part = await (await _three_records(server)).end_of_epoch(9)
    came = (part.error_code, part.leader_epoch, part.end_offset)
    expect_equal("error, epoch, end offset", came, (0, -1, -1))


@SECTION.broker_check(3, _CODES)
async def _(server: Server) -> None:
    """In OffsetForLeaderEpoch a topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION."""
    log = CheckedLog(leader=await server.connection(), topic=server.name())
    expect_error(await log.end_of_epoch(0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@SECTION.broker_check(4, _FENCING)
async def _(server: Server) -> None:
    """In OffsetForLeaderEpoch an epoch beyond the leader's gets UNKNOWN_LEADER_EPOCH."""
    log = await _three_records(server)
    log.leader.demand_since(OffsetForLeaderEpochRequest, 2)
    expect_error(await log.end_of_epoch(0, current=99), ErrorCode.UNKNOWN_LEADER_EPOCH)


@SECTION.broker_check(5, _FENCING)
async def _(server: Server) -> None:
    """An epoch before the leader's gets FENCED_LEADER_EPOCH."""
    log = await _three_records(server)
    log.leader.demand_since(OffsetForLeaderEpochRequest, 2)
    # a new log's leader has epoch 0, and -1 stands for none: Kafka compares -2 as it is
    part = await log.end_of_epoch(0, current=-2)
    expect_error(
        part,
        ErrorCode.FENCED_LEADER_EPOCH,
        differs=(ErrorCode.NONE, ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_LEADER_EPOCH),
    )


@SECTION.broker_check(6, kip(107))
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


@SECTION.broker_check(8, kip(107))
async def _(server: Server) -> None:
    """An offset beyond the high watermark gets OFFSET_OUT_OF_RANGE."""
    expect_error(await _delete(await _three_records(server), 4), ErrorCode.OFFSET_OUT_OF_RANGE)


@SECTION.broker_check(9, kafka("Partition.deleteRecordsOnLeader"))
async def _(server: Server) -> None:
    """A negative offset other than -1 gets OFFSET_OUT_OF_RANGE."""
    expect_error(await _delete(await _three_records(server), -2), ErrorCode.OFFSET_OUT_OF_RANGE)


@SECTION.broker_check(10, _CODES)
async def _(server: Server) -> None:
    """DeleteRecords of an unknown topic or partition gets UNKNOWN_TOPIC_OR_PARTITION."""
    log = await _three_records(server)
    expect_error(await _delete(log, 1, partition=7), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    log.topic = server.name()
    expect_error(await _delete(log, 1), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@SECTION.broker_check(11, kafka("Partition.deleteRecordsOnLeader"))
async def _(server: Server) -> None:
    """Deleting records of a topic that is only compacted gets POLICY_VIOLATION."""
    log = await new_log(server, cleanup_policy="compact")
    await log.append(batch(3, key=b"kwire"))
    expect_error(await _delete(log, 1), ErrorCode.POLICY_VIOLATION)


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
