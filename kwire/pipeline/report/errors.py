"""The section of errors: the APIs that failed, how, and how often."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from pyspark.sql import DataFrame, Row

from kwire.pipeline.analyses.errors import errors, failure
from kwire.pipeline.report.controller_load import UNITS
from kwire.pipeline.report.gaps import draw_unrecorded
from kwire.pipeline.report.heat_maps import colours, over_time
from kwire.pipeline.report.section import Grid, Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import GREY, LANE, clock, dress, label, many, names

TOPIC = "Errors"
LANES, WORST = 24, 12
WIDTHS = [0.68, 0.32]
"""Of the two plots: in the course of time, and in all."""


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
        f" without one ended: LOST, PENDING, ORPHAN. Colour: failures in every {span.unit}; white:"
        " none. The bars tell what part of the API's calls failed so.",
        figures=[_picture(failed[:LANES], steps, _shares(counts), span)],
        grids=[_grid(errors(calls).limit(WORST).collect())],
    )


def _shares(counts: list[Row]) -> dict[str, float]:
    """Return the share of each failure in the calls of its API, by lane."""
    calls: dict[str, int] = {}
    for row in counts:
        calls[row.api] = calls.get(row.api, 0) + row["count"]
    return {_lane(row): row["count"] / calls[row.api] for row in counts if row.failure}


def _lane(row: Row) -> str:
    return f"{row.api}: {row.failure}"


def _picture(
    failed: list[Row], steps: list[Row], shares: dict[str, float], span: ReportSpan
) -> Any:
    lanes = [_lane(row) for row in failed]
    cells = {
        (_lane(row), row.step): (
            float(row["count"]),
            f"{span.start(row.step):%H:%M:%S}, {label(_lane(row))}: {row['count']:,}",
        )
        for row in steps
        if _lane(row) in lanes
    }
    parts = [shares[lane] for lane in lanes]
    bars = go.Bar(
        orientation="h",
        y=[label(lane) for lane in lanes],
        x=parts,
        text=[f"{row['count']:,} ({part:.1%})" for row, part in zip(failed, parts, strict=True)],
        textposition="outside",
        cliponaxis=False,
        marker={"color": GREY},
        width=0.55,
        hoverinfo="skip",
    )
    height = len(lanes) * LANE + 90
    made = make_subplots(cols=2, column_widths=WIDTHS, horizontal_spacing=0.01)
    made.add_trace(over_time(cells, lanes, span), row=1, col=1)
    made.add_trace(bars, row=1, col=2)
    dress(made, height=height, coloraxis=colours(cells, "failures", UNITS))
    made.update_xaxes(clock(span.begin, span.end), row=1, col=1)
    share = {"tickformat": ".0%", "range": [0, 2.4], "tickvals": [0, 0.5, 1]}
    made.update_xaxes(share | {"title": {"text": "of the API's calls"}}, row=1, col=2)
    made.update_yaxes(names([label(lane) for lane in lanes]))
    made.update_yaxes(showticklabels=False, row=1, col=2)
    draw_unrecorded(made, span.unrecorded, (span.end - span.begin) / WIDTHS[0], row=1, col=1)
    return made


def _grid(rows: list[Row]) -> Grid:
    columns = ("API", "client", "node", "failure", "failed", "of calls", "what the node said")
    worst = [
        (
            *(row.api, row.client_id or "-", "-" if row.node_id is None else str(row.node_id)),
            *(row.failure, f"{row.failed:,}", f"{row.rate:.1%}", row.message or "-"),
        )
        for row in rows
    ]
    return Grid("The most frequent, by client and node", columns, worst)
