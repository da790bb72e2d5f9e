"""Search, marks, partners, what to follow, views and history, at two sizes."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a52_vote import PartitionData, TopicData, VoteRequest, VoteResponse
from kwire.messages.a53_begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)
from kwire.messages.a53_begin_quorum_epoch import PartitionData as Begun
from kwire.messages.a53_begin_quorum_epoch import TopicData as BegunTopic
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.net.frames import encode_request
from kwire.proxy import Flow
from tests.support.cli.watch.screen import Screen, screen
from tests.support.proxy.flows.decoded_flows import connection, flow

SIZES = [(80, 24), (120, 40)]


@pytest.fixture(autouse=True)
def _views(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KWIRE_CONFIG", str(tmp_path / "kwire" / "config.toml"))


def traffic() -> Iterator[Flow]:
    """Votes of an election, a request of a client, the Envelope with it, and one that fails."""
    asked = PartitionData(replica_id=3001, replica_epoch=8)
    yield flow(VoteRequest(topics=[TopicData(partitions=[asked])]), VoteResponse(), 2).flow
    begun = BeginQuorumEpochRequest(
        topics=[BegunTopic(partitions=[Begun(leader_id=3001, leader_epoch=8)])]
    )
    yield flow(begun, BeginQuorumEpochResponse(), 1).flow
    create = CreateTopicsRequest(topics=[CreatableTopic(name="orders")])
    client = flow(create, CreateTopicsResponse(), 7, on=connection(node_id=1, peer=None)).flow
    client.connection.number = 8
    yield client
    inner = encode_request(create, 7, correlation_id=5, client_id="raft-client-1")[4:]
    envelope = EnvelopeRequest(request_data=inner, client_host_address=bytes(4))
    yield flow(envelope, EnvelopeResponse(), 0).flow
    yield flow(VoteRequest(cluster_id="[red]c"), VoteResponse(error_code=41), 2).flow


@asynccontextmanager
async def shown(size: tuple[int, int] = (80, 24)) -> AsyncIterator[Screen]:
    """A screen of this size that shows `traffic`, and follows it."""
    async with screen(size=size) as opened:
        for event in traffic():
            opened.run.feed(event)
        await opened.until(lambda: len(opened.lines) == 5)
        yield opened


def api(opened: Screen) -> str:
    """The API at the cursor."""
    chosen = opened.flows.chosen
    assert chosen is not None
    assert isinstance(chosen.event, Flow)
    return chosen.event.api


def at_cursor(opened: Screen) -> str:
    """The branch at the cursor of the tree."""
    node = opened.details.cursor_node
    return "" if node is None else str(node.label)


def choices(opened: Screen) -> list[str]:
    """The choices that the palette offers."""
    from textual.widgets import OptionList

    lists = opened.app.screen.query(OptionList)
    return [str(option.prompt) for options in lists for option in options.options]


async def choose(opened: Screen, text: str) -> None:
    """Take the first choice of the palette that has this text."""
    await opened.until(lambda: bool(choices(opened)))
    opened.line.value = text
    await opened.until(lambda: any(choice.startswith(text) for choice in choices(opened)[:1]))
    await opened.press("enter")
    await opened.until(lambda: not choices(opened))


@pytest.mark.parametrize("size", SIZES)
async def test_a_text_or_an_expression_is_searched_on_and_back(size: tuple[int, int]) -> None:
    async with shown(size) as opened:
        await opened.press("n")
        assert opened.notifications == ["nothing was searched for yet: press s"]
        await opened.press("s")
        await opened.write("ORDERS")
        assert api(opened) == "CreateTopics"
        assert opened.notifications[1:] == ["from the other end of the list"]
        seen = []
        for key in ("n", "n", "N"):
            await opened.press(key)
            seen.append(api(opened))
        assert seen == ["Envelope", "CreateTopics", "Envelope"]
        await opened.press("s")
        assert opened.line.placeholder == "↑ ORDERS"
        await opened.write("~err NOT")
        assert "no error of Kafka's is called 'NOT'" in opened.text("#wrong")
        await opened.write("~api BeginQuorumEpoch")
        assert api(opened) == "BeginQuorumEpoch"
        await opened.press("n")
        assert "no other event shown has ~api BeginQuorumEpoch" in opened.notifications


@pytest.mark.parametrize("size", SIZES)
async def test_a_marked_flow_is_found_again_and_not_cleared(size: tuple[int, int]) -> None:
    async with shown(size) as opened:
        await opened.press("home", "down", "m", "end", "M")
        assert api(opened) == "BeginQuorumEpoch"
        assert [line[0] for line in opened.lines].index("●") == 1
        await opened.press("c")
        assert [line[0] for line in opened.lines] == ["●"]
        await opened.press("m")
        assert "●" not in opened.lines[0]


async def test_the_partner_of_a_request_is_the_envelope_and_back() -> None:
    async with shown() as opened:
        await opened.press("up")
        assert api(opened) == "Envelope"
        await opened.press("slash")
        await opened.write("~api Envelope & !~api Vote")
        opened.flows.choose(opened.app.flows.visible[0])
        await opened.press("o")
        assert (api(opened), opened.filter.value) == ("CreateTopics", "")
        await opened.press("o")
        assert api(opened) == "Envelope"
        await opened.press("end", "o")
        assert opened.notifications[-1].startswith("no Envelope that carries this request")


@pytest.mark.parametrize("size", SIZES)
async def test_what_a_flow_is_about_is_followed(size: tuple[int, int]) -> None:
    async with shown(size) as opened:
        await opened.press("up", "up", "f")
        await choose(opened, "~topic orders")
        assert opened.filter.value == "~topic orders"
        assert (len(opened.lines), api(opened)) == (2, "CreateTopics")
        assert all('topic="orders"' in line for line in opened.lines)
        await opened.press("i")
        assert (opened.filter.value, len(opened.lines)) == ("~connection 8", 1)
        await opened.press("backspace")
        assert opened.filter.value == "~topic orders"
        await opened.press("backspace", "backspace")
        assert (opened.filter.value, len(opened.lines)) == ("", 5)


async def test_text_from_the_wire_is_no_markup_and_no_expression() -> None:
    async with screen(size=(80, 24)) as opened:
        event = flow(VoteRequest(), VoteResponse(), 2, on=connection(peer=None)).flow
        event.client_id = '[bold]"a b\\ | ~err *'
        opened.run.feed(event)
        await opened.until(lambda: len(opened.lines) == 1)
        await opened.press("f")
        await choose(opened, '~client "[bold]')
        assert opened.filter.value == '~client "[bold]\\"a b\\\\ | ~err *"'
        assert len(opened.lines) == 1
        assert "[bold]" in opened.lines[0]


@pytest.mark.parametrize("size", SIZES)
async def test_what_the_filter_found_has_a_column_and_the_tree_opens_there(
    size: tuple[int, int],
) -> None:
    async with shown(size) as opened:
        await opened.press("slash")
        await opened.write("~err *")
        assert "NOT_CONTROLLER" in opened.lines[0]
        await opened.until(lambda: "error_code: 41 NOT_CONTROLLER" in at_cursor(opened))
        await opened.press("slash")
        await opened.write("topics.partitions.replica_epoch>7")
        assert "replica_epoch=8" in opened.lines[0]
        await opened.until(lambda: "replica_epoch: 8" in at_cursor(opened))


async def test_a_filter_is_saved_as_a_view(tmp_path: Path) -> None:
    file = tmp_path / "kwire" / "watch-views.json"
    async with shown() as opened:
        await opened.press("slash")
        await opened.write("~err *")
        await opened.press("v")
        await choose(opened, "save this filter")
        await opened.until(lambda: opened.is_writing)
        await opened.write(" ")
        assert "needs a name" in opened.text("#wrong")
        await opened.write("errors [bold]")
        await opened.until(lambda: opened.notifications == ["view errors [bold] saved"])
        assert json.loads(file.read_text()) == {"errors [bold]": "~err *"}
        await opened.press("slash")
        await opened.write("")
        await opened.press("v")
        await choose(opened, "errors [bold]")
        assert (opened.filter.value, len(opened.lines)) == ("~err *", 1)
        await opened.press("v")
        await choose(opened, "remove errors [bold]")
        await opened.until(lambda: "view errors [bold] removed" in opened.notifications)
    assert file.read_text().strip() == "{}"


async def test_views_that_cannot_be_read_shown_or_saved_are_told(tmp_path: Path) -> None:
    file = tmp_path / "kwire" / "watch-views.json"
    file.parent.mkdir()
    async with shown() as opened:
        for text in ("{", '{"old": 1}'):
            file.write_text(text)
            await opened.press("v")
            await opened.until(lambda: "has no saved views" in opened.notifications[-1])
            opened.app.clear_notifications()
        file.write_text('{"old": "~gone 1"}')
        await opened.press("v")
        await choose(opened, "old")
        await opened.until(lambda: "column 1" in opened.text("#problem"))
        assert (opened.filter.value, len(opened.lines)) == ("~gone 1", 5)
        await opened.press("v")
        await choose(opened, "save this filter")
        await opened.until(lambda: "this filter cannot be saved" in opened.notifications[-1])


@pytest.mark.parametrize("size", SIZES)
async def test_the_history_of_the_quorum_leads_to_its_flows(size: tuple[int, int]) -> None:
    async with shown(size) as opened:
        await opened.press("p")
        await opened.until(lambda: "3001 leads" in opened.text("#quorum"))
        assert "3001 asks for votes" in opened.text("#quorum")
        await opened.pilot.click("#quorum")
        await opened.until(lambda: len(choices(opened)) == 2)
        changes = [choice.partition("  ")[2] for choice in choices(opened)]
        assert changes == ["epoch 8  3001 leads", "epoch 8  3001 asks for votes"]
        await choose(opened, choices(opened)[1])
        assert len(opened.app.screen_stack) == 1
        assert api(opened) == "Vote"


async def test_the_wheel_stops_following() -> None:
    from textual.events import MouseScrollUp

    async with screen(size=(80, 24)) as opened:
        for _ in range(40):
            opened.run.feed(flow(VoteRequest(), VoteResponse(), 2).flow)
        await opened.until(lambda: opened.flows.max_scroll_y > 20)
        where = dict.fromkeys(("x", "y", "delta_x", "delta_y", "button"), 0)
        modifiers = dict.fromkeys(("shift", "meta", "ctrl"), False)
        opened.flows.post_message(MouseScrollUp(opened.flows, **where, **modifiers))  # type: ignore[arg-type]
        await opened.until(lambda: not opened.flows.following)
        top = opened.flows.scroll_offset.y
        opened.run.feed(flow(VoteRequest(), VoteResponse(), 2).flow)
        await opened.until(lambda: len(opened.app.flows) == 41)
        assert opened.flows.scroll_offset.y == top


async def test_flows_that_were_not_sent_are_counted_and_errors_are_shown() -> None:
    async with screen(size=(80, 24), view="~err *") as opened:
        many = 1500
        for number in range(many):
            failed = number % 100 == 99
            opened.run.feed(flow(VoteRequest(), VoteResponse(error_code=41 * failed), 2).flow)
        await opened.until(lambda: "not shown" in opened.text("#status"))
        await opened.until(lambda: len(opened.app.flows.visible) == many // 100)
