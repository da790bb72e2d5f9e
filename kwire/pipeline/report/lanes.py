"""Bars and marks in lanes over time, one lane for each name from the wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go

from kwire.pipeline.report.gaps import draw_unrecorded
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import LANE, RED, clock, figure, labels, names


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time in the lane of a name. hover: its text at the mouse, escaped."""

    lane: str
    begin: datetime
    end: datetime
    hover: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment in the lane of a name."""

    lane: str
    at: datetime
    hover: str


def lanes_over_time(
    order: Sequence[str],
    bars: dict[tuple[str, str], list[Bar]],
    marks: Sequence[Mark],
    span: ReportSpan,
) -> Any:
    """Return a figure with lanes. bars: by their name and colour. marks: errors, in red."""
    shown = dict(zip(order, labels(order), strict=True))
    traces = []
    for (name, colour), found in bars.items():
        if found:
            traces += [_bars(name, colour, found, shown), _begins(name, colour, found, shown)]
    if marks:
        traces.append(_errors(marks, shown))
    made = figure(
        traces,
        height=len(order) * LANE + 64,
        legend=True,
        barmode="overlay",
        xaxis=clock(span.begin, span.end),
        yaxis=names(order),
    )
    draw_unrecorded(made, span.unrecorded, span.begin, span.end)
    return made


def _bars(name: str, colour: str, bars: list[Bar], shown: dict[str, str]) -> Any:
    return go.Bar(
        name=name,
        legendgroup=name,
        orientation="h",
        y=[shown[bar.lane] for bar in bars],
        base=[bar.begin for bar in bars],
        x=[(bar.end - bar.begin) / timedelta(milliseconds=1) for bar in bars],
        marker={"color": colour, "opacity": 0.75, "line": {"width": 0}},
        width=0.5,
        hovertext=[bar.hover for bar in bars],
        hoverinfo="text",
    )


def _begins(name: str, colour: str, bars: list[Bar], shown: dict[str, str]) -> Any:
    """Return a stroke at each begin: a bar of a second is not seen in a night."""
    return go.Scatter(
        name=name,
        legendgroup=name,
        showlegend=False,
        x=[bar.begin for bar in bars],
        y=[shown[bar.lane] for bar in bars],
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 14, "color": colour, "line": {"width": 2}},
        hovertext=[bar.hover for bar in bars],
        hoverinfo="text",
    )


def _errors(marks: Sequence[Mark], shown: dict[str, str]) -> Any:
    return go.Scatter(
        name="error",
        x=[mark.at for mark in marks],
        y=[shown[mark.lane] for mark in marks],
        mode="markers",
        marker={"symbol": "x", "size": 8, "color": RED},
        hovertext=[mark.hover for mark in marks],
        hoverinfo="text",
    )
