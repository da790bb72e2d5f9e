"""Heat maps on a logarithmic scale: over time, and of two kinds of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log10
from typing import Any

import plotly.graph_objects as go

from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import BLACK, label

PALE_TO_DARK = [[0.0, "#FFF1BF"], [0.35, "#A8DBB5"], [0.65, "#2D9CBF"], [1.0, "#123072"]]
"""Pale is little, dark is much, so that it can be read in grey, too."""

CELL_STYLE: dict[str, Any] = {"coloraxis": "coloraxis", "hoverinfo": "text", "xgap": 1, "ygap": 2}

Cells = Mapping[tuple[str, Any], tuple[float, str]]
"""By lane and column: a value above 0, and its hover text."""


def over_time(cells: Cells, lanes: Sequence[str], span: ReportSpan) -> Any:
    """Return a cell for every lane and step; empty if there was nothing."""
    grid = [[cells.get((lane, step)) for step in span.steps] for lane in lanes]
    return go.Heatmap(
        x=[span.middle(step) for step in span.steps],
        y=[label(lane) for lane in lanes],
        z=[[cell and log10(cell[0]) for cell in row] for row in grid],
        hovertext=[[cell[1] if cell else "" for cell in row] for row in grid],
        hoverongaps=False,
        **CELL_STYLE,
    )


def over_names(cells: Cells, text: Callable[[float], str]) -> Any:
    """Return a cell for every lane and column with a value. text: of a value, drawn in its cell."""
    return go.Heatmap(
        x=[label(column, 22) for _, column in cells],
        y=[label(lane) for lane, _ in cells],
        z=[log10(value) for value, _ in cells.values()],
        text=[text(value) for value, _ in cells.values()],
        texttemplate="%{text}",
        textfont={"size": 11},
        hovertext=[hover for _, hover in cells.values()],
        **CELL_STYLE,
    )


def colours(cells: Cells, title: str, units: Mapping[float, str]) -> dict[str, Any]:
    """Return the colour scale, with marks at those `units` that it covers."""
    values = [value for value, _ in cells.values()]
    low, high = log10(min(values)), log10(max(max(values), min(values) * 10))
    marks = {log10(value): text for value, text in units.items()}
    visible_marks = {at: text for at, text in marks.items() if low - 0.01 <= at <= high + 0.01}
    return {
        "colorscale": PALE_TO_DARK,
        "cmin": low,
        "cmax": high,
        "colorbar": {
            "title": {"text": title, "side": "right", "font": {"size": 13, "color": BLACK}},
            "tickvals": list(visible_marks),
            "ticktext": list(visible_marks.values()),
            "thickness": 12,
            "lenmode": "pixels",
            "len": 240,
            "y": 1,
            "yanchor": "top",
            "outlinewidth": 0,
        },
    }
