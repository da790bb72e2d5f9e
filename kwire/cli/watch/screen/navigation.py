"""Ways through the flows: search, marks, partners, what to follow, saved views."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from textual import on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import SimpleCommand
from textual.events import Click
from textual.widgets import Input

from kwire.cli.watch.screen.ask import InputPrompt, expression_problem
from kwire.cli.watch.screen.choices import choose
from kwire.cli.watch.screen.columns import line_text
from kwire.cli.watch.screen.flow_list import FlowList
from kwire.cli.watch.screen.flow_log import FlowLog, FlowLogEntry
from kwire.cli.watch.screen.panels import change_cells
from kwire.cli.watch.screen.views import read_views, save_view
from kwire.errors import InvalidValue, KwireError
from kwire.proxy import DecodedFlow
from kwire.proxy.flows.language import in_quotes, parse
from kwire.proxy.flows.match_target import MatchTarget
from kwire.proxy.flows.quorum_seen import QuorumChange, QuorumSeen

FOLLOWED = 100
"""Most partitions of a flow that are offered to follow."""

_BARE = re.compile(r"[\w.:*-]+")


NAVIGATION_KEYS: tuple[BindingType, ...] = (
    Binding("s", "search", "Search", priority=True),
    Binding("n", "again(1)", "Next match", show=False),
    Binding("N", "again(-1)", "Match before", show=False),
    Binding("f", "follow", "Follow", priority=True),
    Binding("o", "partner", "Partner"),
    Binding("i", "connection", "Connection", show=False),
    Binding("backspace", "filter_before", "Filter before", show=False),
    Binding("m", "mark", "Mark"),
    Binding("M", "next_mark", "Next mark", show=False),
    Binding("t", "timeline", "Timeline", show=False, priority=True),
    Binding("v", "views", "Views", priority=True),
    Binding("T", "change_theme", "Theme", show=False, priority=True),
)
"""The keys of Navigation's actions. Those that open a line or a list have priority."""


class Navigation(App[None]):
    """The part of the application that moves through what has passed."""

    flows: FlowLog
    _list: FlowList
    _filter: Input
    _quorum: QuorumSeen
    _ask: Callable[..., Any]
    _apply: Callable[[str], bool]
    _complain: Callable[[str], None]

    def __init__(self) -> None:
        super().__init__()
        self._searched: list[str] = []
        self._earlier_filters: list[str] = [""]

    async def action_search(self) -> None:
        """Ask for a text or an expression, and go to the next event that has it."""
        question = "Search for a text in the lines, or for an expression: orders, ~err *"
        await self._ask(InputPrompt(question, "", _search_problem, self._searched), self._search)

    def _search(self, text: str) -> None:
        self._searched = [text, *self._searched][:20] if text else self._searched
        self.action_again(1)

    def action_again(self, step: int) -> None:
        """Go to the next event that was searched for, or to the one before."""
        if not self._searched:
            self._complain("nothing was searched for yet: press s")
            return
        self._go(_matches(self._searched[0]), step, self._searched[0])

    def action_mark(self) -> None:
        """Mark the event at the cursor, or take its mark away."""
        if (entry := self._list.chosen) is not None:
            entry.marked = not entry.marked
            self._list.refresh()

    def action_next_mark(self) -> None:
        """Go to the next marked event."""
        self._go(lambda entry: entry.marked, 1, "a mark, which m sets")

    def _go(self, matches: Callable[[FlowLogEntry], bool], step: int, wanted: str) -> None:
        is_ahead = self._list.find(matches, step)
        if is_ahead is None:
            self.notify(f"no other event shown has {wanted}", markup=False)
        elif not is_ahead:
            self.notify("from the other end of the list", markup=False)

    def action_partner(self) -> None:
        """Go from a client's request to the Envelope that forwards it, and back."""
        if (chosen := self._list.chosen) and (partner := self.flows.partner(chosen)):
            self._reveal(partner)
        else:
            self._complain("no Envelope that carries this request, or is carried, is in the list")

    def _reveal(self, entry: FlowLogEntry) -> None:
        """Move the cursor to an event; end the filter if it hides the event."""
        if entry not in self.flows.visible:
            self.set_filter("")
        self._list.choose(entry)

    def action_connection(self) -> None:
        """Show all flows of the connection."""
        if (entry := self._list.chosen) is not None:
            self.set_filter(f"~connection {entry.event.connection.number}")

    def action_follow(self) -> None:
        """Ask which client, group, transaction or partition of the flow to follow."""
        entry = self._list.chosen
        subjects = [] if entry is None else list(dict.fromkeys(_subjects(entry)))
        choices = [SimpleCommand(text, partial(self.set_filter, text), None) for text in subjects]
        choose(self, choices, "Follow …")

    def action_filter_before(self) -> None:
        """Apply the filter before this one."""
        if len(self._earlier_filters) > 1:
            self._earlier_filters.pop()
            self.set_filter(self._earlier_filters[-1])

    def set_filter(self, text: str) -> None:
        """Apply a filter; stay at the chosen event if it is shown."""
        chosen = self._list.chosen
        self._filter.value = text
        if self._apply(text) and chosen is not None:
            self._list.choose(chosen)

    def action_timeline(self) -> None:
        """Offer the changes of the quorum, the latest first, to show the RPC of one."""
        choices = [
            SimpleCommand(
                "  ".join(map(str, change_cells(change))), partial(self._show_change, change), None
            )
            for change in reversed(self._quorum.changes)
        ]
        choose(self, choices, "The quorum's history …")

    @on(Click, "#quorum")
    def _timeline_by_mouse(self) -> None:
        self.action_timeline()

    def _show_change(self, change: QuorumChange) -> None:
        entry = self.flows.rpc(*change.rpc)
        if entry is None:
            self._complain("that RPC is not in the list any more")
        else:
            self._reveal(entry)

    def action_views(self) -> None:
        """Offer the saved views, to save another and to remove one."""
        try:
            views = read_views()
        except (KwireError, OSError) as error:
            self._complain(str(error))
            return
        use = [
            SimpleCommand(name, partial(self.set_filter, view), view or "no filter")
            for name, view in views.items()
        ]
        save = SimpleCommand("save this filter …", self._save_view, None)
        remove = [
            SimpleCommand(f"remove {name}", partial(self._keep_view, None, name), None)
            for name in views
        ]
        choose(self, [*use, save, *remove], "Views …")

    async def _save_view(self) -> None:
        if expression_problem(self._filter.value):
            self._complain("this filter cannot be saved: it is wrong")
            return
        prompt = InputPrompt("Name of the view", "", _name_problem)
        await self._ask(prompt, partial(self._keep_view, self._filter.value))

    def _keep_view(self, view: str | None, name: str) -> None:
        try:
            save_view(name, view)
        except (KwireError, OSError) as error:
            self._complain(f"the view is not saved: {error}")
        else:
            self.notify(f"view {name} {'removed' if view is None else 'saved'}", markup=False)


def _name_problem(text: str) -> str:
    return "" if text.strip() else "a view needs a name"


def _search_problem(text: str) -> str:
    return expression_problem(text) if text.startswith("~") else ""


def _matches(text: str) -> Callable[[FlowLogEntry], bool]:
    """Return a test of events: by an expression if the text is one, else by the line's text."""
    try:
        expression = parse(text)
    except InvalidValue:
        return lambda entry: text.lower() in line_text(entry).lower()
    return lambda entry: (
        isinstance(entry.seen, DecodedFlow) and expression(MatchTarget.of_flow(entry.seen))
    )


def _subjects(entry: FlowLogEntry) -> Iterator[str]:
    """Yield expressions of what an event is about, the connection and the nodes last."""
    if isinstance(entry.seen, DecodedFlow):
        for layer in MatchTarget.of_flow(entry.seen).layers:
            if layer.flow.client_id:
                yield f"~client {_quoted(layer.flow.client_id)}"
            for kind in ("group", "transaction", "topic", "partition"):
                names = sorted(getattr(layer, f"{kind}s"))
                yield from (f"~{kind} {_quoted(name)}" for name in islice(names, FOLLOWED))
    connection = entry.event.connection
    nodes = dict.fromkeys((connection.peer, connection.node_id))
    yield from (f"~node {node}" for node in nodes if node is not None)
    yield f"~connection {connection.number}"


def _quoted(text: str) -> str:
    """Return a text as the filter language takes it, in quotes where it needs them."""
    return text if _BARE.fullmatch(text) else in_quotes(text)
