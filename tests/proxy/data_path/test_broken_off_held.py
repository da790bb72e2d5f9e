"""A peer that ends while filters hold a message: nobody waits for what cannot come any more."""

import asyncio
from collections.abc import Callable

import pytest

from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy import Answer, Call, Filter, Flow, Limits, NoticeKind, Outcome
from kwire.proxy.filters.intercept import Intercept
from kwire.proxy.filters.rules import read_rules
from kwire.proxy.flows.language import parse
from tests.support.eventually import eventually
from tests.support.proxy.broken_connections import (
    ASKED,
    GRANTED,
    front,
    moved,
)
from tests.support.proxy.data_path.proxied_node import flows
from tests.support.proxy.filter_dialogue import rule_filters


@pytest.mark.parametrize("how", ["closes", "resets"])
async def test_what_is_intercepted_when_the_node_ends_still_arrives_and_then_the_end(
    how: str,
) -> None:
    held: list[Flow] = []
    stop = Intercept(parse("~api Vote & ~response"), held.append)
    async with front(stop, limits=Limits(drain=0.05)) as here:
        client, node = await here.connect()
        client.writer.write(b"".join(ASKED))
        await node.exactly(len(b"".join(ASKED)))
        node.writer.write(GRANTED[0] + GRANTED[1][:9])
        await eventually(lambda: bool(held))
        node.end(how)
        await eventually(lambda: bool(here.notice_texts(NoticeKind.BROKEN_OFF)))
        await asyncio.sleep(0.2)  # longer than what may stay undelivered, filters aside
        stop.release()
        assert await client.rest() == GRANTED[0]
        client.end("closes")
        await here.gone()


@pytest.mark.parametrize("how", ["closes", "resets"])
async def test_a_request_that_is_intercepted_when_the_node_ends_goes_nowhere(how: str) -> None:
    held: list[Flow] = []
    async with front(Intercept(parse("~api Vote"), held.append)) as here:
        client, node = await here.connect()
        client.writer.write(ASKED[0])
        await eventually(lambda: bool(held))
        node.end(how)
        assert await client.rest() == b""
        client.end("closes")
        await here.gone()
    assert [flow.outcome for flow in flows(here.events)] == [Outcome.LOST]


class Later(Filter):
    """Answers in the node's place, when told to."""

    def __init__(self) -> None:
        self.go: list[Callable[[None], None]] = []

    async def on_vote_request(self, request: VoteRequest, call: Call) -> Answer:
        await call.until(self.go.append)
        return Answer(VoteResponse())


async def test_an_answer_of_a_filter_s_own_that_comes_after_the_end_is_none() -> None:
    later = Later()
    async with front(later) as here:
        client, node = await here.connect()
        client.writer.write(ASKED[0])
        await eventually(lambda: bool(later.go))
        node.end("closes")
        assert await client.rest() == b""
        later.go[0](None)
        client.end("closes")
        await here.gone()
    assert [flow.outcome for flow in flows(here.events)] == [Outcome.LOST]


@pytest.mark.parametrize("direction", ["request", "response"])
@pytest.mark.parametrize("who", ["node", "client"])
@pytest.mark.parametrize("how", ["closes", "resets"])
async def test_what_is_stalled_ends_with_either_side(direction: str, who: str, how: str) -> None:
    rules = read_rules(f"rules: [{{match: ~api Vote, direction: {direction}, stall: true}}]")
    async with front(*rule_filters(rules, lambda: 0.5, 0.0)) as here:
        client, node = await here.connect()
        client.writer.write(ASKED[0])
        if direction == "response":
            await node.exactly(len(ASKED[0]))
            node.writer.write(GRANTED[0])
        await eventually(lambda: here.proxy.held.held > 0)
        ending, other = (node, client) if who == "node" else (client, node)
        ending.end(how)
        assert await other.rest() == b""
        other.end("closes")
        await here.gone()
    (flow,) = flows(here.events)
    assert any(note.startswith("stalled by rule") for note in flow.notes)


class Asks(Filter):
    """Asks the node something before a message goes on."""

    async def on_vote_request(self, request: VoteRequest, call: Call) -> None:
        if request.voter_id == 1:
            await call.ask(VoteRequest(), 2)

    async def on_vote_response(self, response: VoteResponse, call: Call) -> None:
        await call.ask(VoteRequest(), 2)


@pytest.mark.parametrize("cut", [0, 9])
@pytest.mark.parametrize("how", ["closes", "resets"])
async def test_a_filter_whose_own_question_the_node_does_not_answer_is_told(
    how: str, cut: int
) -> None:
    async with front(Asks()) as here:
        client, node = await here.connect()
        client.writer.write(ASKED[0])
        await node.exactly(len(ASKED[0]))
        node.writer.write(GRANTED[0])
        question = await node.exactly(int.from_bytes(await node.exactly(4), "big"))
        node.writer.write((GRANTED[0][:4] + question[4:8] + GRANTED[0][8:])[:cut])
        await eventually(lambda: moved(here, client, len(GRANTED[0]) + cut))
        node.end(how)
        assert await client.rest() == GRANTED[0]
        client.end("closes")
        await here.gone()
    (failed,) = here.notice_texts(NoticeKind.FILTER_FAILED)
    assert "Asks.on_vote_response failed" in failed
    assert "the node did not answer the filter's own Vote: it closed" in failed
    assert sorted(flow.outcome.name for flow in flows(here.events)) == ["ANSWERED", "LOST"]


async def test_a_filter_cannot_ask_behind_the_end_of_the_client() -> None:
    async with front(Asks()) as here:
        client, node = await here.connect()
        client.writer.write(ASKED[0])
        client.writer.write_eof()
        assert await node.rest() == ASKED[0]
        node.writer.write(GRANTED[0])
        assert await client.exactly(len(GRANTED[0])) == GRANTED[0]
        node.end("closes")
        assert await client.rest() == b""
        client.end("closes")
        await here.gone()
    (failed,) = here.notice_texts(NoticeKind.FILTER_FAILED)
    assert "the node cannot be asked for VoteRequest" in failed
