"""The section of controllers: the calls to each of them over time."""

from __future__ import annotations

from typing import Any

from plotly.subplots import make_subplots
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.controller_load import calls_to_controllers
from kwire.pipeline.report.gaps import draw_unrecorded
from kwire.pipeline.report.heat_maps import colours, over_time
from kwire.pipeline.report.section import FigureTable, Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import (
    BLACK,
    BOTTOM,
    TALLEST,
    clock,
    dress,
    label,
    many,
    names,
)

TOPIC = "Controller load"
APIS = 12
"""APIs of each controller that are drawn at most, the busiest first."""

CONTROLLERS = 12
"""Controllers that are drawn at most, the busiest."""

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
        reading=f"Colour is the rate of calls, for every {span.unit}; empty: none. Brokers and"
        f" followers turn to the leader, so that their rows show where it was.{_others(nodes)}"
        f"{span.silence}",
        figures=[_picture(counted, sorted(_most(total)), span)],
        tables=[_table(counted, span)],
    )


def _step(span: ReportSpan | None) -> Any:
    return f.lit(0) if span is None else span.step


def _most(total: dict[int, int]) -> list[int]:
    return sorted(total, key=lambda node: -total[node])[:CONTROLLERS]


def _others(nodes: list[int]) -> str:
    rest = len(nodes) - CONTROLLERS
    return f" {many(rest, 'quieter controller')} left out." if rest > 0 else ""


def _table(rows: list[Row], span: ReportSpan) -> FigureTable:
    lines = sorted((row.step, row.node_id, row.api, row["count"]) for row in rows)
    columns = ("begin of step (UTC)", "node", "API", "calls")
    return FigureTable(
        "controller load by time", columns, [(span.start(at), *rest) for at, *rest in lines]
    )


def _picture(rows: list[Row], nodes: list[int], span: ReportSpan) -> Any:
    most = min(APIS, max(2, (TALLEST - 130) // 24 // len(nodes) - 2))
    lanes = {node: _busiest([row for row in rows if row.node_id == node])[:most] for node in nodes}
    sizes = [len(lanes[node]) + 1 for node in nodes]
    height = sum(sizes) * 24 + 34 + BOTTOM
    made = make_subplots(
        rows=len(nodes),
        shared_xaxes=True,
        row_heights=sizes,
        vertical_spacing=min(34 / height, 0.9 / len(nodes)),
    )
    cells = {node: _cells([row for row in rows if row.node_id == node], span) for node in nodes}
    for lane, node in enumerate(nodes, start=1):
        made.add_trace(over_time(cells[node], lanes[node], span), row=lane, col=1)
        made.update_yaxes(names(lanes[node]), row=lane, col=1)
    everywhere = {(f"{node}", lane): cell for node in nodes for lane, cell in cells[node].items()}
    scale = colours(everywhere, "calls per second", UNITS)
    dress(made, height=height, coloraxis=scale)
    made.update_layout(margin_t=34)
    scale["colorbar"] |= {"y": 1 + 20 / (height - 34 - BOTTOM)}
    made.update_layout(coloraxis=scale)
    made.update_xaxes(clock(span.begin, span.end) | {"title": {"text": ""}})
    made.update_xaxes(clock(span.begin, span.end), row=len(nodes), col=1)
    draw_unrecorded(made, span.unrecorded, span.begin, span.end)
    for lane, node in enumerate(nodes, start=1):
        made.add_annotation(_title(node, lane))
    return made


def _title(node: int, lane: int) -> dict[str, Any]:
    """Return the name of a controller, above its plot."""
    number = "" if lane == 1 else str(lane)
    return {
        "text": f"node {node}",
        "showarrow": False,
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": 1,
        "yref": f"y{number} domain",
        "yanchor": "bottom",
        "font": {"size": 13, "color": BLACK, "weight": 600},
    }


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
