"""A throttle is there while partitions move, and gone afterwards whatever happened."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from kwire.admin import AdminClient
from kwire.admin.errors import ReassignmentChanged, ReassignmentRefused
from kwire.admin.outcomes import Outcomes
from kwire.admin.reassignment.journal import ThrottleJournal
from kwire.admin.reassignment.requests import ThrottleRemoval, fetch_moving_cluster, remove_throttle
from kwire.admin.reassignment.run import (
    MoveProgress,
    MoveState,
    RunOptions,
    check_targets,
    move_states,
    run_reassignment,
)
from kwire.admin.reassignment.throttle import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    RATES,
    ThrottleSetting,
)
from kwire.admin.topic_partition import TopicPartition
from kwire.codec.declaration import Response
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.config_resource import ResourceType
from kwire.net.frames import RequestFrame
from scripted_node import api_versions
from tests.support.admin.scripted_moves import ScriptedMoves, scripted_moves
from tests.support.eventually import eventually
from tests.support.virtual_time import in_virtual_time

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
TARGETS = {A0: (0, 2)}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[ThrottleJournal]:
    with ThrottleJournal("scripted", tmp_path) as opened:
        yield opened


def client(moves: ScriptedMoves, *, timeout: float = 60) -> AdminClient:
    moves.replicas = moves.replicas or {A0: (0, 1), A1: (1, 2)}
    return AdminClient(bootstrap_servers=moves.brokers.addresses, timeout=timeout)


def make_old(moves: ScriptedMoves) -> None:
    """Let the brokers be of Kafka 3.9, which list no fenced brokers."""
    for node in moves.brokers.nodes:
        offered = api_versions(*node.scripts, DescribeCluster=(0, 1))
        node.scripts[ApiVersionsRequest] = partial(_answered, offered)


def _answered(response: Response, request: RequestFrame) -> Response:
    return response


async def run(
    admin: AdminClient, journal: ThrottleJournal, options: RunOptions
) -> Outcomes[TopicPartition, MoveState]:
    now = await fetch_moving_cluster(admin.driver, ["a"])
    return await run_reassignment(admin.driver, journal, now, TARGETS, options)


@in_virtual_time
async def test_the_throttle_comes_before_the_moves_and_goes_after_them(
    journal: ThrottleJournal,
) -> None:
    progress: list[MoveProgress] = []
    async with scripted_moves(3) as moves, client(moves) as admin:
        options = RunOptions(rate=1000, progress=progress.append)
        assert dict(await run(admin, journal, options)) == {A0: MoveState.COMPLETED}
        assert moves.replicas[A0] == (0, 2)
        assert not moves.throttled
        assert set(moves.events[: moves.events.index("move")]) == {"throttle"}
        assert moves.events[-1] == "no throttle"
        assert "no throttle" not in moves.events[: moves.events.index("moved")]
    assert [(now.done, now.copies) for now in progress] == [(0, 1), (1, 0)]
    assert not journal.read()


@in_virtual_time
async def test_partitions_move_on_brokers_that_list_no_fenced_ones(
    journal: ThrottleJournal,
) -> None:
    async with scripted_moves(3) as moves, client(moves) as admin:
        make_old(moves)
        assert dict(await run(admin, journal, RunOptions())) == {A0: MoveState.COMPLETED}


@in_virtual_time
async def test_what_was_set_before_is_set_afterwards(journal: ThrottleJournal) -> None:
    async with scripted_moves(3) as moves, client(moves) as admin:
        moves.config(ResourceType.BROKER, "1")[RATES[0]] = "77"
        moves.config(ResourceType.TOPIC, "a")[LEADER_REPLICAS] = "1:1"
        await run(admin, journal, RunOptions(rate=1000))
        assert moves.config(ResourceType.BROKER, "1") == {RATES[0]: "77"}
        assert moves.config(ResourceType.BROKER, "2") == {}
        assert moves.config(ResourceType.TOPIC, "a") == {LEADER_REPLICAS: "1:1"}


@in_virtual_time
async def test_moves_that_are_refused_leave_no_throttle(journal: ThrottleJournal) -> None:
    async with scripted_moves(3) as moves, client(moves) as admin:
        moves.refused = 39
        outcomes = await run(admin, journal, RunOptions(rate=1000))
        refused = "INVALID_REPLICA_ASSIGNMENT: the replicas of a partition cannot be these"
        assert str(outcomes.failed[A0]) == refused
        assert not moves.throttled


@in_virtual_time
async def test_a_run_that_is_cancelled_takes_the_throttle_off(journal: ThrottleJournal) -> None:
    async with scripted_moves(3) as moves, client(moves) as admin:
        moves.listings = -1
        task = asyncio.create_task(run(admin, journal, RunOptions(rate=1000)))
        await eventually(lambda: moves.moving and moves.throttled)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert moves.moving
        assert not moves.throttled


async def killed_while_it_moves(admin: AdminClient, journal: ThrottleJournal) -> None:
    """Leave what a process leaves that is killed: throttle, moves and journal."""
    await run(admin, journal, RunOptions(rate=1000, wait=False))
    assert journal.read()


@in_virtual_time
async def test_the_next_run_finds_what_a_killed_one_left(journal: ThrottleJournal) -> None:
    removals: list[ThrottleRemoval] = []
    async with scripted_moves(3) as moves, client(moves) as admin:
        moves.listings = 5
        await killed_while_it_moves(admin, journal)
        assert moves.throttled
        options = RunOptions(throttle_removed=removals.append)
        assert dict(await run(admin, journal, options)) == {A0: MoveState.COMPLETED}
        assert not moves.throttled
        assert moves.events.count("move") == 1
    assert {setting.name for setting in removals[0].removed} == {"0", "1", "2", "a"}


@in_virtual_time
async def test_a_rate_that_somebody_changed_meanwhile_is_left(journal: ThrottleJournal) -> None:
    async with scripted_moves(3) as moves, client(moves) as admin:
        moves.listings = 5
        await killed_while_it_moves(admin, journal)
        moves.config(ResourceType.BROKER, "1")[RATES[0]] = "5"
        moves.config(ResourceType.TOPIC, "a")[FOLLOWER_REPLICAS] += ",1:0"
        removal = await remove_throttle(admin.driver, journal)
        assert [(s.name, s.key) for s in removal.changed] == [("1", RATES[0])]
        assert moves.config(ResourceType.BROKER, "1") == {RATES[0]: "5"}
        assert moves.config(ResourceType.TOPIC, "a") == {FOLLOWER_REPLICAS: "1:0"}
    assert not journal.read()


@in_virtual_time
async def test_what_cannot_be_taken_off_stays_in_the_journal(journal: ThrottleJournal) -> None:
    async with scripted_moves(3) as moves, client(moves) as admin:
        moves.listings = 5
        await killed_while_it_moves(admin, journal)
        await moves.brokers.nodes[2].stop()
        async with client(moves, timeout=0.5) as hasty:
            removal = await remove_throttle(hasty.driver, journal)
        assert {setting.name for setting, _ in removal.failed} == {"2"}
        assert {setting.name for setting in journal.read()} == {"2"}
        await moves.brokers.nodes[2].start()
        await remove_throttle(admin.driver, journal)
        assert not moves.throttled


@in_virtual_time
async def test_what_cannot_be_taken_off_stays_in_the_journal_of_the_next_run(
    journal: ThrottleJournal,
) -> None:
    gone = ThrottleSetting(
        type=ResourceType.BROKER, name="9", key=RATES[0], value="1000", before=None
    )
    journal.write([gone])
    async with scripted_moves(3) as moves, client(moves) as admin:
        await run(admin, journal, RunOptions(rate=1000))
        assert not moves.throttled
    assert journal.read() == [gone]


@in_virtual_time
async def test_partitions_that_ended_elsewhere_are_told(journal: ThrottleJournal) -> None:
    async with scripted_moves(3) as moves, client(moves) as admin:
        (error,) = (await move_states(admin.driver, TARGETS)).values()
        assert isinstance(error, ReassignmentChanged)
        assert str(error) == "a-0 is on 0, 1, not on 0, 2"


@in_virtual_time
async def test_a_broker_that_hears_late_of_the_end_is_asked_again(
    journal: ThrottleJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scripted_moves(3) as moves, client(moves) as admin:
        moves.late = 3
        assert dict(await run(admin, journal, RunOptions())) == {A0: MoveState.COMPLETED}
    monkeypatch.setattr("kwire.admin.reassignment.run.SETTLING", 0.1)
    async with scripted_moves(3) as moves, client(moves) as admin:
        moves.late = 1000
        outcomes = await run(admin, journal, RunOptions())
        assert str(outcomes.failed[A0]) == "a-0 is on 0, 2, 1, not on 0, 2"


@in_virtual_time
async def test_what_could_not_end_is_refused_before_anything_is_sent() -> None:
    async with scripted_moves(3) as moves, client(moves) as admin:
        now = await fetch_moving_cluster(admin.driver, ["a"])
        with pytest.raises(ReassignmentRefused, match="no partition a-7"):
            check_targets(now, {TopicPartition("a", 7): (1,)})
        with pytest.raises(ReassignmentRefused, match="no broker 9: its brokers are 0, 1, 2"):
            check_targets(now, {A0: (0, 9)})
        moves.moving = {A0: (0, 2)}
        moves.listings = -1
        now = await fetch_moving_cluster(admin.driver, ["a"])
        check_targets(now, TARGETS)
        with pytest.raises(ReassignmentRefused, match="a-0 moves elsewhere already"):
            check_targets(now, {A0: (1, 2)})
        check_targets(now, {A0: (1, 2)}, additional=True)
