"""The section of bytes by topic and client: produced, fetched, replicated."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.topic_bytes import topic_bytes
from kwire.pipeline.report.heat_maps import colours, over_names
from kwire.pipeline.report.section import FigureTable, Section
from kwire.pipeline.report.style import (
    BLUE,
    CLIENTS,
    CLIENTS_BOTTOM,
    GREEN,
    LANE,
    ORANGE,
    clients_axis,
    cut,
    dress,
    figure,
    full,
    labels,
    many,
    names,
    size,
)

TOPIC = "Topics"
TOPICS = 24
DIRECTIONS = {
    "IN": ("produced", BLUE),
    "OUT": ("fetched", ORANGE),
    "REPLICATED": ("replicated", GREEN),
}
UNITS = {float(10**power): size(10**power) for power in range(0, 16, 1)}


def topic_bytes_section(calls: DataFrame, messages: DataFrame, partitions: DataFrame) -> Section:
    """Return bytes by topic and direction, and by topic and client."""
    moved = topic_bytes(calls, messages, partitions)
    name = f.coalesce("topic", f.concat(f.lit("id "), "topic_id"), f.lit("(none)"))
    named = moved.withColumn("name", name)
    topics = _by_topic(named).collect()
    if not topics:
        return Section(topic=TOPIC, finding="No record was produced or fetched in these tables.")
    whole = named.agg(
        f.count_distinct("name").alias("topics"), f.sum("records_bytes").alias("records_bytes")
    ).collect()[0]
    lanes = [row.name for row in topics]
    busiest = _by_client(named).collect()
    clients = [row.client_id for row in busiest][:CLIENTS]
    total = named.select("client_id").distinct().count()
    cells = named.where(f.col("name").isin(lanes)).groupBy("name", "client_id")
    pairs = cells.agg(f.sum("records_bytes").alias("records_bytes")).where("records_bytes > 0")
    visible = [row for row in pairs.limit(10_000).collect() if row.client_id in clients]
    first = topics[0]
    rest = whole.topics - len(topics)
    left_out = f" {many(rest, 'topic')} with fewer bytes left out." if rest else ""
    return Section(
        topic=TOPIC,
        finding=f"{cut(first.name)} has {_part(first.total, whole.records_bytes)} of the"
        f" {size(whole.records_bytes or 0)} of records in {many(whole.topics, 'topic')}",
        reading="Bytes of record batches, as they were on the wire. Above by direction, with one"
        " axis for all; fetched is what clients got, replicated what other nodes got. Below by"
        f" client, all directions together. An id stands for a topic that nothing names.{left_out}",
        figures=[_directions(topics), *_clients(visible, lanes, clients, total)],
        tables=[_topics_table(topics), _clients_table(visible)],
    )


def _part(part: int, whole: int | None) -> str:
    return f"{part / whole:.0%}" if whole else "none"


def _by_topic(named: DataFrame) -> DataFrame:
    of_direction = {
        kind: f.sum(f.when(f.col("direction") == kind, f.col("records_bytes")).otherwise(0))
        for kind in DIRECTIONS
    }
    grouped = named.groupBy("name").agg(
        *(total.alias(kind) for kind, total in of_direction.items()),
        f.sum("records_bytes").alias("total"),
        f.sum("calls").alias("calls"),
    )
    return grouped.orderBy(f.desc("total"), "name").limit(TOPICS)


def _by_client(named: DataFrame) -> DataFrame:
    grouped = named.groupBy("client_id").agg(f.sum("records_bytes").alias("total"))
    return grouped.orderBy(f.desc("total"), "client_id").limit(CLIENTS)


def _topics_table(topics: list[Row]) -> FigureTable:
    columns = ("topic", *(f"bytes {name}" for name, _ in DIRECTIONS.values()), "calls")
    lines = [(row.name, *(row[kind] for kind in DIRECTIONS), row.calls) for row in topics]
    return FigureTable("bytes by topic", columns, lines)


def _clients_table(pairs: list[Row]) -> FigureTable:
    lines = sorted(
        ((row.name, row.client_id, row.records_bytes) for row in pairs), key=lambda line: -line[2]
    )
    return FigureTable("bytes by topic and client", ("topic", "client id", "bytes"), lines)


def _directions(topics: list[Row]) -> Any:
    lanes = [row.name for row in topics]
    made = make_subplots(cols=len(DIRECTIONS), horizontal_spacing=0.02, shared_yaxes=True)
    most = max(max(row[kind] for kind in DIRECTIONS) for row in topics) or 1
    for col, (kind, (name, colour)) in enumerate(DIRECTIONS.items(), start=1):
        bars = go.Bar(
            orientation="h",
            y=labels(lanes),
            x=[row[kind] for row in topics],
            text=[size(row[kind]) if row[kind] else "" for row in topics],
            textposition="outside",
            cliponaxis=False,
            marker={"color": colour},
            width=0.6,
            hovertext=[f"{full(row.name)}<br>{size(row[kind])} {name}" for row in topics],
            hoverinfo="text",
        )
        made.add_trace(bars, row=1, col=col)
    dress(made, height=len(lanes) * LANE + 64)
    for col, (name, _) in enumerate(DIRECTIONS.values(), start=1):
        # Room for the text of the longest bar; an axis of three marks has room for theirs.
        axis = {"range": [0, most * 1.45], "tickformat": "~s", "ticksuffix": "B", "nticks": 4}
        made.update_xaxes(axis | {"title": {"text": name}}, row=1, col=col)
    made.update_yaxes(names(lanes))
    made.update_yaxes(showticklabels=False, matches="y", row=1, col=2)
    made.update_yaxes(showticklabels=False, matches="y", row=1, col=3)
    return made


def _clients(
    pairs: list[Row], topics: list[str], clients: list[str | None], total: int
) -> list[Any]:
    cells = {
        (row.name, row.client_id): (
            float(row.records_bytes),
            f"{full(row.name)}<br>{full(row.client_id)}: {size(row.records_bytes)}",
        )
        for row in pairs
    }
    if not cells:
        return []
    lanes = [topic for topic in topics if any(topic == lane for lane, _ in cells)]
    return [
        figure(
            [over_names(cells, lanes, clients, size)],
            height=len(lanes) * LANE + 12 + CLIENTS_BOTTOM,
            margin_b=CLIENTS_BOTTOM,
            xaxis=clients_axis(clients, total),
            yaxis=names(lanes),
            coloraxis=colours(cells, "bytes of records", UNITS),
        )
    ]
