"""OffsetForLeaderEpoch (KIP-101, KIP-279, KIP-320) and DeleteRecords (KIP-107)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.records.log import CheckedLog, batch, new_log
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import guide, kafka, kip
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a21_delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kwire.messages.a23_offset_for_leader_epoch import OffsetForLeaderEpochRequest

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


@broker_scenario("The epoch of the log's last record ends at the log's end.", kip(101))
async def _current(server: Server) -> None:
    part = await (await _three_records(server)).end_of_epoch(0)
    came = (part.error_code, part.leader_epoch, part.end_offset)
    expect_equal("error, epoch, end offset", came, (0, 0, 3))


@broker_scenario("An epoch beyond the log's has neither end nor error.", kip(279))
async def _later(server: Server) -> None:
    part = await (await _three_records(server)).end_of_epoch(9)
    came = (part.error_code, part.leader_epoch, part.end_offset)
    expect_equal("error, epoch, end offset", came, (0, -1, -1))


@broker_scenario(
    "In OffsetForLeaderEpoch a topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.", _CODES
)
async def _epoch_of_none(server: Server) -> None:
    log = CheckedLog(leader=await server.connection(), topic=server.name())
    expect_error(await log.end_of_epoch(0), 3)


@broker_scenario(
    "In OffsetForLeaderEpoch an epoch beyond the leader's gets UNKNOWN_LEADER_EPOCH.", _FENCING
)
async def _unknown_epoch(server: Server) -> None:
    log = await _three_records(server)
    log.leader.demand_since(OffsetForLeaderEpochRequest, 2)
    expect_error(await log.end_of_epoch(0, current=99), 75)


@broker_scenario("An epoch before the leader's gets FENCED_LEADER_EPOCH.", _FENCING)
async def _fenced(server: Server) -> None:
    log = await _three_records(server)
    log.leader.demand_since(OffsetForLeaderEpochRequest, 2)
    # a new log's leader has epoch 0, and -1 stands for none: Kafka compares -2 as it is
    part = await log.end_of_epoch(0, current=-2)
    expect_error(part, 74, differs=(0, 42, 75))


@broker_scenario("Records below an offset are deleted, and the log begins with it.", kip(107))
async def _deleted(server: Server) -> None:
    log = await _three_records(server)
    part = await _delete(log, 2)
    expect_equal("error, low watermark", (part.error_code, part.low_watermark), (0, 2))
    expect_error(await log.fetch(0), 1)


@broker_scenario("-1 deletes up to the high watermark.", kip(107, "Public Interfaces"))
async def _deleted_all(server: Server) -> None:
    part = await _delete(await _three_records(server), _TO_HIGH_WATERMARK)
    expect_equal("error, low watermark", (part.error_code, part.low_watermark), (0, 3))


@broker_scenario("An offset beyond the high watermark gets OFFSET_OUT_OF_RANGE.", kip(107))
async def _beyond(server: Server) -> None:
    expect_error(await _delete(await _three_records(server), 4), 1)


@broker_scenario(
    "A negative offset other than -1 gets OFFSET_OUT_OF_RANGE.",
    kafka("Partition.deleteRecordsOnLeader"),
)
async def _negative(server: Server) -> None:
    expect_error(await _delete(await _three_records(server), -2), 1)


@broker_scenario(
    "DeleteRecords of an unknown topic or partition gets UNKNOWN_TOPIC_OR_PARTITION.", _CODES
)
async def _delete_of_none(server: Server) -> None:
    log = await _three_records(server)
    expect_error(await _delete(log, 1, partition=7), 3)
    log.topic = server.name()
    expect_error(await _delete(log, 1), 3)


@broker_scenario(
    "Deleting records of a topic that is only compacted gets POLICY_VIOLATION.",
    kafka("Partition.deleteRecordsOnLeader"),
)
async def _compacted(server: Server) -> None:
    log = await new_log(server, cleanup_policy="compact")
    await log.append(batch(3, key=b"kwire"))
    expect_error(await _delete(log, 1), 44)


@broker_scenario(
    "From v5 on Fetch tells where the log starts, also after records were deleted.",
    kip(107, "Public Interfaces"),
)
async def _log_start(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 5)
    for _ in range(3):
        await log.append()
    starts = [(await log.fetch()).log_start_offset]
    expect_error(await _delete(log, 2), 0)
    starts.append((await log.fetch(2)).log_start_offset)
    expect_equal("start offsets", starts, [0, 2])


SECTION = CheckSection(
    "records/epochs",
    "Epochs and the beginning of a log",
    {
        1: _current,
        2: _later,
        3: _epoch_of_none,
        4: _unknown_epoch,
        5: _fenced,
        6: _deleted,
        7: _deleted_all,
        8: _beyond,
        9: _negative,
        10: _delete_of_none,
        11: _compacted,
        12: _log_start,
    },
)
