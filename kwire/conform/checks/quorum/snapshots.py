"""FetchSnapshot, and what it refuses (KIP-630, KIP-853)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kwire.batches.control_records import read_control_record
from kwire.conform.check import CheckSection
from kwire.conform.expectation import answers, expect, expect_equal
from kwire.conform.metadata_log import fetch_snapshot, latest_snapshot, read_log, read_snapshot
from kwire.conform.quorum import OTHER_CLUSTER, describe_quorum, leader_exchange
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, Skipped, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.errors import FileError
from kwire.logdir.names import OffsetAndEpoch, snapshot_name
from kwire.logdir.snapshots import snapshot_content
from kwire.messages.a59_fetch_snapshot import SnapshotId
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord

SECTION = CheckSection("quorum/kip-853/snapshots", "Snapshots of the metadata log are fetched")

_HANDLING = kip(630, "Fetch Snapshot, Handling")
_NONE = SnapshotId(end_offset=(1 << 40) + 7, epoch=1)
_BOOTSTRAP = SnapshotId(end_offset=0, epoch=0)
SECTION[1] = leader_exchange(
    "FetchSnapshot for another cluster gets",
    _HANDLING,
    send=lambda quorum: fetch_snapshot(quorum, _NONE).replace(cluster_id=OTHER_CLUSTER),
    expect=answers(ErrorCode.INCONSISTENT_CLUSTER_ID),
)
SECTION[2] = leader_exchange(
    "A snapshot that does not exist gets",
    _HANDLING,
    send=lambda quorum: fetch_snapshot(quorum, _NONE),
    expect=answers(ErrorCode.SNAPSHOT_NOT_FOUND),
)
SECTION[3] = leader_exchange(
    "The bootstrap snapshot cannot be fetched.",
    kafka("KafkaRaftClient.handleFetchSnapshotRequest"),
    send=lambda quorum: fetch_snapshot(quorum, _BOOTSTRAP),
    expect=answers(ErrorCode.SNAPSHOT_NOT_FOUND),
)
SECTION[4] = leader_exchange(
    "FetchSnapshot of an earlier epoch gets",
    _HANDLING,
    send=lambda quorum: fetch_snapshot(quorum, _NONE, current_leader_epoch=quorum.epoch - 1),
    expect=answers(ErrorCode.FENCED_LEADER_EPOCH),
)
SECTION[5] = leader_exchange(
    "FetchSnapshot of a later epoch gets",
    _HANDLING,
    send=lambda quorum: fetch_snapshot(quorum, _NONE, current_leader_epoch=quorum.epoch + 1000),
    expect=answers(ErrorCode.UNKNOWN_LEADER_EPOCH),
)
SECTION[6] = leader_exchange(
    "FetchSnapshot of another topic gets",
    _HANDLING,
    send=lambda quorum: fetch_snapshot(quorum, _NONE, "kwire-conform-topic"),
    expect=answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)
SECTION[7] = leader_exchange(
    "FetchSnapshot of another partition gets",
    _HANDLING,
    send=lambda quorum: fetch_snapshot(quorum, _NONE, partition=1),
    expect=answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
)


@SECTION.refuses(
    8,
    _HANDLING,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    role=ServerRole.CONTROLLER,
    needs=Need.TWO_VOTERS,
)
async def _(server: Server) -> Any:
    """A controller that does not lead gives no snapshots."""
    quorum = await describe_quorum(server)
    connection = await server.node(quorum.follower_id)
    return await connection.ask(fetch_snapshot(quorum, _NONE))


@SECTION.refuses(9, _HANDLING, ErrorCode.POSITION_OUT_OF_RANGE, role=ServerRole.CONTROLLER)
async def _(server: Server) -> Any:
    """A position behind a snapshot's end gets"""
    quorum = await describe_quorum(server)
    id = await latest_snapshot(quorum)
    return await server.ask(fetch_snapshot(quorum, id, position=1 << 40))


@SECTION.check(10, kip(630, "Snapshot Format"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A snapshot read piece by piece is whole: a header, records, a footer."""
    quorum = await describe_quorum(server)
    id = await latest_snapshot(quorum)
    data = await read_snapshot(quorum, id)
    name = snapshot_name(OffsetAndEpoch(offset=id.end_offset, epoch=id.epoch))
    try:
        content = snapshot_content(data, Path(name))
    except FileError as error:
        expect(False, "a whole snapshot", error)
        raise
    expect(content.records, "metadata records", "none")


@SECTION.check(11, kip(853, "Snapshots"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """At kraft.version 1 a snapshot begins with the level and the voters."""
    quorum = await describe_quorum(server)
    await quorum.demand_kraft_version(1)
    id = await latest_snapshot(quorum)
    for batch in (await read_log(server)).batches:
        later = batch.is_control and batch.base_offset >= id.end_offset
        messages = [read_control_record(record).message for record in batch.records() if later]
        if any(isinstance(message, KRaftVersionRecord) for message in messages):
            raise Skipped("kraft.version became 1 after the snapshot")
    data = await read_snapshot(quorum, id)
    name = snapshot_name(OffsetAndEpoch(offset=id.end_offset, epoch=id.epoch))
    content = snapshot_content(data, Path(name))
    expect_equal("kraft.version", content.kraft_version, 1)
    expect(content.voters is not None, "a VotersRecord", "none")
