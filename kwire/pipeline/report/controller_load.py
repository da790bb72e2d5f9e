"""The section of controllers: the calls to each of them over time."""

from __future__ import annotations

from typing import Any

from plotly.subplots import make_subplots
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.controller_load import calls_to_controllers
from kwire.pipeline.report.gaps import draw_unrecorded
from kwire.pipeline.report.heat_maps import colours, over_time
from kwire.pipeline.report.section import Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import BLACK, clock, dress, label, many, names

TOPIC = "Controller load"
APIS = 12
"""APIs of each controller that are drawn at most, the busiest first."""

UNITS = {
    0.01: "0.01",
    0.1: "0.1",
    1.0: "1",
    10.0: "10",
    100.0: "100",
    1000.0: "1,000",
    10_000.0: "10,000",
    100_000.0: "100,000",
}


def controller_load_section(calls: DataFrame, span: ReportSpan | None) -> Section:
    """Return a heat map of calls a second for every controller."""
    counted = (
        calls_to_controllers(calls)
        .groupBy("node_id", "api", _step(span).alias("step"))
        .count()
        .collect()
    )
    if span is None or not counted:
        return Section(topic=TOPIC, finding="No call to a controller in these tables.")
    nodes = sorted({row.node_id for row in counted})
    total = {node: sum(row["count"] for row in counted if row.node_id == node) for node in nodes}
    busiest = max(nodes, key=lambda node: total[node])
    share = total[busiest] / sum(total.values())
    return Section(
        topic=TOPIC,
        finding=f"Node {busiest} carried {share:.0%} of the"
        f" {many(sum(total.values()), 'call')} to {many(len(nodes), 'controller')}",
        reading=f"Colour is the rate of calls, for every {span.unit}; white: none. Brokers and"
        " followers turn to the leader, so that their rows show where it was.",
        figures=[_picture(counted, nodes, span)],
    )


def _step(span: ReportSpan | None) -> Any:
    return f.lit(0) if span is None else span.step


def _picture(rows: list[Row], nodes: list[int], span: ReportSpan) -> Any:
    lanes = {node: _busiest([row for row in rows if row.node_id == node]) for node in nodes}
    sizes = [len(lanes[node]) + 1 for node in nodes]
    height = sum(sizes) * 24 + 110
    made = make_subplots(
        rows=len(nodes),
        shared_xaxes=True,
        row_heights=sizes,
        vertical_spacing=min(34 / height, 0.9 / len(nodes)),
        subplot_titles=[f"node {node}" for node in nodes],
    )
    cells = {node: _cells([row for row in rows if row.node_id == node], span) for node in nodes}
    for lane, node in enumerate(nodes, start=1):
        made.add_trace(over_time(cells[node], lanes[node], span), row=lane, col=1)
        made.update_yaxes(names([label(api) for api in lanes[node]]), row=lane, col=1)
    everywhere = {(f"{node}", lane): cell for node in nodes for lane, cell in cells[node].items()}
    scale = colours(everywhere, "calls per second", UNITS)
    dress(made, height=height, margin_t=28, coloraxis=scale)
    made.update_xaxes(clock(span.begin, span.end) | {"title": None})
    made.update_xaxes(clock(span.begin, span.end), row=len(nodes), col=1)
    made.update_annotations(x=0, xanchor="left", font={"size": 13, "color": BLACK, "weight": 600})
    draw_unrecorded(made, span.unrecorded, span.end - span.begin, row="all", col=1)
    return made


def _busiest(rows: list[Row]) -> list[str]:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.api] = counts.get(row.api, 0) + row["count"]
    return sorted(counts, key=lambda api: -counts[api])[:APIS]


def _cells(rows: list[Row], span: ReportSpan) -> dict[tuple[str, int], tuple[float, str]]:
    return {
        (row.api, row.step): (
            row["count"] / span.seconds,
            f"{span.start(row.step):%H:%M:%S}, {label(row.api)}:"
            f" {many(row['count'], 'call')} in {'a second' if span.seconds == 1 else span.unit}",
        )
        for row in rows
    }
