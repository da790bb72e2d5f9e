"""The columns of the list of flows, as they are drawn on a wide and on a narrow screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style

from kwire.cli.flows.lines import QUIET, client_and_node, duration
from kwire.cli.watch.screen.flow_log import FlowLogEntry
from kwire.proxy import DecodedFlow, Outcome, summarize
from kwire.proxy.flows.text import printable
from kwire.text.times import clock_text

PLAIN, DIM, WRONG, WARN = Style(), Style(dim=True), Style(color="red"), Style(color="yellow")
_WHO, _API, _FOUND = Style(color="cyan"), Style(bold=True), Style(color="green")
_HELD, _MARK = Style(color="black", bgcolor="yellow", bold=True), Style(color="magenta", bold=True)

NARROW = 100
"""Columns of the list below which the columns have their narrow widths, to leave room behind."""

Cell = tuple[str, Style]


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column: its widths, 0 for all that is left, and its text of a flow for a width.

    of_notices: True if notices have it, too.
    """

    wide: int
    narrow: int
    cell: Callable[[FlowLogEntry, int], Cell]
    of_notices: bool = False
    is_right: bool = False


def _latency(entry: FlowLogEntry, width: int) -> Cell:
    if entry.held:
        return ("HELD ←" if entry.holds_response else "HELD →"), _HELD
    latency = _decoded(entry).flow.latency
    return "-" if latency is None else duration(latency), DIM


def _api(entry: FlowLogEntry, width: int) -> Cell:
    flow = _decoded(entry).flow
    return f"{flow.api} v{flow.version}", _API


def _summary(entry: FlowLogEntry, width: int) -> Cell:
    decoded = _decoded(entry)
    notes = "".join(f" · {printable(note)}" for note in decoded.flow.notes)
    failed = decoded.failures or decoded.flow.outcome is Outcome.LOST
    style = WRONG if failed else WARN if decoded.problems else PLAIN
    return f"{summarize(decoded)}{notes}", style


def _decoded(entry: FlowLogEntry) -> DecodedFlow:
    assert isinstance(entry.seen, DecodedFlow)
    return entry.seen


def _time(entry: FlowLogEntry, width: int) -> Cell:
    return clock_text(entry.event.at)[-width:], DIM


def _client(entry: FlowLogEntry, width: int) -> Cell:
    text = client_and_node(entry.event, brief=True)
    if len(text) > width > 0:  # the name is cut, not the node
        client, arrow, node = text.rpartition(" → ")
        text = f"{client[: max(width - len(arrow + node) - 1, 1)]}…{arrow}{node}"
    return text, _WHO


def _found(entry: FlowLogEntry, width: int) -> Cell:
    return ", ".join(entry.found), _FOUND


_FOUND_COLUMN = ListColumn(36, 36, _found)
_COLUMNS = (
    ListColumn(12, 9, _time, of_notices=True),
    ListColumn(20, 14, _client, of_notices=True),
    ListColumn(25, 19, _api),
    ListColumn(7, 7, _latency, is_right=True),
    _FOUND_COLUMN,
    ListColumn(0, 0, _summary),
)


def line(entry: FlowLogEntry, room: int, *, finds: bool) -> list[Segment]:
    """Return the line of an event. room: of the list, in cells. finds: show what was found."""
    segments = [Segment("●" if entry.marked else " ", _MARK)]
    gap = Segment(" " if room < NARROW else "  ")
    for text, style in _cells(entry, room, finds=finds):
        segments += [Segment(text, style), gap]
    return segments


def line_text(entry: FlowLogEntry) -> str:
    """Return the text of a line in full, to search in it."""
    return "  ".join(text.strip() for text, _ in _cells(entry, None))


def _cells(entry: FlowLogEntry, room: int | None, *, finds: bool = True) -> Iterator[Cell]:
    """Yield the cells of a line; None for the room does not cut them."""
    is_flow = isinstance(entry.seen, DecodedFlow)
    for column in _COLUMNS:
        if (is_flow or column.of_notices) and (finds or column is not _FOUND_COLUMN):
            width = 0 if room is None else column.narrow if room < NARROW else column.wide
            text, style = column.cell(entry, width)
            yield (_fitted(text, width, column.is_right) if width else text), style
    if not isinstance(entry.seen, DecodedFlow):
        style = DIM if entry.seen.kind in QUIET else WARN
        yield f"{entry.seen.kind.value}: {printable(entry.seen.text)}", style


def _fitted(text: str, width: int, is_right: bool) -> str:
    text = f"{text[: width - 1]}…" if len(text) > width else text
    return text.rjust(width) if is_right else text.ljust(width)
