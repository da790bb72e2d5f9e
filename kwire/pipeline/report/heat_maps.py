"""Heat maps on a logarithmic scale: over time, and of two kinds of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log10
from typing import Any

import plotly.graph_objects as go

from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import BLACK, GREY, labels

PALE_TO_DARK = [[0.0, "#FFF1BF"], [0.35, "#A8DBB5"], [0.65, "#2D9CBF"], [1.0, "#123072"]]
"""Pale is little, dark is much, so that it can be read in grey, too."""

CELL_STYLE: dict[str, Any] = {"coloraxis": "coloraxis", "hoverinfo": "text", "xgap": 1, "ygap": 2}

Cells = Mapping[tuple[Any, Any], tuple[float, str]]
"""By lane and column: a value above 0, and its hover text."""


def over_time(cells: Cells, lanes: Sequence[str | None], span: ReportSpan) -> Any:
    """Return a cell for every lane and step; empty if there was nothing."""
    grid = [[cells.get((lane, step)) for step in span.steps] for lane in lanes]
    return go.Heatmap(
        x=[span.middle(step) for step in span.steps],
        y=labels(lanes),
        z=[[cell and log10(cell[0]) for cell in row] for row in grid],
        hovertext=[[cell[1] if cell else "" for cell in row] for row in grid],
        hoverongaps=False,
        **CELL_STYLE,
    )


def over_names(
    cells: Cells,
    lanes: Sequence[str | None],
    columns: Sequence[Any],
    text: Callable[[float], str],
) -> Any:
    """Return a cell for every lane and column with a value. text: of a value, drawn in its cell."""
    lane_labels = dict(zip(lanes, labels(lanes), strict=True))
    column_labels = dict(zip(columns, labels(columns, 22), strict=True))
    return go.Heatmap(
        x=[column_labels[column] for _, column in cells],
        y=[lane_labels[lane] for lane, _ in cells],
        z=[log10(value) for value, _ in cells.values()],
        text=[text(value) for value, _ in cells.values()],
        texttemplate="%{text}",
        textfont={"size": 11},
        hovertext=[hover for _, hover in cells.values()],
        **CELL_STYLE,
    )


def few_marks(xs: Sequence[Any], ys: Sequence[str], name: str) -> Any:
    """Return dots upon cells that say little. name: why, for the legend."""
    return go.Scatter(
        name=name,
        x=list(xs),
        y=list(ys),
        mode="markers",
        marker={"size": 4, "color": GREY, "line": {"width": 0}},
        hoverinfo="skip",
        showlegend=True,
    )


def colours(cells: Cells, title: str, units: Mapping[float, str]) -> dict[str, Any]:
    """Return the colour scale, with some marks at those `units` that it covers."""
    values = [value for value, _ in cells.values()] or [1.0]
    low, high = log10(min(values)), log10(max(max(values), min(values) * 10))
    marks = {log10(value): text for value, text in units.items()}
    covered = [at for at in marks if low - 0.01 <= at <= high + 0.01]
    visible = covered[:: -(-len(covered) // MARKS) or 1]
    return {
        "colorscale": PALE_TO_DARK,
        "cmin": low,
        "cmax": high,
        "colorbar": {
            "orientation": "h",
            "title": {"text": title, "side": "top", "font": {"size": 13, "color": BLACK}},
            "tickvals": visible,
            "ticktext": [marks[at] for at in visible],
            "thickness": 10,
            "lenmode": "pixels",
            "len": 260,
            "x": 1,
            "xanchor": "right",
            "y": 1,
            "yanchor": "bottom",
            "xpad": 0,
            "ypad": 2,
            "outlinewidth": 0,
        },
    }


MARKS = 4
"""Marks of a colour scale at most: their texts stay apart."""
