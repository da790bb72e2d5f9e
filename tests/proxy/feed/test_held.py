"""A viewer holds, shows, edits and lets go what passes; what it cannot do is said."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy import DecodedFlow, Flow, Outcome
from kwire.proxy.feed import sender
from kwire.proxy.feed.datagrams import GetFlow, GetRules, Release
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.sender import Feed
from kwire.proxy.feed.source import CommandRefused
from tests.support.eventually import eventually
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE
from tests.support.proxy.dialogue import answered
from tests.support.proxy.feed.voting_traffic import HERE, ShownEvents, Traffic, traffic, viewer


@asynccontextmanager
async def held(
    run: Traffic, one: Receiver, shown: ShownEvents, match: str = "~api Vote"
) -> AsyncIterator[asyncio.StreamReader]:
    """A Vote, or the answer to one, that waits at the proxy."""
    await eventually(lambda: one.status is not None)
    await one.set_hold(match)
    reader, writer = await asyncio.open_connection(run.address.host, run.address.port)
    writer.write(VOTE)
    await eventually(lambda: len(shown.held) == 1)
    yield reader
    writer.close()


async def test_a_held_request_is_shown_edited_and_let_go() -> None:
    shown = ShownEvents()
    async with (
        traffic() as run,
        viewer(run.feed.address, shown) as one,
        held(run, one, shown) as reader,
    ):
        (number,) = [each.number for each in shown.held]
        await eventually(lambda: one.status is not None and one.status.held == (number,))
        assert one.status
        assert (one.status.hold, one.status.controls) == ("~api Vote", True)
        await one.edit(number, "cluster_id", "edited")
        await eventually(lambda: len(shown.held) == 2)
        edited = DecodedFlow(shown.held[1].event).request_as(VoteRequest)  # type: ignore[arg-type]
        assert edited
        assert edited.cluster_id == "edited"
        whole = await one.complete_event(number)
        assert isinstance(whole, Flow)
        assert whole.outcome is Outcome.PENDING
        await one.edit(number, "cluster_id", "null")
        await one.release(number)
        assert await reader.readexactly(len(GRANTED)) == GRANTED
        await eventually(lambda: len(shown.flows) == 1)
        assert shown.flows[0].number == number
        with pytest.raises(CommandRefused, match="not held any more"):
            await one.release(number)
        await one.set_hold(None)
        await run.vote()


async def test_a_held_response_is_shown_edited_and_let_go() -> None:
    shown = ShownEvents()
    async with (
        traffic() as run,
        viewer(run.feed.address, shown) as one,
        held(run, one, shown, "~api Vote & ~response") as reader,
    ):
        (watched,) = shown.held
        assert isinstance(watched.event, Flow)
        assert (watched.event.request_copy, watched.event.response_copy) == (VOTE[4:], GRANTED[4:])
        assert watched.event.outcome is Outcome.PENDING
        await one.edit(watched.number, "error_code", "87")
        await eventually(lambda: len(shown.held) == 2)
        refused = answered(VoteResponse(error_code=87), 2, 1)
        whole = await one.complete_event(watched.number)
        assert isinstance(whole, Flow)
        assert whole.response_copy == refused[4:]
        await one.release(watched.number)
        assert await reader.readexactly(len(refused)) == refused
        await eventually(lambda: len(shown.flows) == 1)
        assert shown.flows[0].number == watched.number


async def test_a_request_and_then_its_response_are_held_as_one_flow() -> None:
    shown = ShownEvents()
    async with (
        traffic() as run,
        viewer(run.feed.address, shown) as one,
        held(run, one, shown, "~api Vote | ~err *") as reader,
    ):
        await one.release(shown.held[0].number)
        await eventually(lambda: len(shown.held) == 2)
        await one.release(shown.held[0].number)
        assert await reader.readexactly(len(GRANTED)) == GRANTED
        await eventually(lambda: len(shown.flows) == 1)
        assert len({each.number for each in [*shown.held, *shown.flows]}) == 1


@pytest.mark.parametrize("match", ["~api Vote", "~api Vote & ~response"])
@pytest.mark.parametrize("reset", [False, True])
async def test_a_client_that_goes_leaves_nothing_held(match: str, reset: bool) -> None:
    shown = ShownEvents()
    async with traffic() as run, viewer(run.feed.address, shown) as one:
        await eventually(lambda: one.status is not None)
        await one.set_hold(match)
        _, writer = await asyncio.open_connection(run.address.host, run.address.port)
        if reset:
            at_once = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        writer.write(VOTE)
        await eventually(lambda: len(shown.held) == 1)
        assert run.proxy.held.held > 0
        writer.close()
        await eventually(lambda: len(shown.flows) == 1)
        assert shown.flows[0].number == shown.held[0].number
        await eventually(lambda: not run.proxy.connections)
        assert (run.proxy.held.held, run.proxy.copies.held) == (0, 0)
        await one.set_hold(None)
        await eventually(lambda: one.status is not None and one.status.held == ())


WRONG_EDITS = {
    "no such field": ("cluster", "1", "VoteRequest has no field 'cluster'"),
    "another type": ("voter_id", "many", "voter_id cannot be that at version 2"),
    "no element": ("topics.0.topic_name", "x", "there is nothing at topics.0.topic_name"),
    "a place far away": (f"topics.{'9' * 5000}.name", "x", "there is nothing at topics.999"),
    "no place": ("topics.٣.name", "x", "there is nothing at topics.٣.name"),
    "no value": ("voter_id", "[1", "is no value"),
}


@pytest.mark.parametrize(("path", "value", "said"), WRONG_EDITS.values(), ids=list(WRONG_EDITS))
async def test_an_edit_that_cannot_be_is_refused_and_changes_nothing(
    path: str, value: str, said: str
) -> None:
    shown = ShownEvents()
    async with (
        traffic() as run,
        viewer(run.feed.address, shown) as one,
        held(run, one, shown) as reader,
    ):
        number = shown.held[0].number
        with pytest.raises(CommandRefused, match=said):
            await one.edit(number, path, value)
        await one.release(number)
        assert await reader.readexactly(len(GRANTED)) == GRANTED


@pytest.mark.parametrize(
    ("how", "note"), [("drop", "request dropped by Intercept"), ("close", "closed by Intercept")]
)
async def test_a_held_request_is_killed(how: str, note: str) -> None:
    shown = ShownEvents()
    async with (
        traffic() as run,
        viewer(run.feed.address, shown) as one,
        held(run, one, shown) as reader,
    ):
        await one.release(shown.held[0].number, how)
        await eventually(lambda: len(shown.flows) == 1)
        flow = shown.flows[0].event
        assert isinstance(flow, Flow)
        assert flow.notes == (note,)
        if how == "close":
            assert await reader.read() == b""


async def test_what_cannot_be_done_is_said() -> None:
    shown = ShownEvents()
    async with traffic() as run, viewer(run.feed.address, shown) as one, held(run, one, shown):
        with pytest.raises(CommandRefused, match="column 6: no API is called 'Fetsch'"):
            await one.set_hold("~api Fetsch")
        with pytest.raises(CommandRefused, match="'burn' is none of resume, drop, close"):
            await one.release(shown.held[0].number, "burn")
    async with Feed(HERE) as feed, viewer(feed.address, ShownEvents()) as one:
        await eventually(lambda: one.status is not None)
        with pytest.raises(CommandRefused, match="holds no messages"):
            await one.set_hold(None)


async def test_a_held_message_is_encoded_once_for_all_its_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A viewer asks for the parts one by one, and a message may have 100 MiB."""
    monkeypatch.setattr(sender, "PART_SIZE", 50)
    shown = ShownEvents()
    async with traffic() as run, viewer(run.feed.address, shown) as one, held(run, one, shown):
        number, encoded = shown.held[0].number, 0
        encode = run.feed._encode_whole

        async def count(message: GetFlow | GetRules) -> bytes:
            nonlocal encoded
            encoded += 1
            return await encode(message)

        monkeypatch.setattr(run.feed, "_encode_whole", count)

        async def fetch() -> Flow:
            flow = await one.complete_event(number)
            assert isinstance(flow, Flow)
            return flow

        assert b"edited" not in ((await fetch()).request_copy or b"")
        assert encoded == 1
        await one.edit(number, "cluster_id", "edited")
        assert b"edited" in ((await fetch()).request_copy or b"")
        await one.release(number)
        await eventually(lambda: len(shown.flows) == 1)
        assert (await fetch()).outcome is Outcome.ANSWERED
        assert encoded == 3
        monkeypatch.setattr(sender, "FETCHED", 2000)
        for _ in range(20):
            await fetch()
        assert 1000 < sum(map(len, run.feed._fetched.values())) <= 2000


async def test_a_command_that_comes_twice_is_done_once() -> None:
    shown = ShownEvents()
    async with (
        traffic() as run,
        viewer(run.feed.address, shown) as one,
        held(run, one, shown) as reader,
    ):
        number = next(one._numbers)
        release = Release(number=number, flow=shown.held[0].number)
        answers = [await one._ask(release) for _ in range(2)]
        assert answers[0] == answers[1]
        assert await reader.readexactly(len(GRANTED)) == GRANTED
