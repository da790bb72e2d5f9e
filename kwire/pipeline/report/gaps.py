"""Gaps of time, drawn across a picture and named in a strip above its data and in its legend."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go

from kwire.pipeline.report.span import Gap
from kwire.pipeline.report.style import GREY, UNRECORDED, duration, many

DRAWN = 200
"""Gaps that a picture has at most, the longest."""

PIXELS = 480
"""The width of the narrowest plot: texts that are apart in it are apart in all."""

LETTER = 7.2
"""The width of a letter, in pixels."""

LINE = 22
"""Height of the strip, in pixels."""

STRIP = {"category": 0.85, "lanes": 0.45, "numbers": 0.1}
"""Height of the strip for names: in lanes, or as a share of an axis of numbers."""


def draw_unrecorded(
    made: Any, gaps: Sequence[Gap], begin: datetime, end: datetime, *, share: float = 1.0
) -> None:
    """Draw the time that was not recorded, with names. begin, end: of the picture.

    share: the part of the picture's width that its axis of time has.
    """
    strip = NameStrip(begin, end, PIXELS * share)
    draw_gaps(made, gaps, strip, "nothing recorded", UNRECORDED, GREY, 0.25)
    strip.write(made)


class NameStrip:
    """Names of gaps above the data, none over another. begin, end: of the axis. pixels: its width.

    Longer gaps have their names first; one without room has none, and is in the legend alone.
    """

    def __init__(self, begin: datetime, end: datetime, pixels: float = PIXELS) -> None:
        self.begin = begin
        self.pixels = pixels
        self.scale = pixels / max((end - begin) / timedelta(seconds=1), 1e-6)
        self.taken: list[tuple[float, float]] = []
        self.annotations: list[dict[str, Any]] = []

    def name(self, gap: Gap, name: str, colour: str) -> None:
        """Write name and length above a gap, if there is room; else its length; else nothing."""
        spent = duration(gap.milliseconds)
        for text, letters in ((f"<b>{name}</b> {spent}", f"{name} {spent}"), (spent, spent)):
            width = len(letters) * LETTER + 8
            middle = gap.begin + (gap.end - gap.begin) / 2
            centre = (middle - self.begin) / timedelta(seconds=1) * self.scale
            left = min(max(centre - width / 2, 0), max(self.pixels - width, 0))
            if all(left + width <= begin or left >= end for begin, end in self.taken):
                self.taken.append((left, left + width))
                self.annotations.append(self._annotation(text, left, width, colour))
                return

    def write(self, made: Any) -> None:
        """Add the names to the uppermost plot, and make room for them above its data."""
        if not self.annotations:
            return
        axis = made.layout.yaxis
        low, high = axis.range
        kind = axis.type if axis.type == "category" else "lanes" if axis.tickvals else "numbers"
        more = STRIP[kind] * (high - low if kind == "numbers" else 1)
        axis.range = (low, high + more)
        if kind != "numbers":  # lanes stay as high as they were
            made.update_layout(height=made.layout.height + LINE)
        for annotation in self.annotations:
            made.add_annotation(**annotation)

    def _annotation(self, text: str, left: float, width: float, colour: str) -> dict[str, Any]:
        # At an edge a text ends with the plot, however wide the plot is.
        at, anchor = left + width / 2, "center"
        if left <= 0:
            at, anchor = 0.0, "left"
        elif left + width >= self.pixels:
            at, anchor = self.pixels, "right"
        return {
            "x": self.begin + timedelta(seconds=at / self.scale),
            "xref": "x",
            "xanchor": anchor,
            "y": 1,
            "yref": "y domain",
            "yanchor": "top",
            "text": text,
            "showarrow": False,
            "font": {"color": colour, "size": 12},
        }


def draw_gaps(
    made: Any,
    gaps: Sequence[Gap],
    strip: NameStrip,
    name: str,
    colour: str,
    fill: str,
    opacity: float,
) -> None:
    """Draw gaps across all plots, and tell their length in the legend. colour: of their names."""
    if not gaps:
        return
    longest = sorted(gaps, key=lambda gap: -gap.milliseconds)
    for gap in longest[:DRAWN]:
        x = {"x0": gap.begin, "x1": gap.end, "xref": "x"}
        y = {"y0": 0, "y1": 1, "yref": "paper"}
        style = {"fillcolor": fill, "opacity": opacity, "line": {"width": 0}, "layer": "below"}
        made.add_shape(type="rect", **x, **y, **style)
        strip.name(gap, name, colour)
    spent = duration(sum(gap.milliseconds for gap in gaps))
    pieces = f" in {many(len(gaps), 'gap')}" if len(gaps) > 1 else ""
    made.add_trace(
        go.Scatter(
            name=f"{name}: {spent}{pieces}",
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": "square", "size": 12, "color": fill, "opacity": max(opacity, 0.45)},
            showlegend=True,
            hoverinfo="skip",
        )
    )
    made.update_layout(showlegend=True)
