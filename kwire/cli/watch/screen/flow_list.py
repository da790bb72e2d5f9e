"""The list of flows: only the lines on the screen are drawn, whatever has passed."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kwire.cli.flows.lines import API, CLIENT_AND_NODE, LATENCY, client_and_node, duration
from kwire.cli.watch.screen.flow_log import FlowLog, FlowLogEntry
from kwire.proxy import DecodedFlow, Event, Notice, NoticeKind, Outcome, summarize
from kwire.proxy.flows.text import printable
from kwire.text.times import clock_text

_PLAIN, _DIM, _WHO = Style(), Style(dim=True), Style(color="cyan")
_API, _HELD = Style(bold=True), Style(color="black", bgcolor="yellow", bold=True)
_WRONG, _WARN = Style(color="red"), Style(color="yellow")


class FlowList(ScrollView, can_focus=True):
    """Shows a log. following: True while the cursor stays at the newest flow."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "move(-1000000)", "First", show=False),
        Binding("end,G", "move(1000000)", "Last", show=False),
    ]

    DEFAULT_CSS = """
    FlowList { background: $surface; scrollbar-gutter: stable; overflow-x: hidden; }
    """

    class Chosen(Message):
        """The cursor is at another entry."""

        def __init__(self, entry: FlowLogEntry | None) -> None:
            super().__init__()
            self.entry = entry

    def __init__(self, log: FlowLog, id: str | None = None) -> None:
        super().__init__(id=id)
        self._log = log
        self._gone = 0
        self._cursor = 0
        self._chosen: FlowLogEntry | None = None
        self.following = True

    @property
    def chosen(self) -> FlowLogEntry | None:
        """The entry at the cursor."""
        return self._chosen

    def update(self) -> None:
        """Redraw after a change of the log; keep the cursor at its event, or at the newest."""
        visible = self._log.visible
        self._cursor -= self._log.gone - self._gone
        self._gone = self._log.gone
        if self.following:
            self._cursor = len(visible) - 1
        self._cursor = max(min(self._cursor, len(visible) - 1), 0)
        self.virtual_size = Size(self.size.width, len(visible))
        self.border_subtitle = "" if visible else self._why_empty
        if self.following:
            self.scroll_end(animate=False, immediate=True)
        self.refresh()
        self._tell()

    @property
    def _why_empty(self) -> str:
        if len(self._log):
            return f"the filter shows none of {len(self._log)} events"
        return "nothing has passed yet: clients have to connect to the proxy, not to the node"

    def choose(self, entry: FlowLogEntry) -> None:
        """Move the cursor to an event, if it is shown."""
        if entry in self._log.visible:
            self.following = False
            self._cursor = self._log.visible.index(entry)
            self._show_cursor()

    def action_move(self, lines: int) -> None:
        """Move the cursor; at the last line it follows what comes."""
        last = len(self._log.visible) - 1
        self._cursor = max(min(self._cursor + lines, last), 0)
        self.following = self._cursor >= last
        self._show_cursor()

    def action_page(self, pages: int) -> None:
        """Move the cursor by screens."""
        self.action_move(pages * max(self.size.height - 1, 1))

    def on_resize(self) -> None:
        """Redraw for the new size."""
        self.update()

    def on_click(self, event: Click) -> None:
        """Move the cursor to the line under the mouse."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        y = offset.y + self.scroll_offset.y
        if y < len(self._log.visible):
            self.action_move(y - self._cursor)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        index, width = y + self.scroll_offset.y, self.size.width
        base = self.rich_style
        if index >= len(self._log.visible):
            return Strip.blank(width, base)
        is_chosen = index == self._cursor
        if is_chosen:
            base += Style(bgcolor="#1f4f82" if self.has_focus else "#2f3b4a", bold=True)
        strip = Strip(_segments(self._log.visible[index]))
        room = self.scrollable_content_region.width
        if strip.cell_length > room > 0:
            strip = Strip.join([strip.crop(0, room - 1), Strip([Segment("…", _DIM)])])
        return strip.adjust_cell_length(width, base).apply_style(base)

    def _show_cursor(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if not top <= self._cursor < top + height:
            target = self._cursor if self._cursor < top else self._cursor - height + 1
            self.scroll_to(y=target, animate=False, immediate=True)
        self.refresh()
        self._tell()

    def _tell(self) -> None:
        visible = self._log.visible
        entry = visible[self._cursor] if self._cursor < len(visible) else None
        if entry is not self._chosen:
            self._chosen = entry
            self.post_message(self.Chosen(entry))


def _segments(entry: FlowLogEntry) -> list[Segment]:
    if isinstance(entry.seen, Notice):
        return _notice(entry.seen)
    flow = entry.seen.flow
    latency = "-" if flow.latency is None else duration(flow.latency)
    held = "HELD ←" if entry.holds_response else "HELD →"
    mark = Segment(held, _HELD) if entry.held else Segment(f"{latency:>{LATENCY}}", _DIM)
    pad = Segment(" " * (LATENCY - len(held)) if entry.held else "", _PLAIN)
    return [
        *_head(flow),
        Segment(f"{flow.api} v{flow.version}".ljust(API), _API),
        pad,
        mark,
        Segment(f"  {_summary(entry.seen)}", _style(entry)),
    ]


def _notice(notice: Notice) -> list[Segment]:
    quiet = notice.kind in (NoticeKind.OPENED, NoticeKind.CLOSED)
    text = f"{notice.kind.value}: {printable(notice.text)}"
    return [*_head(notice), Segment(text, _DIM if quiet else _WARN)]


def _head(event: Event) -> list[Segment]:
    asks = client_and_node(event, brief=True)
    asks = f"{asks[: CLIENT_AND_NODE - 1]}…" if len(asks) > CLIENT_AND_NODE else asks
    return [
        Segment(f"{clock_text(event.at)}  ", _DIM),
        Segment(f"{asks:{CLIENT_AND_NODE}}  ", _WHO),
    ]


def _summary(decoded: DecodedFlow) -> str:
    notes = "".join(f" · {printable(note)}" for note in decoded.flow.notes)
    return f"{summarize(decoded)}{notes}"


def _style(entry: FlowLogEntry) -> Style:
    seen = entry.seen
    assert isinstance(seen, DecodedFlow)
    if seen.failures or seen.flow.outcome is Outcome.LOST:
        return _WRONG
    return _WARN if seen.problems else _PLAIN
