"""The application: actions of keys, and when the screen is drawn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from io import StringIO
from pathlib import Path
from time import strftime
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Paste
from textual.widgets import Footer, Input, Label, Static

from kwire.cli.watch.screen.ask import InputPrompt, expression_problem
from kwire.cli.watch.screen.details import Details
from kwire.cli.watch.screen.export import export, export_problem, json_lines
from kwire.cli.watch.screen.flow_list import FlowList
from kwire.cli.watch.screen.flow_log import FlowLog, FlowLogEntry
from kwire.cli.watch.screen.keys import Keys
from kwire.cli.watch.screen.navigation import NAVIGATION_KEYS, Navigation
from kwire.cli.watch.screen.panels import CHANGES, latency_panel, quorum_panel, status_line
from kwire.cli.watch.screen.rules import RulesScreen
from kwire.errors import InvalidValue, KwireError
from kwire.net.address import Address
from kwire.proxy import DecodedFlow, Notice
from kwire.proxy.feed.datagrams import Status
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.source import FeedEvent
from kwire.proxy.feed.watching import missing_bytes, new_changes, watching
from kwire.proxy.flows.language import parse
from kwire.proxy.flows.latencies import Latencies
from kwire.proxy.flows.quorum_seen import QuorumSeen

DRAW = 0.5
"""Seconds between two looks for new events."""

PANELS = 1.0
"""Seconds between two drawings of the panels."""

WIDE = 126
"""Columns from which on the panels are beside the flows, which then have API, node and latency."""


class WatchApp(Navigation):
    """Shows the traffic of a proxy with a feed. view: the filter to begin with."""

    TITLE = "kwire watch"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #status { height: 1; background: $panel; text-wrap: nowrap; text-overflow: ellipsis; }
    #filter { height: 1; }
    #filter Label { width: 8; color: $text-muted; padding: 0 0 0 1; }
    #filter Input { width: 1fr; }
    #problem { height: auto; color: $text-error; padding: 0 0 0 8; display: none; }
    #problem.wrong { display: block; }
    #body { height: 1fr; }
    #left { width: 1fr; }
    #right { width: 54; }
    FlowList, Details, #quorum, #latency {
        border: round $foreground 30%; border-title-color: $foreground 80%; background: $surface;
    }
    FlowList { height: 3fr; }
    Details { height: 2fr; scrollbar-size-horizontal: 0; }
    FlowList:focus, Details:focus { border: round $accent; }
    #quorum, #latency { padding: 0 1; }
    #quorum { height: auto; max-height: 60%; }
    #latency { height: 1fr; }
    .-narrow #right { display: none; }
    .-narrow.panels #left { display: none; }
    .-narrow.panels #right { display: block; width: 1fr; }
    """
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 (Textual declares it so)
        (0, "-narrow"),
        (WIDE, "-wide"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        # The first in the footer, which may have no room for all. Keys that open a line have
        # priority: what follows in one burst is text of that line.
        Binding("question_mark", "keys", "Keys", key_display="?", priority=True),
        Binding("slash", "filter", "Filter", key_display="/", priority=True),
        *NAVIGATION_KEYS,
        Binding("space", "pause", "Pause"),
        Binding("h", "hold", "Hold", priority=True),
        Binding("r", "release('resume')", "Resume"),
        Binding("R", "release_all", "Resume all"),
        Binding("d", "release('drop')", "Drop"),
        Binding("x", "release('close')", "Kill"),
        Binding("e", "edit", "Edit", priority=True),
        Binding("u", "rules", "Rules", priority=True),
        Binding("w", "export", "Export", priority=True),
        Binding("c", "clear", "Clear"),
        Binding("p", "panels", "Panels"),
        Binding("q", "quit", "Quit"),
        Binding("escape", "leave", "Back", show=False),
        Binding("tab,shift+tab", "switch", "Tree", show=False, priority=True),
    ]

    def __init__(
        self,
        address: Address | None = None,
        *,
        token: bytes = b"",
        view: str = "",
        backlog: int = 1000,
    ) -> None:
        super().__init__()
        self._address = address
        self._token = token
        self._view = view
        self._backlog = backlog
        self.flows = FlowLog()
        self._quorum = QuorumSeen()
        self._latencies = Latencies()
        self._came: list[FeedEvent] = []
        self._stack = AsyncExitStack()
        self._receiver: Receiver | None = None
        self._expressions: list[str] = []
        self._before: Status | None = None
        self._shown: FlowLogEntry | None = None
        self._quorum_lines = -1
        self._list = FlowList(self.flows)
        self._details = Details()
        self._status = Static(id="status")
        self._problem = Label(id="problem", markup=False)
        self._quorum_panel = Static(id="quorum")
        self._latency_panel = Static(id="latency")
        self._filter = Input(
            placeholder="~api Fetch & ~lat >100ms, Enter applies",
            compact=True,
            select_on_focus=False,
        )

    def compose(self) -> ComposeResult:
        """Status, filter, flows above details, panels to the right, keys."""
        yield self._status
        with Horizontal(id="filter"):
            yield Label("filter")
            yield self._filter
        yield self._problem
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self._list
                yield self._details
            with Vertical(id="right"):
                yield self._quorum_panel
                yield self._latency_panel
        yield Footer()

    async def on_mount(self) -> None:
        """Begin to watch."""
        self._list.border_title = "Flows"
        self._details.border_title = "Details"
        self._quorum_panel.border_title = "Quorum"
        self._latency_panel.border_title = "Latency"
        self._list.focus()
        self._filter.value = self._view
        self._apply(self._view)
        await self.open_source()
        self._draw()
        self._draw_panels()
        self.set_interval(DRAW, self._draw)
        self.set_interval(PANELS, self._draw_panels)

    async def open_source(self) -> None:
        """Begin to fill the list of events."""
        assert self._address is not None
        self._receiver = await self._stack.enter_async_context(
            watching(
                self._address,
                self._came.append,
                token=self._token,
                backlog=self._backlog,
                on_status=self._on_status,
                samples=True,
            )
        )

    async def on_unmount(self) -> None:
        """Close the connection to the proxy."""
        await self._stack.aclose()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the column at which the filter is wrong."""
        self._show_problem(expression_problem(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Apply the filter."""
        if self._apply(event.value):
            self._list.focus()

    def on_flow_list_chosen(self, event: FlowList.Chosen) -> None:
        """Show the flow at the cursor; while it follows the latest flows, once a second."""
        if not self._list.following:
            self._show(event.entry)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True unless the action's key is text now, or another screen is open."""
        if action in COMMANDS:
            return len(self.screen_stack) == 1 and not isinstance(self.focused, Input)
        return True

    def on_paste(self, event: Paste) -> None:
        """Take text that is pasted outside of a line as a filter: its letters are no commands."""
        text = event.text.strip().removeprefix("/")
        if text and self.check_action("filter", ()):
            self._filter.value = " ".join(text.split())
            self._filter.cursor_position = len(self._filter.value)
            self.action_filter()

    def action_filter(self) -> None:
        """Edit the filter."""
        self.screen.set_focus(self._filter)

    async def action_keys(self) -> None:
        """Show the keys."""
        await self.push_screen(Keys())

    async def action_rules(self) -> None:
        """Show the rules of the proxy, to change them."""
        if self._receiver is None or self._receiver.status is None:
            self._complain("the proxy does not answer")
            return
        await self.push_screen(RulesScreen(self._receiver, self._complain, self._filter.value))

    def action_leave(self) -> None:
        """Go back from the filter or the details to the flows."""
        self._list.focus()

    def action_switch(self) -> None:
        """Go to the tree and back; the filter has a key of its own."""
        if len(self.screen_stack) == 1:
            (self._details if self._list.has_focus else self._list).focus()

    def action_pause(self) -> None:
        """Stay at this flow, or follow those that come."""
        self._list.following = not self._list.following
        self._list.update()
        self._draw_status()

    def action_panels(self) -> None:
        """Show quorum and latencies in place of the flows where both have no room."""
        self.screen.toggle_class("panels")

    def action_clear(self) -> None:
        """Forget all events but those that are held or marked."""
        self.flows.clear()
        self._latencies = Latencies()
        self._list.update()
        self._draw_panels()

    async def action_hold(self) -> None:
        """Ask for an expression of messages to hold."""
        status = None if self._receiver is None else self._receiver.status
        earlier = [status.hold if status else None, *self._expressions, self._filter.value]
        known = list(dict.fromkeys(text for text in earlier if text))
        question = "Hold requests of which this is so, with ~response responses; empty: none"
        await self._ask(InputPrompt(question, "", expression_problem, known), self._hold)

    def action_release(self, how: str) -> None:
        """Resume, drop or kill the message at the cursor, or the oldest that is held."""
        entry = self._held_entry()
        if entry is not None and self._receiver is not None:
            self._do(partial(self._receiver.release, entry.number, how))

    def action_release_all(self) -> None:
        """Resume all held messages."""
        if self._receiver is not None and self._receiver.status is not None:
            for number in self._receiver.status.held:
                self._do(partial(self._receiver.release, number))

    async def action_edit(self) -> None:
        """Change a field of the held message at the cursor."""
        entry = self._held_entry()
        if entry is None:
            return
        self._list.choose(entry)
        field = self._details.edit
        question = "Set a field of the held message: path=value, as topics.0.name=new"
        await self._ask(
            InputPrompt(question, field, _edit_problem), lambda text: self._edit(entry, text)
        )

    async def action_export(self) -> None:
        """Write the events shown to a file; in a browser download them."""
        name = f"watch-{strftime('%H%M%S')}.jsonl"
        if self.is_web:
            self.deliver_text(StringIO(json_lines(self.flows.visible)), save_filename=name)
            return
        question = f"Write the {len(self.flows.visible)} events shown to a .jsonl or an .avro file"
        await self._ask(InputPrompt(question, name, export_problem), self._export)

    def _hold(self, text: str) -> None:
        expression = text.strip()
        if expression:
            self._expressions = [expression, *self._expressions][:20]
        if self._receiver is not None:
            self._do(partial(self._receiver.set_hold, expression or None))

    def _edit(self, entry: FlowLogEntry, text: str) -> None:
        path, _, value = text.partition("=")
        if self._receiver is not None:
            self._do(partial(self._receiver.edit, entry.number, path.strip(), value.strip()))

    def _export(self, text: str) -> None:
        status = None if self._receiver is None else self._receiver.status
        try:
            export(self.flows.visible, Path(text), status.feed if status else "watch")
        except (KwireError, OSError) as error:
            self._complain(f"nothing is written: {error}")
        else:
            self.notify(f"{len(self.flows.visible)} events written to {text}", markup=False)

    def _held_entry(self) -> FlowLogEntry | None:
        """Return the held event at the cursor, else the oldest one; complain if there is none."""
        entry = self._list.chosen
        if entry is not None and entry.held:
            return entry
        status = None if self._receiver is None else self._receiver.status
        for number in status.held if status else ():
            if oldest := self.flows.get(number):
                return oldest
        self._complain("nothing is held: press h to hold messages")
        return None

    async def _ask(self, prompt: InputPrompt, then: Any) -> None:
        """Open a line to edit."""
        await self.push_screen(prompt, lambda text: None if text is None else then(text))
        # At once, not when it is drawn: keys that are typed on belong to the line.
        prompt.set_focus(prompt.query_one(Input))

    @work
    async def _do(self, ask: Callable[[], Awaitable[None]]) -> None:
        try:
            await ask()
        except KwireError as error:
            self._complain(str(error))

    def _complain(self, text: str) -> None:
        self.notify(text, severity="error", markup=False)

    def _apply(self, text: str) -> bool:
        """Filter by an expression; return False, and show why, if it is none."""
        try:
            self.flows.filter(parse(text) if text.strip() else None)
        except InvalidValue:
            self._show_problem(expression_problem(text))
            return False
        if text != self._earlier_filters[-1]:
            self._earlier_filters = [*self._earlier_filters[-50:], text]
        self._list.following = True
        self._list.update()
        return True

    def _show_problem(self, text: str) -> None:
        self._problem.update(text)
        self._problem.set_class(bool(text), "wrong")

    def _show(self, entry: FlowLogEntry | None) -> None:
        self._shown = entry
        self._show_details(entry)
        if entry is None or not isinstance(entry.seen, DecodedFlow) or self._receiver is None:
            return
        if missing_bytes(entry.seen.flow):
            self._do(partial(self._complete, self._receiver, entry))

    def _show_details(self, entry: FlowLogEntry | None) -> None:
        seen = None if entry is None else entry.seen
        rpcs = self.flows.of_connection(seen) if isinstance(seen, Notice) else ()
        self._details.show(entry, rpcs)

    async def _complete(self, receiver: Receiver, entry: FlowLogEntry) -> None:
        """Fetch the bytes that the datagram had no room for."""
        event = await receiver.complete_event(entry.number)
        self._came.append(FeedEvent(entry.number, event, entry.held))

    def _on_status(self) -> None:
        status = None if self._receiver is None else self._receiver.status
        if status is not None:
            self.flows.settle(status.held)
            for sentence in new_changes(self._before, status):
                self.notify(sentence, markup=False)
            self._before = status
        self._draw_status()

    def take(self) -> list[FeedEvent]:
        """Return the events since the last call."""
        came, self._came[:] = list(self._came), []
        return came

    def _draw(self) -> None:
        came = self.take()
        if not came:
            return
        chosen = self._list.chosen
        for watched in came:
            # An event comes again when it is no longer held or unanswered, and when its missing
            # bytes have been fetched: its latency counts once.
            known = self.flows.get(watched.number)
            is_new = known is None or known.held or known.waits
            entry = self.flows.add(watched)
            if isinstance(entry.seen, DecodedFlow) and not (watched.held or watched.waits):
                self._learn(entry.seen, is_new)
            if entry is chosen and entry is self._shown:
                self._show_details(entry)
        self._list.update()
        self._draw_status()

    def _learn(self, decoded: DecodedFlow, is_new: bool) -> None:
        self._quorum.add(decoded)
        if is_new:
            self._latencies.add(decoded)

    def _draw_status(self) -> None:
        self._status.update(self.status_text, layout=False)

    @property
    def status_text(self) -> Text:
        """The line above all."""
        flow_count, following = len(self.flows), self._list.following
        return status_line(str(self._address), self._receiver, flow_count, following)

    def _draw_panels(self) -> None:
        self._draw_status()
        if self._list.chosen is not self._shown:
            self._show(self._list.chosen)
        panel = self._quorum_panel
        count = len(self._quorum.replicas) + min(len(self._quorum.changes), CHANGES)
        shown = quorum_panel(self._quorum, panel.content_size.width)
        panel.update(shown, layout=count != self._quorum_lines)
        self._quorum_lines = count
        self._latency_panel.update(latency_panel(self._latencies), layout=False)


def _edit_problem(text: str) -> str:
    path, equals, _ = text.partition("=")
    return "" if path.strip() and equals else "write path=value"


_BOUND = (binding for binding in WatchApp.BINDINGS if isinstance(binding, Binding))
COMMANDS = {binding.action.partition("(")[0] for binding in _BOUND} - {"quit", "leave", "switch"}
"""Actions whose keys are text while a line is edited, and disabled while another screen is open."""
