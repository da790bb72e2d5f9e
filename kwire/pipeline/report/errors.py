"""The section of errors: the APIs that failed, how, and how often."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from pyspark.sql import DataFrame, Row

from kwire.pipeline.analyses.errors import errors, failure
from kwire.pipeline.analyses.latencies import LEAST_CALLS
from kwire.pipeline.report.controller_load import UNITS
from kwire.pipeline.report.gaps import PIXELS, draw_unrecorded
from kwire.pipeline.report.heat_maps import colours, over_time
from kwire.pipeline.report.section import FigureTable, Grid, Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import (
    GREY,
    LEFT,
    clock,
    dress,
    full,
    label,
    labels,
    many,
    names,
    shares_axis,
)

TOPIC = "Errors"
LANES, WORST = 24, 12
WIDTHS = [0.68, 0.32]
"""Of the two plots: in the course of time, and in all."""

BETWEEN, BARS = 0.06, 0.17
"""Width between the plots, for the last time and the first share below them, and of the bars up to
100 %; the rest is for their numbers.
"""

HIGH, WIDE_LEFT, LONGEST_ERROR = 36, 320, 50
"""Height of a lane of two lines, pixels left of the plots, and letters in small that fit there."""

PALER = "#C3CAD4"


def errors_section(calls: DataFrame, span: ReportSpan | None) -> Section:
    """Return the failures of each API over time, and their share of its calls."""
    counts = calls.groupBy("api", failure().alias("failure")).count().collect()
    failed = sorted((row for row in counts if row.failure), key=lambda row: -row["count"])
    if span is None or not failed:
        return Section(topic=TOPIC, finding="No call failed in these tables.")
    total = sum(row["count"] for row in counts)
    kinds: dict[str, int] = {}
    for row in failed:
        kinds[row.failure] = kinds.get(row.failure, 0) + row["count"]
    most = max(kinds, key=lambda kind: kinds[kind])
    steps = (
        calls.groupBy("api", failure().alias("failure"), span.step.alias("step"))
        .count()
        .where("failure is not null")
        .collect()
    )
    return Section(
        topic=TOPIC,
        finding=f"{sum(kinds.values()):,} of {many(total, 'call')} failed, most often with"
        f" {most} ({kinds[most]:,})",
        reading="A row for every API and the first error code in its responses, or how its calls"
        " without one ended: LOST, PENDING, ORPHAN; behind it the number of failures."
        f" Colour: failures in every {span.unit}; empty: none. The bars tell what part of the API's"
        f" calls failed so; pale: of fewer than {LEAST_CALLS} calls.{span.silence}",
        figures=[_picture(failed[:LANES], steps, _shares(counts), span)],
        tables=[_table(steps, span)],
        grids=[_grid(errors(calls).limit(WORST).collect())],
    )


def _table(steps: list[Row], span: ReportSpan) -> FigureTable:
    rows = sorted((row.step, row.api, row.failure, row["count"]) for row in steps)
    lines = [(span.start(step), *rest) for step, *rest in rows]
    return FigureTable("errors by time", ("begin of step (UTC)", "API", "failure", "failed"), lines)


def _shares(counts: list[Row]) -> dict[str, tuple[float, int]]:
    """Return the share of each failure in the calls of its API, and these calls, by lane."""
    calls: dict[str, int] = {}
    for row in counts:
        calls[row.api] = calls.get(row.api, 0) + row["count"]
    return {
        _lane(row): (row["count"] / calls[row.api], calls[row.api]) for row in counts if row.failure
    }


def _lane(row: Row) -> str:
    return f"{row.api}: {row.failure}"


def _picture(
    failed: list[Row],
    steps: list[Row],
    shares: dict[str, tuple[float, int]],
    span: ReportSpan,
) -> Any:
    lanes = {_lane(row): f"{_lane(row)} ({row['count']:,})" for row in failed}
    cells = {
        (lanes[_lane(row)], row.step): (
            float(row["count"]),
            f"{span.start(row.step):%H:%M:%S}, {full(_lane(row))}: {row['count']:,}",
        )
        for row in steps
        if _lane(row) in lanes
    }
    order = list(lanes.values())
    made = make_subplots(cols=2, column_widths=WIDTHS, horizontal_spacing=0.01)
    made.add_trace(over_time(cells, order, span), row=1, col=1)
    made.add_trace(_bars(order, [shares[lane] for lane in lanes]), row=1, col=2)
    scale = colours(cells, "failures", UNITS)
    dress(made, height=len(lanes) * HIGH + 64, coloraxis=scale, legend=True)
    made.update_layout(margin_l=WIDE_LEFT)
    made.update_xaxes(clock(span.begin, span.end), row=1, col=1)
    bars = {"domain": [WIDTHS[0] + BETWEEN, WIDTHS[0] + BETWEEN + BARS]}
    made.update_xaxes(shares_axis("of the API's calls") | bars, row=1, col=2)
    texts = [_two_lines(row) for row in failed]
    made.update_yaxes(names(order) | {"tickmode": "array", "tickvals": labels(order)})
    made.update_yaxes(ticktext=texts, row=1, col=1)
    made.update_yaxes(showticklabels=False, matches="y", row=1, col=2)
    share = WIDTHS[0] * (1 - (WIDE_LEFT - LEFT) / PIXELS)
    draw_unrecorded(made, span.unrecorded, span.begin, span.end, share=share)
    return made


def _two_lines(row: Row) -> str:
    """Return the name of a lane: the longest error of Kafka has room, and its number."""
    failed = f"{label(row.failure, LONGEST_ERROR)} ({row['count']:,})"
    return f"{label(row.api)}<br><span style='font-size:11px'>{failed}</span>"


def _bars(order: list[str], parts: list[tuple[float, int]]) -> Any:
    return go.Bar(
        orientation="h",
        y=labels(order),
        x=[part for part, _ in parts],
        text=[f"{part:.1%}" for part, _ in parts],
        textposition="outside",
        cliponaxis=False,
        marker={"color": [PALER if calls < LEAST_CALLS else GREY for _, calls in parts]},
        hovertext=[f"{part:.2%} of {many(calls, 'call')}" for part, calls in parts],
        hoverinfo="text",
        width=0.55,
        showlegend=False,
    )


def _grid(rows: list[Row]) -> Grid:
    columns = ("API", "client", "node", "failure", "failed", "of calls", "what the node said")
    worst = [
        (
            *(row.api, row.client_id or "-", "-" if row.node_id is None else str(row.node_id)),
            *(row.failure, f"{row.failed:,}", _rate(row), row.message or "-"),
        )
        for row in rows
    ]
    return Grid("The most frequent, by client and node", columns, worst)


def _rate(row: Row) -> str:
    """Return the share; of few calls with their number, since it says little."""
    few = f" of {row.calls:,}" if row.calls < LEAST_CALLS else ""
    return f"{row.rate:.1%}{few}"
