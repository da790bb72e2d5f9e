"""The section of heartbeats: the silences of brokers, against the session timeout."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.heartbeats import SESSION_MS, heartbeat_gaps, heartbeats
from kwire.pipeline.analyses.latencies import LEAST_CALLS
from kwire.pipeline.report.gaps import draw_unrecorded
from kwire.pipeline.report.section import FigureTable, Grid, Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import (
    GREY,
    RED,
    SERIES,
    axis_title,
    clock,
    duration,
    figure,
    many,
    utc,
)

TOPIC = "Heartbeats"
BEATS = 20_000
"""Gaps that are drawn at most, the longest first."""

SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star")


def heartbeats_section(
    messages: DataFrame, sources: DataFrame | None, span: ReportSpan | None
) -> Section:
    """Return the gaps between heartbeats of each broker over time."""
    nothing = Section(topic=TOPIC, finding="No two heartbeats of a broker in these tables.")
    if span is None:
        return nothing
    by_broker = heartbeats(messages, sources).collect()
    gaps = heartbeat_gaps(messages, sources).where("gap is not null")
    drawn = gaps.select("at", "broker_id", "gap").orderBy(f.desc("gap")).limit(BEATS).collect()
    if not drawn:
        return nothing
    worst = by_broker[0]
    return Section(
        topic=TOPIC,
        finding=f"Broker {worst.broker_id} came nearest to being fenced: silent for"
        f" {duration(worst.longest_gap_ms)}, {_closest(worst.closest)}",
        reading="A point is a heartbeat, its height the time since the one before it of the same"
        f" incarnation. At {duration(SESSION_MS)}, Kafka's default of broker.session.timeout.ms,"
        " the controller fences a broker. In the table, a 99th percentile in brackets is of fewer"
        f" than {LEAST_CALLS} heartbeats: the longest gap, or near it.{span.silence}",
        figures=[_picture(drawn, span)],
        tables=[_table(drawn)],
        grids=[_grid(by_broker)],
    )


def _table(rows: list[Row]) -> FigureTable:
    lines = sorted((utc(row.at), row.broker_id, row.gap) for row in rows)
    return FigureTable("heartbeats", ("at (UTC)", "broker", "gap ms"), lines)


def _picture(rows: list[Row], span: ReportSpan) -> Any:
    longest = {row.broker_id: 0.0 for row in rows}
    for row in rows:
        longest[row.broker_id] = max(longest[row.broker_id], row.gap)
    named = sorted(sorted(longest, key=lambda broker: -longest[broker])[: len(SYMBOLS)])
    others = [row for row in rows if row.broker_id not in named]
    traces = [_marks("other brokers", others, GREY, "circle")] if others else []
    for index, broker in enumerate(named):
        of_broker = [row for row in rows if row.broker_id == broker]
        traces.append(_marks(f"broker {broker}", of_broker, SERIES[index], SYMBOLS[index]))
    top = max(*longest.values(), SESSION_MS) / 1000 * 1.06
    session, half = f"fenced after {duration(SESSION_MS)}", f"half of it: {SESSION_MS / 2000:g} s"
    lines = [
        _line(session, SESSION_MS, span, {"color": RED, "width": 2}),
        _line(half, SESSION_MS / 2, span, {"color": GREY, "dash": "dash"}),
    ]
    made = figure(
        [*traces, *lines],
        height=320,
        legend=True,
        xaxis=clock(span.begin, span.end),
        yaxis={"range": [0, top]},
    )
    made.add_annotation(axis_title("since the one before, s"))
    draw_unrecorded(made, span.unrecorded, span.begin, span.end)
    return made


def _marks(name: str, rows: list[Row], colour: str, symbol: str) -> Any:
    gaps = sorted((utc(row.at), row.gap, row.broker_id) for row in rows)
    return go.Scatter(
        name=name,
        x=[at for at, _, _ in gaps],
        y=[gap / 1000 for _, gap, _ in gaps],
        mode="markers",
        marker={
            "color": colour,
            "symbol": symbol,
            "size": 9,
            "opacity": 0.85,
            "line": {"color": "white", "width": 1},
        },
        hovertext=[
            f"broker {broker}, {at:%H:%M:%S}: {gap / 1000:.2f} s" for at, gap, broker in gaps
        ],
        hoverinfo="text",
    )


def _line(name: str, milliseconds: float, span: ReportSpan, line: dict[str, Any]) -> Any:
    """Return a line across the picture; its name is in the legend, where it hides no point."""
    edge = (span.end - span.begin) * 0.01
    return go.Scatter(
        name=name,
        x=[span.begin - edge, span.end + edge],
        y=[milliseconds / 1000] * 2,
        mode="lines",
        line=line,
        hoverinfo="skip",
    )


def _grid(rows: list[Row]) -> Grid:
    columns = (
        *("broker", "heartbeats", "99th percentile of gaps", "longest gap", "near to fencing"),
        *("answered: fenced", "refused", "asked to stop"),
    )
    lines = [
        (
            *(str(row.broker_id), f"{row.heartbeats:,}"),
            _p99(row),
            "-" if row.longest_gap_ms is None else duration(row.longest_gap_ms),
            *(f"{row[name]:,}" for name in ("near", "fenced", "refused", "stopping")),
        )
        for row in rows
    ]
    return Grid(f"{many(len(rows), 'broker')} and their heartbeats", columns, lines)


def _closest(share: float) -> str:
    return f"{share:.0%} of the session timeout" if share <= 1 else "more than the session timeout"


def _p99(row: Row) -> str:
    if row.p99_gap_ms is None:
        return "-"
    text = duration(row.p99_gap_ms)
    return text if row.heartbeats >= LEAST_CALLS else f"({text})"
