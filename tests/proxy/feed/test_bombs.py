"""Whatever a viewer sends is refused or done at once; traffic passes meanwhile."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any
from uuid import UUID

import pytest

from fuzzing.steps import steps
from kwire.messages.a01_fetch import FetchRequest, FetchTopic
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.proxy import Flow
from kwire.proxy.feed.datagram_records import records_of_event
from kwire.proxy.feed.datagrams import (
    _STAMP,
    LIMIT,
    MAGIC,
    VERSION,
    BadDatagram,
    SetHold,
    Stamp,
    _seal,
    decode_from_viewer,
    encode,
)
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.source import CommandRefused
from kwire.proxy.filters.rules import BadRules, read_rule, read_rules
from kwire.proxy.flows.language import LONGEST, parse
from tests.support.bombs import RULE_BOMB, VALUE_BOMB
from tests.support.eventually import eventually
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE
from tests.support.proxy.dialogue import asked, connection
from tests.support.proxy.feed.voting_traffic import ShownEvents, Traffic, traffic, viewer


@asynccontextmanager
async def one_viewer() -> AsyncIterator[tuple[Traffic, Receiver, ShownEvents]]:
    shown = ShownEvents()
    async with traffic() as run, viewer(run.feed.address, shown) as one:
        await one.reached()
        yield run, one, shown


async def test_a_bomb_in_a_rule_is_refused_and_traffic_passes() -> None:
    async with one_viewer() as (run, one, _):
        for bomb in (RULE_BOMB, f"{{match: ~api Vote, drop: true, patch: {VALUE_BOMB}}}"):
            with pytest.raises(CommandRefused, match=r"^line 1: anchors are not taken"):
                await one.add_rule(bomb)
        await run.vote()
        assert await one.rules() == ()


async def test_a_bomb_in_a_value_is_refused_and_the_message_stays_held() -> None:
    async with one_viewer() as (run, one, shown):
        await one.set_hold("~api Vote")
        reader, writer = await asyncio.open_connection(run.address.host, run.address.port)
        writer.write(VOTE)
        await eventually(lambda: len(shown.held) == 1)
        number = shown.held[0].number
        with pytest.raises(CommandRefused, match="is no value: quote it") as error:
            await one.edit(number, "cluster_id", VALUE_BOMB)
        assert len(str(error.value)) < 150
        await one.release(number)
        assert await reader.readexactly(len(GRANTED)) == GRANTED
        writer.close()


async def test_records_of_the_metadata_log_are_masked_in_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[int] = []

    def noted(*args: Any) -> Any:
        threads.append(threading.get_ident())
        return records_of_event(*args)

    monkeypatch.setattr("kwire.proxy.feed.sender.records_of_event", noted)
    topics = (
        [FetchTopic(topic_id=METADATA_TOPIC_ID)],
        [FetchTopic(topic_id=UUID(bytes=b"orders" * 2 + b"1234"))],
    )
    async with one_viewer() as (run, _, shown):
        for one in topics:
            flow = Flow(connection(), FetchRequest.key or 1, 13, 1, "me", 5.0, 0.0, 0)
            flow.request_copy = asked(FetchRequest(topics=one), 13, 1)[4:]
            run.feed(flow)
        await eventually(lambda: len(shown.flows) == 2)
    log, other = threads[-2:]
    assert (log == threading.get_ident(), other == threading.get_ident()) == (False, True)


def test_a_bomb_in_a_rules_file_is_refused() -> None:
    with pytest.raises(BadRules, match=r"^line 2: anchors are not taken"):
        read_rules(f"rules:\n- {RULE_BOMB}")


def test_a_datagram_that_is_nested_deep_is_ignored() -> None:
    body = b"\x82\xa5other" + b"\x91" * 7000 + b"\xc0\xa4type\xa5leave"
    sealed = bytes(_STAMP.size) + body
    with pytest.raises(BadDatagram, match="not a message of the feed"):
        decode_from_viewer(MAGIC + bytes([VERSION]) + _seal(sealed, b"") + sealed, b"")


def test_a_datagram_that_is_too_long_is_not_read() -> None:
    for size in (LIMIT, LIMIT + 1):
        expression = "x" * (size - len(encode(SetHold(number=1, expression=""), Stamp(), b"")) - 2)
        data = encode(SetHold(number=1, expression=expression), Stamp(), b"")
        assert len(data) == size
        with nullcontext() if size == LIMIT else pytest.raises(BadDatagram, match="8193 bytes"):
            decode_from_viewer(data, b"")


async def test_a_command_longer_than_a_datagram_is_not_sent() -> None:
    async with traffic() as run, viewer(run.feed.address, ShownEvents()) as one:
        await one.reached()
        with pytest.raises(CommandRefused, match="too long, 8192 are the most"):
            await one.set_hold("~client " + "\N{GRINNING FACE}" * 3000)
        assert run.feed.ignored == 0


NEARLY_TOO_MUCH = {
    "terms": "~v 0+ " * 99,
    "comparisons": "voter_id==1 " * 20,
    "parentheses": "(!" * 39 + "voter_id==1" + ")" * 39,
    "parts": "~v " + ",".join(["1"] * 99),
    "names": "~api " + ",".join(["*"] * 99),
    "no name": "~api " + ",".join(f"{number}*" for number in range(99)),
    "stars": "~client " + "*a" * 1990,
    "no field": "responses.partitions.current_leader.leader_idd==1",
    "brackets": "~client " + "[" * 3900,
    "quotes": "~client '" + "\\a" * 1990,
}
"""Expressions of all that one may have; 250,000 steps are some 30 ms."""


@pytest.mark.parametrize("text", NEARLY_TOO_MUCH.values(), ids=list(NEARLY_TOO_MUCH))
def test_the_longest_expressions_are_read_in_few_steps(text: str) -> None:
    parse("voter_id==1")  # what is built at the first use
    assert len(text) <= LONGEST
    assert steps(lambda: parse(text)) < 250_000


RULES = {
    "patches": "~v 99, patch: {" + ", ".join(f"topics.{n}: 1" for n in range(200)) + "}",
    "terms": f"'{'~v 0+ ' * 90}~v 99', direction: response, patch: {{throttle_time_ms: 1}}",
    "a name that is not there": f"~v 1, drop: true, name: [{'a, ' * 400}]",
}


@pytest.mark.parametrize("text", RULES.values(), ids=list(RULES))
def test_the_longest_rules_are_read_in_few_steps(text: str) -> None:
    def read() -> None:
        with pytest.raises(BadRules):
            read_rule(f"{{match: {text}}}")

    read()
    assert steps(read) < 400_000
