"""The section of latencies: the slow APIs, over time and by client."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.latencies import LEAST_CALLS, is_long_poll
from kwire.pipeline.report.gaps import draw_unrecorded
from kwire.pipeline.report.heat_maps import Cells, colours, few_marks, over_names, over_time
from kwire.pipeline.report.section import FigureTable, Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import (
    CLIENTS,
    CLIENTS_BOTTOM,
    LANE,
    clients_axis,
    clock,
    duration,
    figure,
    full,
    label,
    labels,
    many,
    names,
)

TOPIC = "Latency"
APIS = 24
UNITS = {
    0.01: "10 µs",
    0.1: "100 µs",
    1.0: "1 ms",
    10.0: "10 ms",
    100.0: "100 ms",
    1000.0: "1 s",
    10_000.0: "10 s",
    100_000.0: "100 s",
}


def latencies_section(calls: DataFrame, span: ReportSpan | None) -> Section:
    """Return heat maps of the 99th percentile: by API and time, by API and client."""
    quick = calls.where(f.col("latency_ms").isNotNull() & ~is_long_poll())
    ranked = (f.desc(f.col("calls") >= LEAST_CALLS), f.desc("p99_ms"))
    overall = _percentiles(quick, "api").orderBy(*ranked).limit(APIS).collect()
    if span is None or not overall:
        return Section(topic=TOPIC, finding="No call was answered in these tables.")
    apis = [row.api for row in overall]
    slowest = quick.where(f.col("api").isin(apis))
    steps = _percentiles(slowest.withColumn("step", span.step), "api", "step").collect()
    clients = _percentiles(slowest, "api", "client_id").collect()
    worst = overall[0]
    scale = colours(_cells([*steps, *clients]), "99th percentile", UNITS)
    return Section(
        topic=TOPIC,
        finding=f"{worst.api} is the slowest API: 99 of 100 of its {worst.calls:,} calls take"
        f" {duration(worst.p99_ms)} or less, half of them {duration(worst.p50_ms)}"
        if worst.calls >= LEAST_CALLS
        else f"No API has the {LEAST_CALLS} calls that a place among the slowest needs",
        reading=f"Colour is the 99th percentile of the latency: above for every {span.unit},"
        f" below for each client, with the number. APIs with fewer than {LEAST_CALLS} calls stand"
        f" behind the others, with their calls in brackets. A dot, or brackets:"
        f" fewer than {LEAST_CALLS} calls, the colour is but the slowest of them. Empty: no call."
        " Fetches that may wait for records are left out: their time says nothing of load."
        f"{span.silence}",
        figures=[_by_time(overall, steps, span, scale), _by_client(overall, clients, scale)],
        tables=[
            _table("latency by time", {"step": "begin of step (UTC)"}, steps, span),
            _table("latency by client", {"client_id": "client id"}, clients, span),
        ],
    )


def _table(name: str, by: dict[str, str], rows: list[Row], span: ReportSpan) -> FigureTable:
    (column, title), *_ = by.items()
    lines = [
        (
            *(row.api, span.start(row.step) if column == "step" else row[column]),
            *(row.calls, row.p50_ms, row.p99_ms),
        )
        for row in sorted(rows, key=lambda row: (row.api, str(row[column])))
    ]
    return FigureTable(name, ("API", title, "calls", "p50 ms", "p99 ms"), lines)


def _cells(rows: list[Row]) -> Cells:
    return {(str(index), index): (_p99(row), "") for index, row in enumerate(rows)}


def _lanes(overall: list[Row]) -> dict[str, str]:
    """Return the name of each API's lane: with the number of its calls, if they are few."""
    return {
        row.api: row.api if row.calls >= LEAST_CALLS else f"{row.api} ({row.calls:,})"
        for row in overall
    }


def _percentiles(calls: DataFrame, *by: str) -> DataFrame:
    return calls.groupBy(*by).agg(
        f.count(f.lit(1)).alias("calls"),
        f.percentile_approx("latency_ms", 0.5).alias("p50_ms"),
        f.percentile_approx("latency_ms", 0.99).alias("p99_ms"),
    )


def _by_time(overall: list[Row], rows: list[Row], span: ReportSpan, scale: Any) -> Any:
    lanes = _lanes(overall)
    cells = {
        (lanes[row.api], row.step): (
            _p99(row),
            f"{span.start(row.step):%H:%M:%S}, {_hover_text(row)}",
        )
        for row in rows
    }
    few = [row for row in rows if row.calls < LEAST_CALLS]
    made = figure(
        [
            over_time(cells, list(lanes.values()), span),
            *_dots([span.middle(row.step) for row in few], few, lanes),
        ],
        height=len(lanes) * LANE + 64,
        legend=True,
        xaxis=clock(span.begin, span.end),
        yaxis=names(list(lanes.values())),
        coloraxis=scale,
    )
    draw_unrecorded(made, span.unrecorded, span.begin, span.end)
    return made


def _dots(xs: list[Any], few: list[Row], lanes: dict[str, str]) -> list[Any]:
    found = dict(zip(lanes, labels(list(lanes.values())), strict=True))
    name = f"fewer than {LEAST_CALLS} calls"
    return [few_marks(xs, [found[row.api] for row in few], name)] if few else []


def _by_client(overall: list[Row], rows: list[Row], scale: Any) -> Any:
    totals: dict[str | None, int] = {}
    for row in rows:
        totals[row.client_id] = totals.get(row.client_id, 0) + row.calls
    busiest = sorted(totals, key=lambda client: -totals[client])[:CLIENTS]
    lanes = _lanes(overall)
    visible = [row for row in rows if row.client_id in busiest]
    few = {(lanes[row.api], row.client_id) for row in visible if row.calls < LEAST_CALLS}
    cells = {
        (lanes[row.api], row.client_id): (_p99(row), f"{full(row.client_id)}<br>{_hover_text(row)}")
        for row in visible
    }
    there = [lane for lane in lanes.values() if any(lane == cell_lane for cell_lane, _ in cells)]
    heat = over_names(cells, there, busiest, duration)
    heat.text = [
        f"({text})" if key in few else text for key, text in zip(cells, heat.text, strict=True)
    ]
    return figure(
        [heat],
        height=len(there) * LANE + 12 + CLIENTS_BOTTOM,
        margin_b=CLIENTS_BOTTOM,
        xaxis=clients_axis(busiest, len(totals)),
        yaxis=names(there),
        coloraxis=scale,
    )


def _p99(row: Row) -> float:
    return max(float(row.p99_ms), 0.01)  # the colour scale is logarithmic


def _hover_text(row: Row) -> str:
    return (
        f"{label(row.api)}: {many(row.calls, 'call')}<br>99 of 100 within {duration(row.p99_ms)}"
        f"<br>half within {duration(row.p50_ms)}"
    )
