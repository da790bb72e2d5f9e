"""FetchSnapshot, and what it refuses (KIP-630, KIP-853)."""

from __future__ import annotations

from pathlib import Path

from kwire.conform.check import CheckSection, scenario
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.metadata_log import fetch_snapshot, latest_snapshot, read_snapshot
from kwire.conform.needs import Need, ServerRole
from kwire.conform.quorum import OTHER_CLUSTER, describe_quorum, leader_exchange
from kwire.conform.server import Server
from kwire.conform.source import kip
from kwire.errors import FileError
from kwire.logdir.names import OffsetAndEpoch, snapshot_name
from kwire.logdir.snapshots import snapshot_content
from kwire.messages.a59_fetch_snapshot import SnapshotId

_HANDLING = kip(630, "Fetch Snapshot, Handling")
_NONE = SnapshotId(end_offset=(1 << 40) + 7, epoch=1)
_BOOTSTRAP = SnapshotId(end_offset=0, epoch=0)


@scenario(
    "A snapshot read piece by piece is whole: a header, records, a footer.",
    kip(630, "Snapshot Format"),
    role=ServerRole.CONTROLLER,
)
async def _whole(server: Server) -> None:
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


@scenario(
    "At kraft.version 1 a snapshot begins with the level and the voters.",
    kip(853, "Snapshots"),
    role=ServerRole.CONTROLLER,
)
async def _voters(server: Server) -> None:
    quorum = await describe_quorum(server)
    await quorum.demand_kraft_version(1)
    id = await latest_snapshot(quorum)
    data = await read_snapshot(quorum, id)
    name = snapshot_name(OffsetAndEpoch(offset=id.end_offset, epoch=id.epoch))
    content = snapshot_content(data, Path(name))
    expect_equal("kraft.version", content.kraft_version, 1)
    expect(content.voters is not None, "a VotersRecord", "none")


@scenario(
    "A position behind a snapshot's end gets POSITION_OUT_OF_RANGE.",
    _HANDLING,
    role=ServerRole.CONTROLLER,
)
async def _beyond(server: Server) -> None:
    quorum = await describe_quorum(server)
    id = await latest_snapshot(quorum)
    expect_error(await server.ask(fetch_snapshot(quorum, id, position=1 << 40)), 99)


@scenario(
    "A controller that does not lead gives no snapshots.",
    _HANDLING,
    role=ServerRole.CONTROLLER,
    needs=Need.TWO_VOTERS,
)
async def _at_a_follower(server: Server) -> None:
    quorum = await describe_quorum(server)
    connection = await server.node(quorum.follower_id)
    expect_error(await connection.ask(fetch_snapshot(quorum, _NONE)), 6)


SECTION = CheckSection(
    "quorum/kip-853/snapshots",
    "Snapshots of the metadata log are fetched",
    {
        1: leader_exchange(
            "FetchSnapshot for another cluster gets INCONSISTENT_CLUSTER_ID.",
            _HANDLING,
            send=lambda quorum: fetch_snapshot(quorum, _NONE).replace(cluster_id=OTHER_CLUSTER),
            expect=answers(104),
        ),
        2: leader_exchange(
            "A snapshot that does not exist gets SNAPSHOT_NOT_FOUND.",
            _HANDLING,
            send=lambda quorum: fetch_snapshot(quorum, _NONE),
            expect=answers(98),
        ),
        3: leader_exchange(
            "The bootstrap snapshot cannot be fetched.",
            kip(853, "Bootstrap snapshot"),
            send=lambda quorum: fetch_snapshot(quorum, _BOOTSTRAP),
            expect=answers(98),
        ),
        4: leader_exchange(
            "FetchSnapshot of an earlier epoch gets FENCED_LEADER_EPOCH.",
            _HANDLING,
            send=lambda quorum: fetch_snapshot(
                quorum, _NONE, current_leader_epoch=quorum.epoch - 1
            ),
            expect=answers(74),
        ),
        5: leader_exchange(
            "FetchSnapshot of a later epoch gets UNKNOWN_LEADER_EPOCH.",
            _HANDLING,
            send=lambda quorum: fetch_snapshot(
                quorum, _NONE, current_leader_epoch=quorum.epoch + 1000
            ),
            expect=answers(75),
        ),
        6: leader_exchange(
            "FetchSnapshot of another topic gets UNKNOWN_TOPIC_OR_PARTITION.",
            _HANDLING,
            send=lambda quorum: fetch_snapshot(quorum, _NONE, "kwire-conform-topic"),
            expect=answers(3),
        ),
        7: leader_exchange(
            "FetchSnapshot of another partition gets UNKNOWN_TOPIC_OR_PARTITION.",
            _HANDLING,
            send=lambda quorum: fetch_snapshot(quorum, _NONE, partition=1),
            expect=answers(3),
        ),
        8: _at_a_follower,
        9: _beyond,
        10: _whole,
        11: _voters,
    },
)
