"""The section of in-sync replicas: the partitions with most changes, from state to state."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.alter_partitions import alter_partitions
from kwire.pipeline.analyses.isr import isr_churn
from kwire.pipeline.report.section import FigureTable, Grid, Section
from kwire.pipeline.report.style import (
    LANE,
    ORANGE,
    RED,
    SKY,
    clock,
    figure,
    full,
    labels,
    many,
    names,
    utc,
)

TOPIC = "In-sync replicas"
PARTITIONS, STATES = 20, 5000
COLOURS = {"all replicas in sync": SKY, "some fell behind": ORANGE, "no leader": RED}


def isr_section(partitions: DataFrame, messages: DataFrame) -> Section:
    """Return a lane for each changed partition, and the outcomes of AlterPartition requests."""
    churn = isr_churn(partitions).collect()
    outcomes = alter_partitions(messages).collect()
    grids = [_grid(outcomes)] if outcomes else []
    changing = [row for row in churn if row.changes][:PARTITIONS]
    if not changing:
        finding = (
            f"The in-sync replicas of {many(len(churn), 'partition')} never changed"
            if churn
            else "No partition is in these tables: they need a metadata log."
        )
        return Section(topic=TOPIC, finding=finding, grids=grids)
    shrinks, grown = (sum(row[name] for row in churn) for name in ("shrinks", "expansions"))
    lost = sum(row.leaderless > 0 for row in churn)
    states = _states(partitions, changing)
    return Section(
        topic=TOPIC,
        finding=f"In-sync sets shrank {many(shrinks, 'time')} and grew again {many(grown, 'time')};"
        f" {many(lost, 'partition')} of {len(churn)} had no leader at some time",
        reading="A lane for each of the most restless partitions, from the record that made it so"
        " to the next one.",
        figures=[_picture(changing, states)],
        tables=[_table(states)],
        grids=grids,
    )


def _states(partitions: DataFrame, changing: list[Row]) -> list[Row]:
    """Return the states of partitions in the order of the log; copies of a log count once."""
    key = f.concat_ws("-", "topic_id", "partition")
    keys = [f"{row.topic_id}-{row.partition}" for row in changing]
    states = partitions.where(key.isin(keys)).dropDuplicates(["offset", "topic_id", "partition"])
    return states.orderBy("offset").limit(STATES).collect()


def _table(states: list[Row]) -> FigureTable:
    columns = ("at (UTC)", "topic", "topic id", "partition", "leader", "in sync", "replicas")
    lines = [
        (
            *(utc(row.at), row.topic, row.topic_id, row.partition, row.leader),
            *(" ".join(map(str, ids or [])) for ids in (row.isr, row.replicas)),
        )
        for row in states
    ]
    return FigureTable("in-sync replicas", columns, lines)


Bars = dict[str, list[tuple[str, Row, datetime, datetime]]]
"""By kind of state: lane, state, begin and end."""


def _picture(changing: list[Row], states: list[Row]) -> Any:
    order = list(dict.fromkeys(_name(row) for row in changing))
    begin, end = utc(min(row.at for row in states)), utc(max(row.at for row in states))
    end += max((end - begin) * 0.03, timedelta(seconds=1))
    return figure(
        [_trace(kind, bars) for kind, bars in _bars(order, states, end).items() if bars],
        height=len(order) * LANE + 64,
        legend=True,
        barmode="overlay",
        xaxis=clock(begin, end),
        yaxis=names(order),
    )


def _bars(order: list[str], states: list[Row], end: datetime) -> Bars:
    """Return a bar for every state with a leader, or without one, until the next or the end."""
    lanes: dict[str, list[Row]] = {name: [] for name in order}
    for row in states:
        lanes[_name(row)].append(row)
    shown = dict(zip(order, labels(order), strict=True))
    bars: Bars = {kind: [] for kind in COLOURS}
    for name, rows in lanes.items():
        ends = [utc(row.at) for row in rows[1:]] + [end]
        for row, until in zip(rows, ends, strict=True):
            if row.leader is not None:
                bars[_kind(row)].append((shown[name], row, utc(row.at), until))
    return bars


def _trace(kind: str, bars: list[tuple[str, Row, datetime, datetime]]) -> Any:
    return go.Bar(
        name=kind,
        orientation="h",
        y=[name for name, _, _, _ in bars],
        base=[since for _, _, since, _ in bars],
        x=[(until - since) / timedelta(milliseconds=1) for _, _, since, until in bars],
        marker={"color": COLOURS[kind], "line": {"color": "white", "width": 1}},
        width=0.62,
        hovertext=[_hover_text(*state[1:]) for state in bars],
        hoverinfo="text",
    )


def _name(row: Row) -> str:
    return f"{row.topic or row.topic_id}-{row.partition}"


def _kind(row: Row) -> str:
    if row.leader < 0:
        return "no leader"
    behind = set(row.replicas or []) - set(row.isr or [])
    return "some fell behind" if behind else "all replicas in sync"


def _hover_text(row: Row, since: datetime, until: datetime) -> str:
    leader = "no leader" if row.leader < 0 else f"leader {row.leader}"
    in_sync = ", ".join(map(str, row.isr or [])) or "none"
    return (
        f"{full(_name(row))} from {since:%H:%M:%S}: {leader}<br>in sync: {in_sync}"
        f" of {', '.join(map(str, row.replicas or []))}<br>offset {row.offset} of the log"
    )


def _grid(rows: list[Row]) -> Grid:
    lines = [
        (
            *(f"broker {row.broker_id}", row.outcome or "no response recorded"),
            *(f"{row.changes:,}", f"{row.partitions:,}"),
        )
        for row in rows
    ]
    columns = ("asked by", "outcome", "changes", "partitions")
    return Grid("What became of AlterPartition requests", columns, lines)
