"""The style of all figures: colours that colour-blind readers tell apart, one font, few lines."""

from __future__ import annotations

import html
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import plotly.graph_objects as go

from kwire.text.untrusted import harmless

BLUE, ORANGE, GREEN, SKY, RED, PURPLE, YELLOW, BLACK = (
    *("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#F0E442", "#222222"),
)
"""Okabe and Ito's palette; RED is for errors alone."""

SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, BLACK, YELLOW)
GREY, PALE = "#8A94A3", "#E6EAEF"
UNRECORDED, LEADERLESS = "#5B6675", "#9A3D00"
"""Colours of texts about time that was not recorded, and about time without a leader."""

IN_THE_DARK = {
    BLACK: "#e6e9ee",
    PALE: "#343b45",
    UNRECORDED: "#aab4c0",
    LEADERLESS: "#ffb07a",
}
"""Colours that a dark page replaces, each by one that can be seen there."""

CLEAR = "rgba(0,0,0,0)"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

LANE = 26
"""Height of a row, in pixels."""

LEFT = 250
"""Pixels left of a plot, for names: the same everywhere, so that all axes of time are
of one size and stand below each other.
"""

LONGEST = 31
"""Letters of a name that fit there; fewer if they are wide."""

WIDE, WIDEST = 0.6, "MWmw@%"
CAPITAL = 1.25
"""A letter of usual width is this part of one of the widest, and of those of other scripts; a
capital is so many letters of usual width.
"""

TICKS = 52
"""Pixels left of a plot for the numbers of its axis; its title stands left of them."""

TOP, LEGEND_LINE = 12, 20
BOTTOM, CLIENTS_BOTTOM = 52, 158
"""Pixels above and below a plot. They are not left to plotly, which would move axes of one figure,
and not of another, to make room for a legend or a long name.
"""

TALLEST = 1350
"""Pixels of the highest figure: it has to fit on a printed page."""


def figure(traces: list[Any], *, height: int, legend: bool = False, **layout: Any) -> go.Figure:
    """Return a figure in this style; `layout` overrides it."""
    return dress(go.Figure(traces), height=height, legend=legend, **layout)


def dress(made: go.Figure, *, height: int, legend: bool = False, **layout: Any) -> go.Figure:
    """Apply the style to a figure, of several plots, too. height: in pixels, without its legend."""
    made.update_layout(
        height=height,
        margin={"l": LEFT, "r": 16, "t": TOP, "b": BOTTOM, "autoexpand": False},
        font={"family": FONT, "size": 13, "color": BLACK},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        showlegend=legend,
        legend=LEGEND,
        hoverlabel={"font": {"family": FONT, "size": 13}, "align": "left"},
        uniformtext={"minsize": 10, "mode": "hide"},
    )
    plain = {"gridcolor": PALE, "zeroline": False, "title_font_size": 13}
    made.update_xaxes(plain, linecolor=GREY)
    made.update_yaxes(plain)
    return made.update_layout(**layout)


LEGEND: dict[str, Any] = {
    "orientation": "h",
    "xref": "container",
    "x": 0,
    "y": 1,
    "xanchor": "left",
    "yanchor": "bottom",
    "tracegroupgap": 0,
    "bgcolor": CLEAR,
}
"""Above the plot, from the left edge of the figure on."""


def clock(begin: datetime, end: datetime) -> dict[str, Any]:
    """Return an axis of time, which ends with the recording."""
    edge = (end - begin) * 0.01
    return {
        "type": "date",
        "ticklabelstandoff": 6,
        "range": [begin - edge, end + edge],
        "title": {"text": f"time of {begin:%d %B %Y}, UTC"},
        "tickformatstops": [
            {"dtickrange": [None, 1000], "value": "%H:%M:%S.%L"},
            {"dtickrange": [1000, 60_000], "value": "%H:%M:%S"},
            {"dtickrange": [60_000, 86_400_000], "value": "%H:%M"},
            {"dtickrange": [86_400_000, None], "value": "%d %b"},
        ],
    }


def settle(made: go.Figure) -> go.Figure:
    """Make room above a figure for its legend and its colour scale, once all is drawn."""
    shown = [trace for trace in made.data if trace.showlegend is not False and trace.name]
    beside = bool(made.layout.coloraxis.colorbar.title.text)
    lines = 0
    if made.layout.showlegend:
        width = max((len(trace.name) for trace in shown), default=0) * 7.2 + 45
        room = ROOM - (SCALE if beside else 0)
        lines = -(-len(shown) // max(1, int(room // width)))
    top = max(TOP + lines * LEGEND_LINE, 56 if beside else 0)
    more = top - TOP
    margin = made.layout.margin
    made.update_layout(margin_t=margin.t + more, height=made.layout.height + more)
    return made


ROOM, SCALE = 720, 290
"""Pixels that the narrowest figure has for a legend, and those of a colour scale in it."""


def axis_title(text: str, row: int = 1) -> dict[str, Any]:
    """Return the title of an axis of numbers, level beside it. row: of several plots."""
    return {
        "text": text,
        "showarrow": False,
        "x": 0,
        "xref": "paper",
        "xanchor": "right",
        "xshift": -TICKS,
        "y": 0.5,
        "yref": f"y{'' if row == 1 else row} domain",
        "yanchor": "middle",
        "font": {"size": 13, "color": BLACK},
    }


def names(lanes: Sequence[str | None], longest: int = LONGEST) -> dict[str, Any]:
    """Return an axis of names as they came over the wire, the first on top."""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": labels(lanes, longest)[::-1],
        "range": [-0.6, len(lanes) - 0.4],
        "showgrid": False,
        "ticks": "",
        "tickmode": "linear",
        "dtick": 1,
    }


def clients_axis(clients: Sequence[str | None], total: int) -> dict[str, Any]:
    """Return an axis of client ids. total: the number of all clients."""
    rest = total - len(clients)
    left_out = f" ({many(rest, 'quieter one')} left out)" if rest else ""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": labels(clients, 22),
        "range": [-0.5, len(clients) - 0.5],
        "title": {"text": f"client id{left_out}"},
        "tickangle": -35,
        "tickmode": "linear",
        "dtick": 1,
        "showgrid": False,
    }


CLIENTS = 12
"""Clients that an axis has room for."""


def shares_axis(title: str) -> dict[str, Any]:
    """Return an axis of shares, which ends at 100 %."""
    return {
        "tickformat": ".0%",
        "range": [0, 1],
        "tickvals": [0, 0.5, 1],
        "title": {"text": title},
    }


def utc(at: datetime) -> datetime:
    """Return a time of a row in UTC and without a zone, as plotly draws it.

    PySpark gives times in the zone of this machine.
    """
    return at.astimezone(UTC).replace(tzinfo=None)


def label(text: str | None, longest: int = LONGEST) -> str:
    """Return text from the wire, escaped, since plotly reads some HTML; cut in the middle."""
    return html.escape(cut(text, longest), quote=False)


def cut(text: str | None, longest: int = 60) -> str:
    """Return text from the wire for a sentence, which the page escapes; cut in the middle."""
    text = _named(text)
    if _width(text) <= longest:
        return text
    begin, end = len(text), len(text)
    while begin and _width(text[:begin]) > longest / 2:
        begin -= 1
    while end and _width(text[-end:]) > longest / 2 - 1:
        end -= 1
    return f"{text[:begin]}…{text[-end:]}"


def _width(text: str) -> float:
    """Return the width of a text, in letters of usual width."""
    return sum(
        1 / WIDE if letter in WIDEST or not letter.isascii() else CAPITAL if letter.isupper() else 1
        for letter in text
    )


def labels(texts: Sequence[str | None], longest: int = LONGEST) -> list[str]:
    """Return a label for each text; a number tells those apart that are alike when cut."""
    counts: dict[str, int] = {}
    found = []
    for text in texts:
        short = label(text, longest)
        counts[short] = counts.get(short, 0) + 1
        found.append(short if counts[short] == 1 else f"{short} ({counts[short]})")
    return found


def full(text: str | None) -> str:
    """Return text from the wire for the box at the mouse: whole, in lines of a readable length."""
    text = _named(text)
    if len(text) > WHOLE:
        text = f"{text[:WHOLE]}…"
    lines = [text[start : start + LINE] for start in range(0, len(text), LINE)]
    return "<br>".join(html.escape(line, quote=False) for line in lines)


WHOLE, LINE = 400, 80
"""Letters of a text at the mouse: in all, and in a line."""


def _named(text: str | None) -> str:
    return "(none)" if text is None else harmless(text) or "(empty)"


def size(count: float) -> str:
    """Return a number of bytes with its unit, in about three digits."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 999.5 or unit == "TB":
            return f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError(count)


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
