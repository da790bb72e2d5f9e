"""Two nights side by side: their tables, rows of both joined by name, and figures of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire.pipeline.analyses.period import ALWAYS, AnalysedPeriod
from kwire.pipeline.analyses.recorded import recorded
from kwire.pipeline.report.section import FigureTable, Grid
from kwire.pipeline.report.span import ReportSpan, span_of, unrecorded
from kwire.pipeline.report.style import BLUE, GREY, LANE, figure, full, labels, names

LANES = 24


@dataclass(frozen=True, slots=True)
class Night:
    """The tables of a cluster, and the time that its calls span; None without calls.

    lookups: messages and partitions of all time, which name topics.
    """

    tables: Mapping[str, DataFrame]
    span: ReportSpan | None
    lookups: tuple[DataFrame, DataFrame]

    @classmethod
    def of(cls, tables: Mapping[str, DataFrame], period: AnalysedPeriod = ALWAYS) -> Night:
        """Return the night of these tables, all of them, or what a period has of it."""
        inside = period.of(tables)
        span = span_of(inside["calls"], unrecorded(recorded(inside["sources"])))
        return cls(inside, span, (tables["messages"], tables["partitions"]))

    @property
    def seconds(self) -> float:
        """Seconds that were recorded."""
        return 1.0 if self.span is None else self.span.recorded


@dataclass(frozen=True, slots=True)
class NightChange:
    """A value of something in both nights; None if it was not there. few: counts are too low."""

    name: str
    before: float | None
    after: float | None
    few: bool = False

    @property
    def factor(self) -> float | None:
        """After by before; None if either is missing, or before is zero."""
        return self.after / self.before if self.before and self.after is not None else None


def side_by_side(before: DataFrame, after: DataFrame) -> DataFrame:
    """Join the rows of both by their column `name`; others get the suffixes _before and _after."""
    sides = [
        side.select("name", *(f.col(c).alias(f"{c}_{suffix}") for c in side.columns if c != "name"))
        for side, suffix in ((before, "before"), (after, "after"))
    ]
    return sides[0].join(sides[1], "name", "full_outer")


def changes_figure(changes: Sequence[NightChange], axis: dict[str, Any], text: NumberText) -> Any:
    """Return a lane for each change: a ring for before, a point for after, a line between them."""
    lanes = [change.name for change in changes]
    shown = labels(lanes)
    ends = [
        (lane, change)
        for lane, change in zip(shown, changes, strict=True)
        if change.before is not None and change.after is not None
    ]
    lines = go.Scatter(
        x=[x for _, change in ends for x in (change.before, change.after, None)],
        y=[y for lane, _ in ends for y in (lane, lane, None)],
        mode="lines",
        line={"color": GREY, "width": 2},
        hoverinfo="skip",
        showlegend=False,
    )
    hover = [
        f"{full(change.name)}<br>before: {_text(change.before, text)},"
        f" after: {_text(change.after, text)}"
        for change in changes
    ]
    ring = {"symbol": "circle-open", "size": 11, "color": GREY, "line": {"width": 2.5}}
    point = {"symbol": "circle", "size": 11, "color": BLUE}
    return figure(
        [
            lines,
            _points("before", [change.before for change in changes], shown, hover, ring),
            _points("after", [change.after for change in changes], shown, hover, point),
        ],
        height=len(changes) * LANE + 64,
        legend=True,
        yaxis=names(lanes) | {"showgrid": True, "ticklabelstandoff": 8},
        xaxis=axis,
    )


NumberText = Callable[[float], str]


def _points(
    name: str, values: list[float | None], lanes: list[str], hover: list[str], marker: Any
) -> Any:
    return go.Scatter(
        name=name,
        x=values,
        y=lanes,
        mode="markers",
        marker=marker,
        cliponaxis=False,
        hovertext=hover,
        hoverinfo="text",
    )


def _text(value: float | None, text: NumberText) -> str:
    return "-" if value is None else text(value)


def changes_table(name: str, changes: Sequence[NightChange]) -> FigureTable:
    """Return the changes, to be downloaded."""
    rows = [(change.name, change.before, change.after) for change in changes]
    return FigureTable(name, ("name", "before", "after"), rows)


def changes_grid(title: str, changes: Sequence[NightChange], text: NumberText) -> Grid:
    """Return the changes as a table of the page; those of few counts are named so."""
    rows = [
        (
            *(change.name, _text(change.before, text), _text(change.after, text)),
            "too few to tell" if change.few else factor_text(change),
        )
        for change in changes
    ]
    return Grid(title, ("", "before", "after", "change"), rows)


def factor_text(change: NightChange) -> str:
    """Return a change in words."""
    if change.before is None or change.after is None:
        return "new" if change.before is None else "gone"
    if change.before == change.after:
        return "the same"
    if change.factor is None:
        return "from nothing"
    return f"{change.factor:.3g} times"
