"""Datagrams that were recorded between a viewer and a feed do nothing when they are sent again.

Anyone on the network can record sealed datagrams, and send them with any address, without the
token. All of it goes over real sockets.
"""

import asyncio
import socket
from random import Random

import pytest

from kwire.errors import AnswerLost
from kwire.proxy.feed import receiver
from kwire.proxy.feed.receiver import TIMEOUT, Receiver
from tests.support.eventually import eventually
from tests.support.proxy.feed.recorded_path import RecordedPath, recorded
from tests.support.proxy.feed.voting_traffic import (
    HERE,
    TOKEN,
    ShownEvents,
    Traffic,
    traffic,
    viewer,
)
from tests.support.seed import SEED

RULE = "{name: lost, match: ~api Vote, drop: true}"


async def command(one: Receiver) -> None:
    """Do and undo all that a viewer can leave behind."""
    await one.reached()
    await one.set_hold("~api Vote")
    await one.set_hold(None)
    await one.add_rule(RULE)
    await one.switch_rule("lost", enabled=False)
    await one.switch_rule("lost", enabled=True)
    await one.remove_rule("lost")


async def expect_nothing_done(run: Traffic, path: RecordedPath, sent: list[bytes]) -> None:
    """Send recorded datagrams to the feed in three orders; none of them changes anything."""
    revision, hold = run.rules.revision, run.feed._controls.expression  # type: ignore[union-attr]
    viewers, answers = list(run.feed._viewers), len(path.to_viewer)
    shuffled = Random(SEED).sample(sent, len(sent))
    sizes = sum(map(len, sent)) * 4
    for data in [*sent, *sent, *reversed(sent), *shuffled]:
        path.send_to_feed(data)
        await asyncio.sleep(0)
    await run.vote()
    await asyncio.sleep(0.1)
    assert (run.rules.revision, run.feed._controls.expression) == (revision, hold)  # type: ignore[union-attr]
    assert run.rules.entries == ()
    assert list(run.feed._viewers) == viewers
    assert sum(map(len, path.to_viewer[answers:])) <= sizes


async def test_nothing_comes_back_after_a_viewer_has_left() -> None:
    async with traffic(TOKEN) as run, recorded(run.feed.address) as path:
        async with viewer(path.address, ShownEvents(), TOKEN) as one:
            await command(one)
        await eventually(lambda: len(run.feed._viewers) == 0)
        await expect_nothing_done(run, path, path.to_feed.copy())


async def test_nothing_is_done_again_while_the_viewer_is_there() -> None:
    async with (
        traffic(TOKEN) as run,
        recorded(run.feed.address) as path,
        viewer(path.address, ShownEvents(), TOKEN) as one,
    ):
        await command(one)
        await expect_nothing_done(run, path, path.to_feed.copy())
        assert await one.add_rule(RULE) == ("lost",)


async def test_nothing_is_done_again_in_the_session_of_the_next_with_that_address() -> None:
    async with traffic(TOKEN) as run, recorded(run.feed.address) as path:
        async with viewer(path.address, ShownEvents(), TOKEN) as one:
            await command(one)
        sent = path.to_feed.copy()
        async with viewer(path.address, ShownEvents(), TOKEN) as other:
            await other.reached()
            await expect_nothing_done(run, path, sent)
            assert await other.add_rule(RULE) == ("lost",)


async def test_nothing_comes_back_after_a_restart() -> None:
    async with recorded(HERE) as path:
        async with traffic(TOKEN) as run:
            path.feed = run.feed.address
            async with viewer(path.address, ShownEvents(), TOKEN) as one:
                await command(one)
        async with traffic(TOKEN, listen=path.feed) as run:
            await expect_nothing_done(run, path, path.to_feed.copy())


async def test_a_viewer_takes_no_event_twice() -> None:
    shown = ShownEvents()
    async with (
        traffic(TOKEN) as run,
        recorded(run.feed.address) as path,
        viewer(path.address, shown, TOKEN) as one,
    ):
        await one.reached()
        await run.vote(5)
        await eventually(lambda: len(shown) == 7)
        sent = path.to_viewer.copy()
        for data in [*reversed(sent), *sent]:
            path.send_to_viewer(data)
        await eventually(lambda: one.stale == 2 * len(sent))
        assert await one.add_rule(RULE) == ("lost",)
        assert (len(shown), one.lost, one.unreadable) == (7, 0, 0)


async def test_a_viewer_believes_nothing_of_an_earlier_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver, "RENEW", 0.05)
    shown = ShownEvents()
    async with recorded(HERE) as path:
        async with traffic(TOKEN) as run:
            path.feed = run.feed.address
            async with viewer(path.address, ShownEvents(), TOKEN) as one:
                await one.reached()
                await one.set_hold("~api Fetch")
                await run.vote()
                await eventually(lambda: any(b"\xa4seen" in data for data in path.to_viewer))
        sent = path.to_viewer.copy()
        async with (
            traffic(TOKEN, listen=path.feed) as run,
            viewer(path.address, shown, TOKEN) as one,
        ):
            await one.reached()
            for data in sent:
                path.send_to_viewer(data)
            await eventually(lambda: one.stale == len(sent))
            assert one.status is not None
            assert (one.status.feed, one.status.hold) == (run.feed.name, None)
    assert shown == []


async def test_a_recorded_greeting_brings_one_short_datagram_and_no_feed_to_another_address() -> (
    None
):
    async with traffic(TOKEN) as run, recorded(run.feed.address) as path:
        async with viewer(path.address, ShownEvents(), TOKEN) as one:
            await command(one)
        await run.vote(20)
        sent = path.to_feed
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as victim:
            victim.connect((run.feed.address.host, run.feed.address.port))
            for data in sent:
                victim.send(data)
            await run.vote(20)
            await asyncio.sleep(0.1)
            victim.setblocking(False)
            received = []
            while True:
                try:
                    received.append(len(victim.recv(65536)))
                except BlockingIOError:
                    break
        greetings = [len(data) for data in sent if b"\xa9subscribe" in data]
        assert len(received) <= len(greetings)
        assert max(received) <= min(greetings)
        assert len(run.feed._viewers) == 0


async def test_a_command_whose_session_has_ended_is_not_done_in_the_next() -> None:
    """It may have been done: its answer was lost with the session."""
    async with (
        traffic(TOKEN) as run,
        recorded(run.feed.address) as path,
        Receiver(path.address, lambda _: None, token=TOKEN) as one,
    ):
        await one.reached()
        path.is_cut = True
        adding = asyncio.create_task(one.add_rule(RULE))
        await eventually(lambda: any(b"add_rule" in data for data in path.to_feed))
        path.send_to_feed(path.to_feed[-1])
        await eventually(lambda: len(run.rules.entries) == 1)
        run.rules.remove("lost", "the test")
        for known in run.feed._viewers:
            run.feed._viewers.remove(known)
        path.is_cut = False
        with pytest.raises(AnswerLost, match="has forgotten this viewer"):
            await adding
        await one._subscribe()
        assert await one.rules() == ()


@pytest.mark.parametrize(("seconds", "rules"), [(TIMEOUT, 1), (TIMEOUT + 1.1, 0)])
async def test_a_command_that_its_viewer_has_given_up_is_not_done(
    seconds: float, rules: int
) -> None:
    """Somebody may hold it back until the viewer has left."""
    async with (
        traffic(TOKEN) as run,
        recorded(run.feed.address) as path,
        Receiver(path.address, lambda _: None, token=TOKEN, timeout=0.1) as one,
    ):
        await one.reached()
        path.is_cut = True
        with pytest.raises(AnswerLost):
            await one.add_rule(RULE)
        (held_back,) = (data for data in path.to_feed if b"add_rule" in data)
        run.feed._started -= seconds  # so much time passes
        ignored = run.feed.ignored
        path.send_to_feed(held_back)
        await eventually(lambda: run.feed.ignored > ignored or len(run.rules.entries) > 0)
        assert len(run.rules.entries) == rules


async def test_who_has_left_is_not_sent_what_was_before() -> None:
    async with traffic(TOKEN) as run, recorded(run.feed.address) as path:
        await run.vote(50)
        async with viewer(path.address, ShownEvents(), TOKEN) as one:
            await one.reached()
        await eventually(lambda: len(run.feed._viewers) == 0)
        await asyncio.sleep(0.1)
        assert not any(b"\xa4seen" in data for data in path.to_viewer)
        assert (len(run.feed._queue), run.feed._waiting) == (0, 0)
