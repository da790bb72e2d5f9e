"""A line of the list of flows, in columns for a wide and for a narrow screen."""

from __future__ import annotations

from collections.abc import Iterator

from rich.segment import Segment
from rich.style import Style

from kwire.cli.flows.lines import QUIET, client_and_node, duration
from kwire.cli.watch.screen.flow_log import FlowLogEntry
from kwire.proxy import DecodedFlow, Notice, Outcome, summarize
from kwire.proxy.flows.text import printable
from kwire.text.times import clock_text

PLAIN, DIM, WRONG, WARN = Style(), Style(dim=True), Style(color="red"), Style(color="yellow")
_WHO, _API, _FOUND = Style(color="cyan"), Style(bold=True), Style(color="green")
_HELD, _MARK = Style(color="black", bgcolor="yellow", bold=True), Style(color="magenta", bold=True)

NARROW = 100
"""Columns of the list below which the columns have their narrow widths, to leave room behind."""

Cell = tuple[str, Style]

_WIDTHS, _NARROW_WIDTHS, _IN_FULL = (12, 20, 25, 7, 36), (9, 14, 19, 7, 36), (0, 0, 0, 0, 0)


def line(entry: FlowLogEntry, room: int, *, finds: bool) -> list[Segment]:
    """Return the line of an event. room: of the list, in cells. finds: show what was found."""
    segments = [Segment("●" if entry.marked else " ", _MARK)]
    gap = Segment(" " if room < NARROW else "  ")
    for text, style in _cells(entry, _NARROW_WIDTHS if room < NARROW else _WIDTHS, finds=finds):
        segments += [Segment(text, style), gap]
    return segments


def line_text(entry: FlowLogEntry) -> str:
    """Return the text of a line in full, to search in it."""
    return "  ".join(text for text, _ in _cells(entry, _IN_FULL, finds=True))


def _cells(entry: FlowLogEntry, widths: tuple[int, ...], *, finds: bool) -> Iterator[Cell]:
    time, client, api, latency, found = widths
    yield clock_text(entry.event.at)[-time:], DIM
    yield _fitted(_client(entry, client), client), _WHO
    if isinstance(entry.seen, Notice):
        style = DIM if entry.seen.kind in QUIET else WARN
        yield f"{entry.seen.kind.value}: {printable(entry.seen.text)}", style
        return
    flow = entry.seen.flow
    yield _fitted(f"{flow.api} v{flow.version}", api), _API
    if entry.held:
        yield ("HELD ←" if entry.holds_response else "HELD →").rjust(latency), _HELD
    else:
        yield ("-" if flow.latency is None else duration(flow.latency)).rjust(latency), DIM
    if finds:
        yield _fitted(", ".join(map(_brief, entry.found)), found), _FOUND
    yield _summary(entry.seen)


def _brief(found: str) -> str:
    """Return `name=value`, of an error its name alone: the details show the rest."""
    name, _, value = found.partition("=")
    error = value.partition(" ")[2]
    return error if error and name.endswith("error_code") else found


def _client(entry: FlowLogEntry, width: int) -> str:
    text = client_and_node(entry.event, brief=True)
    if len(text) > width > 0:  # the name is cut, not the node
        client, arrow, node = text.rpartition(" → ")
        text = f"{client[: max(width - len(arrow + node) - 1, 1)]}…{arrow}{node}"
    return text


def _summary(decoded: DecodedFlow) -> Cell:
    notes = "".join(f" · {printable(note)}" for note in decoded.flow.notes)
    failed = decoded.failures or decoded.flow.outcome is Outcome.LOST
    style = WRONG if failed else WARN if decoded.problems else PLAIN
    return f"{summarize(decoded)}{notes}", style


def _fitted(text: str, width: int) -> str:
    return f"{text[: width - 1]}…" if len(text) > width > 0 else text.ljust(width)
