"""The columns of the list of flows by name, as they are drawn on a wide and on a narrow screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style

from kwire.cli.flows.lines import QUIET, client_and_node, duration
from kwire.cli.watch.screen.flow_log import FlowLogEntry
from kwire.proxy import DecodedFlow, Outcome, summarize
from kwire.proxy.flows.text import printable, size_text
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


def _size(entry: FlowLogEntry, width: int) -> Cell:
    flow = _decoded(entry).flow
    return size_text(max(flow.request_size, flow.response_size or 0)), DIM


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


def _connection(entry: FlowLogEntry, width: int) -> Cell:
    return f"#{entry.event.connection.number}", DIM


def _found(entry: FlowLogEntry, width: int) -> Cell:
    return ", ".join(entry.found), _FOUND


COLUMNS = {
    "time": ListColumn(12, 9, _time, of_notices=True),
    "connection": ListColumn(5, 5, _connection, of_notices=True),
    "client": ListColumn(20, 14, _client, of_notices=True),
    "api": ListColumn(25, 19, _api),
    "latency": ListColumn(7, 7, _latency, is_right=True),
    "size": ListColumn(8, 8, _size, is_right=True),
    "found": ListColumn(36, 36, _found),
    "summary": ListColumn(0, 0, _summary),
}
"""The columns that may be shown. client: client and node; found: what the filter found."""

SHOWN = ("time", "client", "api", "latency", "found", "summary")
"""The columns that are shown at first."""


def columns_problem(text: str) -> str:
    """Return the problem of the names of columns; empty if there is none."""
    unknown = [name for name in text.split() if name not in COLUMNS]
    if unknown or not text.split():
        return f"{'no column ' + unknown[0] if unknown else 'none'}: there are {' '.join(COLUMNS)}"
    return ""


def line(entry: FlowLogEntry, names: Sequence[str], room: int) -> list[Segment]:
    """Return the line of an event in these columns. room: of the list, in cells."""
    segments = [Segment("●" if entry.marked else " ", _MARK)]
    gap = Segment(" " if room < NARROW else "  ")
    for text, style in _cells(entry, names, room):
        segments += [Segment(text, style), gap]
    return segments


def line_text(entry: FlowLogEntry, names: Sequence[str]) -> str:
    """Return the text of a line in full, to search in it."""
    return "  ".join(text.strip() for text, _ in _cells(entry, names, 0, cut=False))


def _cells(
    entry: FlowLogEntry, names: Sequence[str], room: int, *, cut: bool = True
) -> Iterator[Cell]:
    is_flow = isinstance(entry.seen, DecodedFlow)
    for column in (COLUMNS[name] for name in names):
        if is_flow or column.of_notices:
            width = (column.narrow if room < NARROW else column.wide) if cut else 0
            text, style = column.cell(entry, width)
            yield (_fitted(text, width, column.is_right) if width else text), style
    if not isinstance(entry.seen, DecodedFlow):
        style = DIM if entry.seen.kind in QUIET else WARN
        yield f"{entry.seen.kind.value}: {printable(entry.seen.text)}", style


def _fitted(text: str, width: int, is_right: bool) -> str:
    text = f"{text[: width - 1]}…" if len(text) > width else text
    return text.rjust(width) if is_right else text.ljust(width)
