"""The section of throughput: calls and bytes a second, by API and by client."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.throughput import throughput
from kwire.pipeline.report.gaps import draw_unrecorded
from kwire.pipeline.report.section import FigureTable, Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    YELLOW,
    axis_title,
    clock,
    dress,
    full,
    labels,
    many,
    size,
)

TOPIC = "Throughput"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW)
"""Of the names with most bytes; all others are GREY."""

OTHERS = "all others"
RATES = {"calls": "calls/s", "asked": "to nodes, B/s", "answered": "from nodes, B/s"}

Rates = dict[str, dict[int, tuple[int, int, int]]]
"""By name and step: calls, bytes to the nodes, bytes from them."""


def throughput_section(calls: DataFrame, span: ReportSpan | None) -> Section:
    """Return calls and bytes a second over time, by API and by client."""
    nothing = Section(topic=TOPIC, finding="No call in these tables.")
    if span is None:
        return nothing
    top = {by: throughput(calls, [by]).limit(len(COLOURS)).collect() for by in ("api", "client_id")}
    if not top["api"]:
        return nothing
    totals = {row.step: _numbers(row) for row in _sums(calls, span).collect()}
    by = {
        "API": _rates(calls, "api", [row.api for row in top["api"]], totals, span),
        "client": _rates(calls, "client_id", [r.client_id for r in top["client_id"]], totals, span),
    }
    all_calls, asked, answered = (
        sum(found[part] for found in totals.values()) for part in range(3)
    )
    first = top["api"][0]
    moved = (first.request_bytes + first.response_bytes) / max(asked + answered, 1)
    return Section(
        topic=TOPIC,
        finding=f"{all_calls / span.recorded:,.3g} calls, {size(asked / span.recorded)} to nodes"
        f" and {size(answered / span.recorded)} from them a second; {first.api} moved"
        f" {moved:.0%} of {size(asked + answered)}",
        reading=f"Averages over every {span.unit}, stacked: above by API, below by client, those"
        f" with most bytes first. Both have the same axes.{span.silence}",
        figures=[_picture(rates, totals, span) for rates in by.values()],
        tables=[_table(name, rates, span) for name, rates in by.items()],
    )


def _sums(calls: DataFrame, span: ReportSpan, *by: str) -> DataFrame:
    return calls.groupBy(*by, span.step.alias("step")).agg(
        f.count(f.lit(1)).alias("calls"),
        f.coalesce(f.sum("request_size"), f.lit(0)).alias("asked"),
        f.coalesce(f.sum("response_size"), f.lit(0)).alias("answered"),
    )


def _numbers(row: Row) -> tuple[int, int, int]:
    return row.calls, row.asked, row.answered


def _rates(
    calls: DataFrame,
    by: str,
    found: list[str | None],
    totals: dict[int, tuple[int, int, int]],
    span: ReportSpan,
) -> Rates:
    """Return the numbers of each name, and of all others together; nameless ones are among them."""
    top = [name for name in found if name is not None]
    rates: Rates = {name: {} for name in top}
    for row in _sums(calls.where(f.col(by).isin(top)), span, by).collect():
        rates[row[by]][row.step] = _numbers(row)
    rest = {}
    for step, total in totals.items():
        named = [steps[step] for steps in rates.values() if step in steps]
        left = tuple(whole - sum(parts) for whole, *parts in zip(total, *named, strict=True))
        if any(left):
            rest[step] = (left[0], left[1], left[2])
    return rates | ({OTHERS: rest} if rest else {})


def _table(by: str, rates: Rates, span: ReportSpan) -> FigureTable:
    lines = [
        (span.start(step), name, *numbers)
        for name, steps in rates.items()
        for step, numbers in sorted(steps.items())
    ]
    columns = ("begin of step (UTC)", by, "calls", "bytes to nodes", "bytes from nodes")
    return FigureTable(f"throughput by {by}", columns, lines)


def _picture(rates: Rates, totals: dict[int, tuple[int, int, int]], span: ReportSpan) -> Any:
    made = make_subplots(rows=3, shared_xaxes=True, vertical_spacing=0.06)
    shown = dict(zip(rates, labels(list(rates), 20), strict=True))
    colours = [*COLOURS[: len(rates) - (OTHERS in rates)], *([GREY] if OTHERS in rates else [])]
    for (name, steps), colour in zip(rates.items(), colours, strict=True):
        for part in range(3):
            bars = _bars(shown[name], name, steps, part, colour, span)
            made.add_trace(bars, row=part + 1, col=1)
    dress(made, height=430, legend=True, barmode="stack", bargap=0)
    for part, title in enumerate(RATES.values()):
        top = max((numbers[part] for numbers in totals.values()), default=0) / span.seconds
        made.add_annotation(axis_title(title, part + 1))
        axis = {
            "range": [0, top * 1.06 or 1],
            "tickformat": "~s" if top >= 1000 else "~g",
        }
        made.update_yaxes(axis | {"nticks": 5}, row=part + 1, col=1)
    made.update_xaxes(clock(span.begin, span.end) | {"title": {"text": ""}})
    made.update_xaxes(clock(span.begin, span.end), row=3, col=1)
    draw_unrecorded(made, span.unrecorded, span.begin, span.end)
    return made


def _bars(
    shown: str,
    name: str,
    steps: dict[int, tuple[int, int, int]],
    part: int,
    colour: str,
    span: ReportSpan,
) -> Any:
    hover = [
        f"{full(name)}<br>{span.start(step):%H:%M:%S}: {many(numbers[0], 'call')},"
        f" {size(numbers[1])} to nodes, {size(numbers[2])} from them"
        for step, numbers in steps.items()
    ]
    return go.Bar(
        name=shown,
        legendgroup=name,
        showlegend=part == 0,
        x=[span.middle(step) for step in steps],
        y=[numbers[part] / span.seconds for numbers in steps.values()],
        width=timedelta(seconds=span.seconds) / timedelta(milliseconds=1),
        marker={"color": colour, "line": {"width": 0}},
        hovertext=hover,
        hoverinfo="text",
    )
