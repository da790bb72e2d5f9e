"""Runs of checks against scripted nodes: deaths, restarts, silence, limits, families, clean-up."""

import asyncio
from collections.abc import Iterator

import pytest

from kwire.codec.declaration import Request
from kwire.conform.check import Check, CheckSection, Member, family, scenario
from kwire.conform.expectation import answers, expect, expect_error, judge
from kwire.conform.reaction import ConnectionState
from kwire.conform.registry import all_checks
from kwire.conform.report.document import check_part
from kwire.conform.report.text import hex_lines
from kwire.conform.result import CheckResult
from kwire.conform.run_check import run_check
from kwire.conform.runner import MOST_REPEATED, TOGETHER, run_checks
from kwire.conform.server import Server
from kwire.conform.suite import SuiteOptions, run_suite
from kwire.conform.target import examine_target
from kwire.conform.vocabulary import ConformanceVerdict as V
from kwire.conform.vocabulary import Informed, Need, Skipped, guide
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.a16_list_groups import ListGroupsRequest, ListGroupsResponse
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.net.address import Address
from scripted_node import SILENCE, Raw, Script, ScriptedNode, SlowScript
from tests.support.conform.mortal_node import MortalNode, target_of
from tests.support.virtual_time import in_virtual_time

SOURCE = guide("a test")
ALIVE: dict[type[Request], Script] = {
    SaslHandshakeRequest: lambda frame: SaslHandshakeResponse(mechanisms=("PLAIN",)),
    MetadataRequest: lambda frame: MetadataResponse(brokers=[], topics=[]),
}


@scenario("A handshake is answered.", SOURCE)
async def harmless(server: Server) -> None:
    expect_error(await server.ask(SaslHandshakeRequest(mechanism="PLAIN")), 0)


@scenario("Groups are listed.", SOURCE)
async def deadly(server: Server) -> None:
    await server.ask(ListGroupsRequest())


@scenario("A connection is closed.", SOURCE)
async def suspicious(server: Server) -> None:
    server.allowed_ends = frozenset({ConnectionState.CLOSED})
    await (await server.connection()).send(b"\0\0\0\x02\0\0")


def section(*checks: Check) -> list[Check]:
    declared = CheckSection("test/runner", "Of a test")
    for number, check in enumerate(checks, 1):
        declared[number] = check
    return list(declared)


def verdicts(results: Iterator[CheckResult]) -> list[V]:
    return [result.verdict for result in results]


@pytest.mark.usefixtures("impatient")
async def test_the_check_of_which_a_server_dies_is_found_by_repeating_each_alone() -> None:
    async with MortalNode(ALIVE, ListGroupsRequest) as node:
        checks = section(harmless, deadly, harmless, suspicious)
        run = await run_checks(checks, await target_of(node), restart=node.restart)
        assert verdicts(iter(run)) == [V.PASS, V.DIED, V.PASS, V.PASS]
        assert "repeated alone" in run.results[1].reason
        # Once for all suspects, once for the one of which it died again.
        assert (node.restarts, run.problem, run.suspects) == (2, "", ())


@pytest.mark.usefixtures("impatient")
async def test_without_a_restart_nobody_is_blamed_for_anothers_deed() -> None:
    async with MortalNode(ALIVE, ListGroupsRequest) as node:
        run = await run_checks(section(harmless, deadly, harmless), await target_of(node))
    assert sorted(run.suspects) == ["test/runner/1", "test/runner/2", "test/runner/3"]
    assert V.DIED not in run.counts
    assert run.problem == "the server died in the course of 3 checks"


@in_virtual_time
async def test_a_suspect_holds_up_nobody_while_the_server_answers() -> None:
    @scenario("It takes a while.", SOURCE)
    async def slow(server: Server) -> None:
        await asyncio.sleep(1.0)

    ended: list[str] = []
    checks = section(slow, suspicious, *[harmless] * TOGETHER)
    async with ScriptedNode(ALIVE) as node:
        await run_checks(checks, await target_of(node), on_result=lambda r: ended.append(r.id))
    assert ended[-1] == "test/runner/1"


@pytest.mark.usefixtures("impatient")
async def test_a_server_that_dies_a_moment_after_it_answered_has_its_suspect() -> None:
    async with ScriptedNode(ALIVE) as node:

        @scenario("Another dies of what ended before.", SOURCE)
        async def waits(server: Server) -> None:
            await asyncio.sleep(0.3)  # the server has been seen to answer by then
            await node.stop()
            await server.ask(SaslHandshakeRequest(mechanism="PLAIN"))

        run = await run_checks(section(suspicious, waits), await target_of(node))
    assert set(run.suspects) == {"test/runner/1", "test/runner/2"}


@pytest.mark.usefixtures("impatient")
async def test_a_single_suspect_has_died_and_what_follows_is_skipped() -> None:
    @scenario("Alone.", SOURCE, alone=True)
    async def alone(server: Server) -> None:
        await server.ask(ListGroupsRequest())

    @scenario("Behind it.", SOURCE, alone=True)
    async def behind(server: Server) -> None:
        raise AssertionError

    async with MortalNode(ALIVE, ListGroupsRequest) as node:
        run = await run_checks(section(harmless, alone, behind), await target_of(node))
    assert verdicts(iter(run)) == [V.PASS, V.DIED, V.SKIPPED]
    assert run.results[2].reason == "the server died of test/runner/2"


@pytest.mark.usefixtures("impatient")
async def test_after_a_restart_no_other_cluster_is_spoilt() -> None:
    spoilt: list[str | None] = []

    @scenario("It spoils.", SOURCE, needs=Need.THROW_AWAY, alone=True)
    async def spoils(server: Server) -> None:
        spoilt.append(server.target.cluster_id)

    async with MortalNode(ALIVE, ListGroupsRequest) as node:
        node.scripts[MetadataRequest] = lambda frame: MetadataResponse(
            cluster_id=f"cluster-{node.restarts}"
        )
        checks = section(deadly, spoils)
        run = await run_checks(checks, await target_of(node), restart=node.restart)
    assert (verdicts(iter(run)), spoilt) == ([V.DIED, V.SKIPPED], [])


@pytest.mark.usefixtures("impatient")
async def test_a_death_that_does_not_repeat_itself_is_told() -> None:
    async with MortalNode(ALIVE, ListGroupsRequest) as node:

        async def restart_harmless() -> None:
            node.scripts[ListGroupsRequest] = lambda frame: ListGroupsResponse(groups=[])
            await node.restart()

        checks = section(deadly, harmless)
        run = await run_checks(checks, await target_of(node), restart=restart_harmless)
    assert verdicts(iter(run)) == [V.PASS, V.PASS]
    assert "of none when each was repeated" in run.problem
    assert set(run.suspects) == {"test/runner/1", "test/runner/2"}


@pytest.mark.usefixtures("impatient")
async def test_a_restart_that_fails_ends_the_run() -> None:
    async def fail() -> None:
        raise OSError("no such program")

    async with MortalNode(ALIVE, ListGroupsRequest) as node:
        run = await run_checks(section(deadly), await target_of(node), restart=fail)
    assert run.problem == "the server cannot be started anew: no such program"


@pytest.mark.usefixtures("impatient")
@in_virtual_time
async def test_a_server_that_answers_nothing_costs_no_more_than_the_limit() -> None:
    scripts: dict[type[Request], Script] = {**ALIVE, ListGroupsRequest: lambda frame: SILENCE}
    async with ScriptedNode(scripts) as node:
        target = await target_of(node)
        began = asyncio.get_running_loop().time()
        run = await run_checks(section(harmless, deadly), target, limit=0.5)
        assert asyncio.get_running_loop().time() - began < 0.6
    assert verdicts(iter(run)) == [V.PASS, V.SKIPPED]
    assert run.problem == run.results[1].reason == "the time limit of 0.5 s is over"


@pytest.mark.usefixtures("impatient")
async def test_both_verdicts_count() -> None:
    """An answer as it should be, and a connection that is then ended without need."""

    def last_words(frame: object) -> Raw:
        return Raw(data=b"\0\0\0\x0a\0\0\0\x01\0\0\0\0\0\0", hang_up=True)

    async with ScriptedNode({**ALIVE, SaslHandshakeRequest: last_words}) as node:
        (check,) = section(harmless)
        result = await run_check(check, await target_of(node))
    assert (result.answer, result.connection_verdict) == (V.PASS, V.FAIL)
    assert (result.verdict, result.connection) == (V.FAIL, ConnectionState.CLOSED)


@pytest.mark.parametrize("id", ["records/produce/3", "records/fetch/1"])
async def test_an_api_that_is_not_offered_is_not_asked_for_a_fixed_version(id: str) -> None:
    async with ScriptedNode(ALIVE) as node:
        (check,) = (check for check in all_checks() if check.id == id)
        result = await run_check(check, await target_of(node))
    assert result.verdict is V.SKIPPED
    assert "the server does not offer" in result.reason


async def test_whatever_a_check_trips_over_is_a_verdict() -> None:
    def ending(error: Exception) -> Check:
        @scenario("It ends.", SOURCE)
        async def run(server: Server) -> None:
            raise error

        return run

    errors = [IndexError("no such element"), Skipped("why"), Informed("so"), OSError("gone")]
    async with ScriptedNode(ALIVE) as node:
        target = await target_of(node)
        results = [await run_check(check, target) for check in section(*map(ending, errors))]
    assert verdicts(iter(results)) == [V.FAIL, V.SKIPPED, V.INFO, V.FAIL]
    assert results[0].came == "an answer on which the check fails: IndexError: no such element"
    assert [result.reason for result in results[1:3]] == ["why", "so"]


async def test_an_answer_that_lacks_what_a_check_takes_out_of_it_is_told() -> None:
    @scenario("It has a topic.", SOURCE)
    async def index(server: Server) -> None:
        (await server.ask(MetadataRequest(topics=[]))).topics[0]

    @scenario("It has a topic.", SOURCE)
    async def first(server: Server) -> None:
        next(iter((await server.ask(MetadataRequest(topics=[]))).topics))

    async with ScriptedNode(ALIVE) as node:
        target = await target_of(node)
        results = [await run_check(check, target) for check in section(index, first)]
    assert [result.expected for result in results] == ["an answer with all asked for"] * 2
    assert all("MetadataResponse with no error, which lacks" in result.came for result in results)


async def test_a_family_is_as_good_as_the_worst_of_its_members() -> None:
    def member(name: str, holds: bool) -> Member:
        async def run(server: Server) -> None:
            await server.connection()
            expect(holds, "good", "bad")

        return Member(id=name, run=run)

    def members(server: Server) -> Iterator[Member]:
        yield member("Fetch-v1", True)
        yield member("Fetch-v2", False)
        yield member("Fetch-v3", False)

    async with ScriptedNode(ALIVE) as node:
        (check,) = section(family("All are good.", SOURCE, members))
        result = await run_check(check, await target_of(node))
    assert [part.id for part in result.members] == [f"test/runner/1/Fetch-v{n}" for n in (1, 2, 3)]
    assert (result.verdict, result.came) == (V.FAIL, "Fetch-v2: bad")
    assert result.reason == "2 of 3: Fetch-v2, Fetch-v3"


async def test_what_cannot_be_removed_is_told() -> None:
    @scenario("Something is created.", SOURCE)
    async def creates(server: Server) -> None:
        async def refuse() -> None:
            raise OSError("the disk is full")

        server.remove_afterwards("topic kwire-conform-1", refuse)

    async with ScriptedNode(ALIVE) as node:
        (check,) = section(creates)
        result = await run_check(check, await target_of(node))
    assert result.left_behind == ("topic kwire-conform-1: the disk is full",)


async def test_a_run_that_is_cancelled_removes_what_its_checks_created() -> None:
    removed, created = [], asyncio.Event()

    @scenario("It takes long.", SOURCE)
    async def long(server: Server) -> None:
        async def remove() -> None:
            await asyncio.sleep(0.01)
            removed.append("topic")

        server.remove_afterwards("topic", remove)
        created.set()
        await asyncio.sleep(60)

    async with ScriptedNode(ALIVE) as node:
        run = asyncio.create_task(run_checks(section(long, long), await target_of(node)))
        await created.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert removed == ["topic", "topic"]


async def test_the_bytes_of_a_login_are_not_kept_and_a_probe_is_told_apart() -> None:
    async with ScriptedNode(ALIVE) as node:

        @scenario("Something secret is said.", SOURCE)
        async def secret(server: Server) -> None:
            with server.transcript.private():
                await server.ask(SaslHandshakeRequest(mechanism="PLAIN"))

        (check,) = section(secret)
        result = await run_check(check, await target_of(node))
    sent, came, *probe = result.chunks
    assert (sent.data, came.data) == (b"", b"")
    assert sent.size > 0
    assert [chunk.is_probe for chunk in (sent, came, *probe)] == [False, False, True, True]


async def test_a_size_of_no_frame_is_what_came() -> None:
    def http(frame: object) -> Raw:
        return Raw(data=b"HTTP/1.1 400 Bad Request\r\n\r\n", hang_up=True)

    @scenario("A coordinator is found.", SOURCE)
    async def asks(server: Server) -> None:
        connection = await server.connection()
        judge(await connection.exchange(FindCoordinatorRequest(coordinator_keys=("a",))), answers())

    async with ScriptedNode({**ALIVE, FindCoordinatorRequest: http}) as node:
        (check,) = section(asks)
        result = await run_check(check, await target_of(node))
    assert (result.verdict, result.came) == (V.FAIL, "HTTP, not Kafka's protocol")
    assert result.connection is ConnectionState.CLOSED


@scenario("Groups are listed soon.", SOURCE)
async def impatient_list(server: Server) -> None:
    judge(await (await server.connection()).exchange(ListGroupsRequest()), answers(0))


def busy(most: int, seconds: float) -> SlowScript:
    """Return a script that answers late as long as more than so many requests are under way."""
    under_way = 0

    async def answer(frame: object) -> ListGroupsResponse:
        nonlocal under_way
        under_way += 1
        await asyncio.sleep(seconds if under_way > most else 0.01)
        under_way -= 1
        return ListGroupsResponse()

    return answer


@in_virtual_time
async def test_a_check_that_was_silent_among_others_is_repeated_alone() -> None:
    async with ScriptedNode(ALIVE) as node:
        node.slow_scripts[ListGroupsRequest] = busy(0, 4.0)
        run = await run_checks(section(impatient_list, harmless), await target_of(node))
    assert verdicts(iter(run)) == [V.PASS, V.PASS]
    assert run.results[0].reason == "repeated, with a patience of 10 s"


@in_virtual_time
async def test_what_stays_silent_fails_with_how_long_it_was_waited_and_after_what() -> None:
    async with ScriptedNode({**ALIVE, ListGroupsRequest: lambda frame: SILENCE}) as node:
        run = await run_checks(section(impatient_list), await target_of(node))
    (result,) = run.results
    assert result.verdict is V.FAIL
    size = next(chunk.size for chunk in result.chunks if chunk.sent)
    assert result.came == (f"no answer within 10 s after {size} bytes, the connection stays open")
    assert "< 127.0.0.1" in (line := list(hex_lines(check_part(result)))[1])
    assert line.endswith("nothing within 10 s")


@in_virtual_time
async def test_where_everything_is_silent_nothing_is_repeated_for_ever() -> None:
    many = section(*[impatient_list] * (MOST_REPEATED + 4))
    async with ScriptedNode({**ALIVE, ListGroupsRequest: lambda frame: SILENCE}) as node:
        run = await run_checks(many, await target_of(node))
    assert run.counts[V.FAIL] == len(many)
    assert sum("repeated" in result.reason for result in run) == MOST_REPEATED


@in_virtual_time
async def test_a_slow_server_gets_the_time_that_it_needs() -> None:
    async def late(frame: object) -> MetadataResponse:
        await asyncio.sleep(0.7)
        return MetadataResponse(brokers=[], topics=[])

    async with ScriptedNode(ALIVE) as node:
        node.slow_scripts[MetadataRequest] = late
        node.slow_scripts[ListGroupsRequest] = busy(0, 6.0)
        target = await examine_target(Address.parse(node.address))
        assert target.slowness == pytest.approx(3.5, abs=0.1)
        run = await run_checks(section(impatient_list), target)
        assert (run.results[0].verdict, run.results[0].reason) == (V.PASS, "")
        given = await run_suite(node.address, SuiteOptions(ids=("start",), patience=20.0))
    assert given.target.slowness == 10.0


@in_virtual_time
async def test_a_slow_server_is_repeated_as_long_as_that_helps() -> None:
    many = section(*[impatient_list] * (MOST_REPEATED + 4))
    async with ScriptedNode(ALIVE) as node:
        node.slow_scripts[ListGroupsRequest] = busy(0, 4.0)
        run = await run_checks(many, await target_of(node))
    assert run.counts[V.PASS] == len(many)
    assert all(result.reason.startswith("repeated, with") for result in run)


@in_virtual_time
async def test_what_does_not_come_in_time_is_repeated_with_more() -> None:
    rounds = 0

    @scenario("It comes late.", SOURCE)
    async def late(server: Server) -> None:
        nonlocal rounds
        rounds += 1
        connection = await server.connection()

        async def comes() -> bool:
            await connection.ask(ListGroupsRequest())
            return server.target.slowness > 1

        await server.wait_for("it", comes)

    async with ScriptedNode(
        {**ALIVE, ListGroupsRequest: lambda frame: ListGroupsResponse()}
    ) as node:
        run = await run_checks(section(late), await target_of(node))
    assert (verdicts(iter(run)), rounds) == ([V.PASS], 2)


@in_virtual_time
async def test_the_limit_counts_what_is_spent_before() -> None:
    async with ScriptedNode({**ALIVE, ListGroupsRequest: lambda frame: SILENCE}) as node:
        run = await run_checks(section(deadly), await target_of(node), limit=100.0, spent=99.0)
    assert run.seconds < 2
    assert run.problem == "the time limit of 100 s is over"
