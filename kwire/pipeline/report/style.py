"""The style of all figures: colours that colour-blind readers tell apart, one font, few lines."""

from __future__ import annotations

import html
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import plotly.graph_objects as go

BLUE, ORANGE, GREEN, SKY, RED, PURPLE, YELLOW, BLACK = (
    *("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#F0E442", "#222222"),
)
"""Okabe and Ito's palette; RED is for errors alone."""

SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, BLACK, YELLOW)
GREY, PALE = "#8A94A3", "#E6EAEF"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

LANE = 26
"""Height of a row, in pixels."""


def figure(traces: list[Any], *, height: int, legend: bool = False, **layout: Any) -> go.Figure:
    """Return a figure in this style; `layout` overrides it."""
    return dress(go.Figure(traces), height=height, legend=legend, **layout)


def dress(made: go.Figure, *, height: int, legend: bool = False, **layout: Any) -> go.Figure:
    """Apply the style to a figure, of several plots, too. height: in pixels."""
    made.update_layout(
        height=height,
        margin={"l": 8, "r": 16, "t": 34 if legend else 12, "b": 8},
        font={"family": FONT, "size": 13, "color": BLACK},
        paper_bgcolor="white",
        plot_bgcolor="white",
        showlegend=legend,
        legend={"orientation": "h", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"},
        hoverlabel={"font": {"family": FONT, "size": 13}, "align": "left"},
    )
    plain = {"gridcolor": PALE, "zeroline": False, "automargin": True, "title_font_size": 13}
    made.update_xaxes(plain, linecolor=GREY)
    made.update_yaxes(plain)
    return made.update_layout(**layout)


def clock(begin: datetime, end: datetime) -> dict[str, Any]:
    """Return an axis of time, which ends with the recording."""
    edge = (end - begin) * 0.01
    return {
        "type": "date",
        "range": [begin - edge, end + edge],
        "title": {"text": f"time of {begin:%d %B %Y}, UTC"},
        "tickformatstops": [
            {"dtickrange": [None, 1000], "value": "%H:%M:%S.%L"},
            {"dtickrange": [1000, 60_000], "value": "%H:%M:%S"},
            {"dtickrange": [60_000, 86_400_000], "value": "%H:%M"},
            {"dtickrange": [86_400_000, None], "value": "%d %b"},
        ],
    }


def names(order: list[str]) -> dict[str, Any]:
    """Return an axis of names, the first on top."""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": order[::-1],
        "range": [-0.6, len(order) - 0.4],
        "showgrid": False,
        "ticks": "",
    }


def clients_axis(clients: Sequence[str | None], total: int) -> dict[str, Any]:
    """Return an axis of client ids. total: the number of all clients."""
    rest = total - len(clients)
    left_out = f" ({many(rest, 'quieter one')} left out)" if rest else ""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": [label(client, 22) for client in clients],
        "title": {"text": f"client id{left_out}"},
        "tickangle": -35,
        "showgrid": False,
    }


def utc(at: datetime) -> datetime:
    """Return a time of a row in UTC and without a zone, as plotly draws it.

    PySpark gives times in the zone of this machine.
    """
    return at.astimezone(UTC).replace(tzinfo=None)


def label(text: str | None, longest: int = 52) -> str:
    """Return text from the wire, escaped, since plotly reads some HTML; cut in the middle."""
    if text is None:
        return "(none)"
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[-(longest // 2) :]}"
    return html.escape(text, quote=False)


def duration(milliseconds: float) -> str:
    """Return a duration with its unit, in about three digits."""
    if milliseconds < 1:
        return f"{milliseconds * 1000:.0f} µs"
    if milliseconds < 1000:
        return f"{milliseconds:.3g} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.3g} s"
    minutes, seconds = divmod(milliseconds / 1000, 60)
    if minutes < 60:
        return f"{minutes:.0f} min {seconds:.0f} s"
    return f"{minutes // 60:.0f} h {minutes % 60:.0f} min"


def many(count: int, singular: str, plural: str = "") -> str:
    """Return `1 call` or `2,000 calls`."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
