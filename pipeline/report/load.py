"""The controllers' section: what each of them was asked, in the course of time."""

from __future__ import annotations

from math import log10
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from pipeline.analyses.controller_load import of_controllers
from pipeline.report.look import BLACK, clock, figure, label, logarithmic, many, names
from pipeline.report.section import Section
from pipeline.report.span import Span

TOPIC = "Controller load"
APIS = 12
"""The busiest of each controller."""

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


def load_section(calls: DataFrame, span: Span | None) -> Section:
    """A heat map of calls a second for every controller."""
    counted = (
        of_controllers(calls).groupBy("node_id", "api", _step(span).alias("step")).count().collect()
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


def _step(span: Span | None) -> Any:
    return f.lit(0) if span is None else span.step


def _picture(rows: list[Row], nodes: list[int], span: Span) -> Any:
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
    rates = [row["count"] / span.seconds for row in rows]
    for place, node in enumerate(nodes, start=1):
        theirs = [row for row in rows if row.node_id == node and row.api in lanes[node]]
        made.add_trace(_heat(theirs, span), row=place, col=1)
        made.update_yaxes(names([label(api) for api in lanes[node]]), row=place, col=1)
    look = figure([], height=height).layout
    made.update_layout(look, overwrite=False)
    made.update_layout(
        margin_t=28, coloraxis=logarithmic(min(rates), max(rates), "calls per second", UNITS)
    )
    made.update_xaxes(clock(span.begin, span.end) | {"title": None})
    made.update_xaxes(clock(span.begin, span.end), row=len(nodes), col=1)
    made.update_annotations(x=0, xanchor="left", font={"size": 13, "color": BLACK, "weight": 600})
    return made


def _busiest(rows: list[Row]) -> list[str]:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.api] = counts.get(row.api, 0) + row["count"]
    return sorted(counts, key=lambda api: -counts[api])[:APIS]


def _heat(rows: list[Row], span: Span) -> Any:
    return go.Heatmap(
        x=[span.middle(row.step) for row in rows],
        y=[label(row.api) for row in rows],
        z=[log10(row["count"] / span.seconds) for row in rows],
        hovertext=[
            f"{span.start(row.step):%H:%M:%S}, {label(row.api)}:"
            f" {many(row['count'], 'call')} in {span.unit if span.seconds > 1 else 'a second'}"
            for row in rows
        ],
        hoverinfo="text",
        coloraxis="coloraxis",
        xgap=1,
        ygap=2,
    )
