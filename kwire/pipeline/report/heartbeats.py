"""The section of heartbeats: the silences of brokers, against the session timeout."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.heartbeats import SESSION_MS, heartbeat_gaps, heartbeats
from kwire.pipeline.report.gaps import draw_unrecorded
from kwire.pipeline.report.section import Grid, Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import GREY, RED, SERIES, clock, duration, figure, many, utc

TOPIC = "Heartbeats"
BEATS = 20_000
"""Gaps that are drawn at most, the longest first."""

SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star")


def heartbeats_section(messages: DataFrame, frames: DataFrame, span: ReportSpan | None) -> Section:
    """Return the gaps between heartbeats of each broker over time."""
    by_broker = heartbeats(messages, frames).collect()
    gaps = heartbeat_gaps(messages, frames).where("gap is not null")
    drawn = gaps.select("at", "broker_id", "gap").orderBy(f.desc("gap")).limit(BEATS).collect()
    if span is None or not drawn:
        return Section(topic=TOPIC, finding="No two heartbeats of a broker in these tables.")
    worst = by_broker[0]
    return Section(
        topic=TOPIC,
        finding=f"Broker {worst.broker_id} came nearest to being fenced: silent for"
        f" {duration(worst.longest_gap_ms)}, {worst.closest:.0%} of the session timeout",
        reading="A point is a heartbeat, its height the time since the one before it of the same"
        f" incarnation. At {duration(SESSION_MS)}, Kafka's default of broker.session.timeout.ms,"
        " the controller fences a broker.",
        figures=[_picture(drawn, span)],
        grids=[_grid(by_broker)],
    )


def _picture(rows: list[Row], span: ReportSpan) -> Any:
    brokers = sorted({row.broker_id for row in rows})
    traces = []
    for index, broker in enumerate(brokers):
        gaps = sorted((utc(row.at), row.gap) for row in rows if row.broker_id == broker)
        colour = SERIES[index % len(SERIES)]
        traces.append(
            go.Scatter(
                name=f"broker {broker}",
                x=[at for at, _ in gaps],
                y=[gap / 1000 for _, gap in gaps],
                mode="markers",
                marker={
                    "color": colour,
                    "symbol": SYMBOLS[index % len(SYMBOLS)],
                    "size": 9,
                    "opacity": 0.85,
                    "line": {"color": "white", "width": 1},
                },
                hovertemplate=f"broker {broker}, %{{x|%H:%M:%S}}: %{{y:.2f}} s<extra></extra>",
            )
        )
    longest = max(row.gap for row in rows) / 1000
    made = figure(
        traces,
        height=320,
        legend=True,
        xaxis=clock(span.begin, span.end),
        yaxis={
            "title": {"text": "since the heartbeat before, seconds"},
            "range": [0, max(longest, SESSION_MS / 1000) * 1.12],
        },
    )
    draw_unrecorded(made, span.unrecorded, span.end - span.begin)
    session = f"fenced after {duration(SESSION_MS)}"
    made.add_hline(SESSION_MS / 1000, line={"color": RED, "width": 2}, annotation_text=session)
    half = SESSION_MS / 2000
    made.add_hline(
        half, line={"color": GREY, "dash": "dash"}, annotation_text=f"half of it: {half:g} s"
    )
    return made


def _grid(rows: list[Row]) -> Grid:
    columns = (
        *("broker", "heartbeats", "99th percentile of gaps", "longest gap", "near to fencing"),
        *("answered: fenced", "refused", "asked to stop"),
    )
    lines = [
        (
            *(str(row.broker_id), f"{row.heartbeats:,}"),
            "-" if row.p99_gap_ms is None else duration(row.p99_gap_ms),
            "-" if row.longest_gap_ms is None else duration(row.longest_gap_ms),
            *(f"{row[name]:,}" for name in ("near", "fenced", "refused", "stopping")),
        )
        for row in rows
    ]
    return Grid(f"{many(len(rows), 'broker')} and their heartbeats", columns, lines)
