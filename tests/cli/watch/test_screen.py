"""The screen of `kwire watch`, with its keys, in front of a proxy with real traffic."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwire.capture import Damage, read_capture
from kwire.cli.proxy.rule_text import rule_text
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.address import Address
from kwire.proxy import Flow
from kwire.proxy.capture.records import events
from real_kafka import free_port
from tests.support.cli.watch.screen import Screen, screen
from tests.support.paths import DOCS
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE
from tests.support.proxy.dialogue import answered


async def test_flows_are_listed_and_the_one_at_the_cursor_is_a_tree() -> None:
    async with screen() as shown:
        await shown.run.vote(3)
        await shown.until(lambda: shown.votes == 3)
        assert "me → 3000" in next(line for line in shown.lines if "Vote v2" in line)
        await shown.press("up")
        await shown.until(lambda: bool(shown.tree) and shown.tree[0].startswith("Vote v2"))
        assert "VoteRequest v2" in shown.tree
        assert "VoteResponse v2" in shown.tree
        assert "error_code: 0 NONE" in shown.tree
        assert "voter_id: -1" in shown.tree


async def test_a_filter_shows_what_it_says_and_points_at_the_column_of_its_error() -> None:
    async with screen() as shown:
        await shown.run.vote(2)
        await shown.until(lambda: shown.votes == 2)
        assert len(shown.lines) > 2
        await shown.press("slash")
        await shown.write("~api Fetsch")
        problem = shown.text("#problem")
        assert "column 6: no API is called 'Fetsch'" in problem
        assert problem.index("^") == len("~api ")
        assert len(shown.lines) > 2
        await shown.write("~api Vote")
        assert len(shown.lines) == 2
        assert shown.text("#problem").strip() == ""
        await shown.run.vote()
        await shown.until(lambda: len(shown.lines) == 3)
        await shown.press("slash")
        await shown.write("")
        assert len(shown.lines) > 3


async def test_the_view_option_is_the_first_filter() -> None:
    async with screen(view="~api Fetch") as shown:
        await shown.run.vote(2)
        await shown.until(lambda: len(shown.app.flows) == 4)
        assert shown.lines == []
        assert shown.flows.border_subtitle == "the filter shows none of 4 events"
        assert shown.filter.value == "~api Fetch"


@asynccontextmanager
async def held(shown: Screen, match: str = "~api Vote") -> AsyncIterator[asyncio.StreamReader]:
    """A Vote, or its answer, that the screen has told the proxy to hold."""
    await shown.press("h")
    await shown.write(match)
    await shown.until(lambda: match in shown.text("#status"))
    address = shown.run.address
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(VOTE)
    await shown.until(lambda: len(shown.held) == 1)
    yield reader
    writer.close()


async def test_a_held_request_is_marked_edited_and_resumed() -> None:
    async with screen() as shown, held(shown) as reader:
        await shown.until(lambda: any("HELD →" in line for line in shown.lines))
        await shown.until(lambda: "1 held" in shown.text("#status"))
        await shown.press("e")
        await shown.write("cluster_id=mine")
        await shown.until(
            lambda: (
                (body := shown.held[0].request_as(VoteRequest)) is not None
                and body.cluster_id == "mine"
            )
        )
        await shown.press("e")
        await shown.write("cluster_id=null")
        await shown.press("r")
        assert await reader.readexactly(len(GRANTED)) == GRANTED
        await shown.until(lambda: not shown.held and shown.votes == 1)


async def test_a_held_response_is_marked_edited_at_the_cursor_and_resumed() -> None:
    async with screen() as shown, held(shown, "~api Vote & ~response") as reader:
        await shown.until(lambda: any("HELD ←" in line for line in shown.lines))
        await shown.until(lambda: "error_code: 0 NONE" in shown.tree)
        await shown.until(lambda: shown.branch("error_code").line >= 0)  # it is drawn
        shown.details.move_cursor(shown.branch("error_code"))
        await shown.press("e")
        assert shown.line.value == "error_code=0"
        await shown.write("error_code=87")
        await shown.until(lambda: "error_code: 87 INVALID_RECORD" in shown.tree)
        await shown.press("r")
        refused = answered(VoteResponse(error_code=87), 2, 1)
        assert await reader.readexactly(len(refused)) == refused
        await shown.until(lambda: not shown.held and shown.votes == 1)


async def test_an_edit_that_cannot_be_is_told() -> None:
    async with screen() as shown, held(shown):
        await shown.press("e")
        await shown.write("nonsense")
        assert "write path=value" in shown.text("#wrong")
        wrong, line = shown.app.screen.query_one("#wrong"), shown.app.screen.focused
        assert line is not None
        assert wrong.region.height == 1
        assert wrong.content_region.x == line.content_region.x
        await shown.write("voter_id=many")
        await shown.until(lambda: len(shown.notifications) == 1)
        assert shown.notifications[0].startswith("voter_id cannot be that at version 2")


@pytest.mark.parametrize(
    ("key", "note"), [("d", "request dropped by Intercept"), ("x", "closed by Intercept")]
)
async def test_a_held_request_is_dropped_or_killed(key: str, note: str) -> None:
    async with screen() as shown, held(shown):
        await shown.press(key)
        await shown.until(lambda: shown.notes == [note])
        assert not shown.held


async def test_all_that_is_held_is_resumed_and_nothing_is_held_any_more() -> None:
    async with screen() as shown, held(shown) as reader:
        await shown.until(lambda: "1 held" in shown.text("#status"))
        await shown.press("R", "h")
        await shown.write("")
        assert await reader.readexactly(len(GRANTED)) == GRANTED
        await shown.until(lambda: "held" not in shown.text("#status"))
        await shown.run.vote()
        await shown.until(lambda: shown.votes == 2)


async def test_the_line_of_h_begins_empty_and_brings_earlier_expressions() -> None:
    async with screen(view="~api Vote") as shown:
        for expression in ("~api Fetch", "~api Metadata"):
            await shown.press("h")
            assert shown.line.value == ""
            await shown.write(expression)
            await shown.until(lambda wanted=expression: wanted in shown.text("#status"))  # type: ignore[misc]
        await shown.press("h")
        assert (shown.line.value, shown.line.placeholder) == ("", "↑ ~api Metadata")
        recalled = []
        for key in ("up", "up", "up", "up", "down"):
            await shown.press(key)
            recalled.append(shown.line.value)
        texts = ["~api Metadata", "~api Fetch", "~api Vote", "~api Vote", "~api Fetch"]
        assert recalled == texts
        await shown.press("enter")
        await shown.until(lambda: "~api Fetch" in shown.text("#status"))


BURSTS = {
    "a filter": ("/~api Fetch", "~api Fetch"),
    "a filter of command keys": ("/cqhr~dxew /?u", "cqhr~dxew /?u"),
    "what is held": ("h~api CreateTopics?", "~api CreateTopics?"),
}


@pytest.mark.parametrize(("keys", "text"), BURSTS.values(), ids=list(BURSTS))
async def test_keys_that_come_in_one_burst_are_text_behind_the_first(keys: str, text: str) -> None:
    async with screen() as shown:
        await shown.run.vote(2)
        await shown.until(lambda: shown.votes == 2)
        shown.type_at_once(keys)
        await shown.until(lambda: shown.is_writing)
        await shown.until(lambda: shown.line.value == text)
        assert (shown.votes, shown.app.flows.visible != [], shown.notifications) == (2, True, [])


async def test_what_is_pasted_is_text_and_no_command() -> None:
    async with screen() as shown:
        await shown.run.vote(2)
        await shown.until(lambda: shown.votes == 2)
        shown.paste("/~api Fetch\n")
        await shown.until(lambda: shown.is_writing)
        assert shown.line.value == "~api Fetch"
        assert shown.votes == 2, "not applied before Enter"
        await shown.press("escape", "h")
        shown.paste("~api Vote")
        await shown.until(lambda: shown.line.value == "~api Vote")
        await shown.press("escape", "question_mark")
        shown.paste("~api Vote")
        await shown.press("escape")
        assert not shown.is_writing
        assert "held" not in shown.text("#status")


async def test_the_keys_are_shown_and_are_those_of_the_page() -> None:
    from rich.console import Console
    from textual.binding import Binding
    from textual.widgets import Static

    from kwire.cli.watch.screen.keys import KEYS

    page = (DOCS / "debuggers" / "watch.md").read_text()
    async with screen() as shown:
        await shown.press("question_mark")
        (table,) = shown.app.screen.query(Static)
        console = Console(width=200)
        with console.capture() as said:
            console.print(table.content)
        for key, text in KEYS:
            assert text in said.get()
            assert all(f"`{one}`" in page or one in page for one in key.split())
        bindings = [binding for binding in shown.app.BINDINGS if isinstance(binding, Binding)]
        shown_keys = {binding.key_display or binding.key for binding in bindings if binding.show}
        assert shown_keys <= {key for keys, _ in KEYS for key in keys.split()}
        await shown.press("escape")
        assert len(shown.app.screen_stack) == 1


@pytest.mark.parametrize("columns", [80, 200])
async def test_a_narrow_terminal_shows_flows_whole_and_the_panels_by_a_key(columns: int) -> None:
    from textual.binding import Binding

    async with screen(size=(columns, 24)) as shown:
        await shown.run.vote()
        await shown.until(lambda: shown.votes == 1)
        line = next(line for line in shown.lines if "Vote v2" in line)
        assert "me → 3000" in line
        assert " ms" in line
        app = shown.app
        left, right = app.query_one("#left"), app.query_one("#right")
        assert (left.display, right.display) == (True, columns == 200)
        keys = [key for key in app.BINDINGS if isinstance(key, Binding) and key.show]
        assert (keys[0].key_display, keys[0].action) == ("?", "keys")
        await shown.press("p")
        assert (left.display, right.display) == (columns == 200, True)
        await shown.press("p")
        assert left.display


async def test_a_connection_that_closed_says_who_how_long_and_what_was_asked() -> None:
    async with screen() as shown:
        await shown.run.vote(3)
        await shown.until(
            lambda: (
                any("closed:" in line for line in shown.lines[-1:]) and "closed" in shown.tree[0]
            )
        )
        facts = {line.split()[0]: line.split(maxsplit=1)[1] for line in shown.tree[1:]}
        assert facts["client"].startswith("me, 127.0.0.1:")
        assert facts["to"].startswith("node 3000, 127.0.0.1:")
        assert facts["requests"] == "3 of those listed: Vote 3"
        assert facts["lasted"].endswith("s")


async def test_rules_are_added_switched_and_removed_on_the_screen() -> None:
    async with screen() as shown:
        await shown.press("u", "a")
        await shown.write("match: ~api Vo, close: true")
        assert "no API is called 'Vo'" in shown.text("#wrong")
        await shown.write("name: cut, match: ~api Vote, close: true")
        table = shown.rules
        await shown.until(lambda: table.row_count == 1)
        assert [str(cell) for cell in table.get_row_at(0)] == [
            *("on ", "cut", "command", "0", "~api Vote: close")
        ]
        reader, writer = await asyncio.open_connection(
            shown.run.address.host, shown.run.address.port
        )
        writer.write(VOTE)
        assert await reader.read() == b""
        writer.close()
        await shown.until(lambda: str(table.get_row_at(0)[3]) == "1")
        await shown.press("space")
        await shown.until(lambda: str(table.get_row_at(0)[0]) == "off")
        await shown.run.vote()
        await shown.press("x")
        await shown.until(lambda: table.row_count == 0)
        assert not shown.run.rules.entries
        await shown.press("escape")
        await shown.until(lambda: len(shown.notifications) == 3)
        assert [text.rpartition(" by ")[0] for text in shown.notifications] == [
            "rule 'cut' was added",
            "rule 'cut' was disabled",
            "rule 'cut' was removed",
        ]


async def test_what_is_too_long_for_its_place_ends_with_an_ellipsis() -> None:
    async with screen(size=(42, 16)) as shown:
        await shown.run.vote(30)
        await shown.until(lambda: len(shown.app.flows) == 32)
        flows, details = shown.flows, shown.details
        await shown.press("up")
        await shown.until(lambda: bool(shown.tree) and shown.tree[0].startswith("Vote v2"))
        assert flows.show_vertical_scrollbar
        assert details.show_vertical_scrollbar
        for widget in (flows, details):
            room = widget.scrollable_content_region.width
            first = widget.render_line(0).text[:room]
            assert first.rstrip().endswith("…"), "cut at the scroll bar"
            assert len(first) == room
        await shown.press("h")
        await shown.write("~api " + "Fetch," * 30 + "Vote")
        await shown.until(lambda: "Fetch,Fetch" in shown.text("#status"))
        status = shown.app.query_one("#status").render_line(0).text
        assert status.endswith("…")


def test_a_rule_is_a_line() -> None:
    delay = {"from": "1s", "to": "3s"}
    rule = {"match": "~api Fetch", "delay": delay, "drop": True, "probability": 0.5}
    assert rule_text(rule) == "~api Fetch: delay {from: 1s, to: 3s}, drop, probability 0.5"


async def test_a_rule_that_another_has_removed_is_told() -> None:
    async with screen() as shown:
        shown.run.rules.add("{name: cut, match: ~api Fetch, drop: true}", "another")
        await shown.press("u")
        await shown.until(lambda: shown.rules.row_count == 1)
        shown.run.rules._entries.clear()
        await shown.press("space")
        await shown.until(
            lambda: any("no rule is called 'cut'" in text for text in shown.notifications)
        )


async def test_tab_goes_to_the_tree_and_back_and_from_the_filter_to_the_flows() -> None:
    async with screen() as shown:
        flows, tree = shown.flows, shown.details
        seen = []
        for keys in (("tab",), ("tab",), ("slash", "tab"), ("shift+tab",)):
            await shown.press(*keys)
            seen.append(shown.app.focused)
        assert seen == [tree, flows, flows, tree]
        assert "nothing has passed yet" in str(flows.border_subtitle)
        await shown.press("h", "tab", "x", "escape")
        assert shown.app.focused is tree


async def test_keys_with_nothing_held_say_so() -> None:
    async with screen() as shown:
        await shown.press("r")
        assert shown.notifications == ["nothing is held: press h to hold messages"]


def row(shown: Screen) -> list[str]:
    """The Vote's row of the latencies."""
    return next(line for line in shown.text("#latency").splitlines() if "Vote" in line).split()


async def test_the_panels_show_the_latencies_and_that_there_is_no_quorum() -> None:
    async with screen() as shown:
        assert "no RPC has been answered yet" in shown.text("#latency")
        await shown.run.vote(5)
        await shown.until(lambda: "Vote" in shown.text("#latency"))
        await shown.until(lambda: row(shown)[:2] == ["Vote", "5"])
        assert "nothing of a quorum has passed yet" in shown.text("#quorum")


async def test_what_is_shown_is_exported(tmp_path: Path) -> None:
    async with screen(view="~api Vote") as shown:
        await shown.run.vote(3)
        await shown.until(lambda: shown.votes == 3)
        for name in ("out.jsonl", "out.avro", "out.avro", "out.txt"):
            await shown.press("w")
            await shown.write(str(tmp_path / name))
            await shown.press("escape")
    values = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(value["api"], value["node"]) for value in values] == [("Vote", 3000)] * 3
    assert values[0]["messages"][0]["name"] == "VoteRequest"
    recorded = list(events(read_capture(tmp_path / "out.avro")))
    flows = [event for event in recorded if isinstance(event, Flow)]
    assert [flow.request_copy for flow in flows] == [VOTE[4:]] * 3
    assert not [event for event in recorded if isinstance(event, Damage)]
    assert sorted(os.listdir(tmp_path)) == ["out.avro", "out.jsonl"]


async def test_the_cursor_stays_while_flows_come_and_follows_at_the_end() -> None:
    async with screen() as shown:
        await shown.run.vote(60)
        await shown.until(lambda: len(shown.app.flows) == 62)
        await shown.press("home")
        first = shown.lines[0]
        assert "opened" in first
        await shown.run.vote(5)
        await shown.until(lambda: len(shown.app.flows) == 69)
        assert shown.lines[0] == first
        assert "paused" in shown.text("#status")
        await shown.press("end")
        assert "closed" in shown.lines[-1]
        await shown.press("c")
        assert shown.lines == []


async def test_a_click_chooses_a_line() -> None:
    async with screen(view="~api Vote") as shown:
        await shown.run.vote(3)
        await shown.until(lambda: shown.votes == 3)
        assert shown.flows.chosen is shown.app.flows.visible[2]
        await shown.pilot.click(shown.flows, offset=(5, 2))
        assert shown.flows.chosen is shown.app.flows.visible[1]


async def test_a_proxy_that_does_not_answer_is_told() -> None:
    from kwire.cli.watch.screen.app import WatchApp

    app = WatchApp(Address("127.0.0.1", free_port()))
    async with app.run_test() as pilot:
        await pilot.pause()
        status = str(app.query_one("#status").render())
        assert "no answer from a proxy with --feed 127.0.0.1" in status
