"""The list of flows: only the lines on the screen are drawn, whatever has passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kwire.cli.watch.screen.columns import DIM, line
from kwire.cli.watch.screen.flow_log import FlowLog, FlowLogEntry


class FlowList(ScrollView, can_focus=True):
    """Shows a log. following: True while the cursor stays at the newest flow."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"flow-list--cursor", "flow-list--blurred"}

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
    FlowList .flow-list--cursor { background: $primary-muted; text-style: bold; }
    FlowList .flow-list--blurred { background: $foreground 15%; text-style: bold; }
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
        elif self._chosen in visible:
            self._cursor = visible.index(self._chosen)
        self._cursor = max(min(self._cursor, len(visible) - 1), 0)
        self._resize(Size(self.size.width, len(visible)))
        self.border_subtitle = "" if visible else self._why_empty
        if self.following:
            # Forced: the scroll bar of a list that has just become too long is not there yet.
            self.scroll_end(animate=False, immediate=True, force=True)
        self.refresh()
        self._tell()

    def _resize(self, size: Size) -> None:
        if not self.show_vertical_scrollbar or size.height <= self.size.height:
            self.virtual_size = size
            return
        # As above, but the whole screen is not laid out anew: that takes half of the time.
        self.set_reactive(FlowList.virtual_size, size)
        self.vertical_scrollbar.window_virtual_size = size.height

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

    def find(self, matches: Callable[[FlowLogEntry], bool], step: int) -> bool | None:
        """Move the cursor to the next event that matches, or with step -1 to the one before.

        Returns None if there is none but that at the cursor, False if the search went round.
        """
        visible = self._log.visible
        for distance in range(1, len(visible)):
            index = (self._cursor + step * distance) % len(visible)
            if matches(visible[index]):
                is_ahead = (index - self._cursor) * step > 0
                self.choose(visible[index])
                return is_ahead
        return None

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
        if index == self._cursor:
            part = "cursor" if self.has_focus else "blurred"
            base = self.get_component_rich_style(f"flow-list--{part}")
        room = self.scrollable_content_region.width
        strip = Strip(line(self._log.visible[index], room, finds=self._log.finds))
        if strip.cell_length > room > 0:
            strip = Strip.join([strip.crop(0, room - 1), Strip([Segment("…", DIM)])])
        return strip.adjust_cell_length(width, base).apply_style(base)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when wheel or scroll bar go up from the newest flow."""
        super().watch_scroll_y(old_value, new_value)
        if new_value < min(old_value, self.max_scroll_y):
            self.following = False

    def _show_cursor(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if not top <= self._cursor < top + height:
            target = self._cursor if self._cursor < top else self._cursor - height + 1
            self.scroll_to(y=target, animate=False, immediate=True, force=True)
        self.refresh()
        self._tell()

    def _tell(self) -> None:
        visible = self._log.visible
        entry = visible[self._cursor] if self._cursor < len(visible) else None
        if entry is not self._chosen:
            self._chosen = entry
            self.post_message(self.Chosen(entry))
