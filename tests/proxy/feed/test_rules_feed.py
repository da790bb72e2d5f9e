"""Viewers list, add, switch and remove rules while traffic flows, each command once."""

import asyncio
import socket

import pytest

from kwire.errors import AnswerLost, ConnectionFailed, InvalidValue
from kwire.net.address import Address
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.feed import receiver
from kwire.proxy.feed.datagrams import AddRule, GetRules
from kwire.proxy.feed.receiver import LONGEST_RULE, Receiver
from kwire.proxy.feed.source import CommandRefused
from tests.support.eventually import eventually
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE
from tests.support.proxy.feed.lossy_path import lossy
from tests.support.proxy.feed.voting_traffic import TOKEN, ShownEvents, Traffic, traffic, viewer

DROP = "{name: lost, match: ~api Vote, drop: true}"
CLOSE = "{name: cut, match: ~api Vote, close: true}"


async def is_answered(run: Traffic) -> bool:
    """Send a Vote; False if its connection is closed instead."""
    reader, writer = await asyncio.open_connection(run.address.host, run.address.port)
    writer.write(VOTE)
    answer = await reader.read(len(GRANTED))
    writer.close()
    return answer == GRANTED


async def test_a_rule_acts_while_it_is_there_and_switched_on() -> None:
    async with traffic(TOKEN) as run, viewer(run.feed.address, ShownEvents(), TOKEN) as one:
        await one.reached()
        assert await one.rules() == ()
        assert await one.add_rule(CLOSE) == ("cut",)
        assert not await is_answered(run)
        await one.switch_rule("cut", enabled=False)
        assert await is_answered(run)
        await one.switch_rule("cut", enabled=True)
        assert not await is_answered(run)
        (rule,) = await one.rules()
        assert (rule.name, rule.enabled, rule.origin, rule.hits) == ("cut", True, "command", 2)
        assert rule.rule == {"match": "~api Vote", "close": True}
        await one.remove_rule("cut")
        assert await is_answered(run)
        assert await one.rules() == ()


@pytest.mark.parametrize("number", [1 << 64, -(1 << 63) - 1])
async def test_no_number_in_a_rule_hides_the_rules_from_other_viewers(number: int) -> None:
    async with traffic() as run, viewer(run.feed.address, ShownEvents()) as one:
        await one.reached()
        await one.add_rule(f"{{match: ~api Vote, patch: {{cluster_id: {number}}}}}")
        (rule,) = await one.rules()
        assert rule.rule["patch"] == {"cluster_id": str(number)}


async def test_all_viewers_are_told_of_a_change_at_once() -> None:
    async with (
        traffic() as run,
        viewer(run.feed.address, ShownEvents()) as one,
        viewer(run.feed.address, ShownEvents()) as other,
    ):
        await one.reached()
        await other.reached()
        await one.add_rule(DROP)
        await eventually(lambda: other.status is not None and other.status.rules > 0)
        assert other.status is not None
        (said,) = other.status.changes
        assert said.startswith("rule 'lost' was added by 127.0.0.1:")


async def test_two_who_command_at_once_lose_nothing() -> None:
    async with (
        traffic() as run,
        viewer(run.feed.address, ShownEvents()) as one,
        viewer(run.feed.address, ShownEvents()) as other,
    ):
        await one.reached()
        await other.reached()
        both = await asyncio.gather(
            *(who.add_rule(DROP) for who in (one, other)), return_exceptions=True
        )
        assert sorted(map(type, both), key=str) == sorted([tuple, CommandRefused], key=str)

        async def add(who: Receiver, name: str) -> None:
            for number in range(50):
                await who.add_rule(f"{{name: {name}{number}, match: ~api Fetch, delay: 1s}}")

        await asyncio.gather(add(one, "a"), add(other, "b"))
        names = {rule.name for rule in await one.rules()}
        assert names == {"lost", *(f"{name}{i}" for name in "ab" for i in range(50))}
        assert await other.rules() == await one.rules()


async def test_an_answer_that_is_lost_does_not_make_a_command_be_done_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The command is sent again, and the proxy gives the same answer again."""
    monkeypatch.setattr(receiver, "REPEAT", 0.05)
    lost = 3
    async with traffic() as run, viewer(run.feed.address, ShownEvents()) as one:
        await one.reached()
        answered = one._resolve

        def lose(key: tuple[int, int], answer: receiver._FeedAnswer) -> None:
            nonlocal lost
            lost -= 1
            if lost < 0:
                answered(key, answer)

        monkeypatch.setattr(one, "_resolve", lose)
        revision = run.rules.revision
        assert await one.add_rule(DROP) == ("lost",)
        assert run.rules.revision == revision + 1


async def test_a_port_that_another_had_before_gets_no_old_answer() -> None:
    """A viewer that was killed has not taken its leave; the next may be given its port."""
    async with traffic() as run, lossy(run.feed.address, []) as way:
        killed = viewer(way, ShownEvents())
        await killed.__aenter__()
        await killed.reached()
        await killed.add_rule(DROP)
        await cancel_and_wait(killed._tasks)
        killed._stream.close()
        async with viewer(way, ShownEvents()) as one:
            await one.reached()
            assert await one.add_rule(CLOSE) == ("cut",)
        assert [entry.name for entry in run.rules.entries] == ["lost", "cut"]


async def test_a_long_list_comes_whole_while_hits_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with traffic() as run, viewer(run.feed.address, ShownEvents()) as one:
        await one.reached()
        for number in range(100):
            rule = f"{{name: {'n' * 90}{number}, match: ~api Vote, patch: {{voter_id: 3}}}}"
            run.rules.add(rule, "the test")
        for entry in run.rules.entries:
            entry.filter.hits = 126  # two more, and it takes another byte
        ask, parts = one._ask, 0

        async def ask_after_a_vote(message: GetRules, part: int) -> receiver._FeedAnswer:
            nonlocal parts
            parts += 1
            await run.vote()
            return await ask(message, part)

        monkeypatch.setattr(one, "_ask", ask_after_a_vote)
        assert [rule.hits for rule in await one.rules()] == [127] * 100
        assert parts > 2


async def test_what_cannot_be_done_is_refused_with_its_reason() -> None:
    async with traffic() as run, viewer(run.feed.address, ShownEvents()) as one:
        await one.reached()
        with pytest.raises(CommandRefused, match="no rule is called 'x'"):
            await one.remove_rule("x")
        with pytest.raises(CommandRefused, match="match: column 6: no API is called 'Vo'"):
            await one.add_rule("{match: ~api Vo, drop: true}")
        with pytest.raises(InvalidValue, match="put it in a rules file"):
            await one.add_rule("{" + " " * LONGEST_RULE + "}")
        assert not run.rules.entries


async def test_without_an_answer_it_is_unknown_and_done_later_only_once() -> None:
    """The way to the proxy is cut behind the greeting, then what was sent arrives after all."""
    async with traffic() as run, lossy(run.feed.address, []) as way:
        async with Receiver(way, lambda _: None, backlog=0, timeout=0.3) as one:
            await one.reached()
            receive = run.feed._answer
            kept: list[tuple[object, object]] = []

            async def still(message: object, viewer: object) -> None:
                kept.append((message, viewer))

            run.feed._answer = still  # type: ignore[method-assign]
            with pytest.raises(AnswerLost, match=r"no answer from .* for 0\.3 s"):
                await one.add_rule(DROP)
            assert not run.rules.entries
            commands = [pair for pair in kept if isinstance(pair[0], AddRule)]
            for message, sender in [*commands, *commands]:
                await receive(message, sender)  # type: ignore[arg-type]
        assert [entry.name for entry in run.rules.entries] == ["lost"]
        assert run.rules.revision == 1


async def test_nobody_there_and_another_token_are_said_in_a_sentence() -> None:
    async with traffic(TOKEN) as run:
        for token in (b"", b"guessed guessed guessed"):
            async with Receiver(
                run.feed.address, lambda _: None, token=token, timeout=0.1
            ) as stranger:
                with pytest.raises(
                    ConnectionFailed,
                    match="is --token what --feed-token was given, has the feed 32 viewers",
                ):
                    await stranger.reached()
        assert run.rules.revision == 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
        gone.bind(("127.0.0.1", 0))
        nobody = Address(*gone.getsockname())
    async with Receiver(nobody, lambda _: None) as one:
        with pytest.raises(ConnectionFailed, match="nothing listens there"):
            await one.reached()
