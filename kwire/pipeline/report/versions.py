"""The section of versions: those that clients use, and the clients that block an upgrade."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from pyspark.sql import DataFrame, Row

from kwire.pipeline.analyses.versions import features, versions
from kwire.pipeline.report.section import FigureTable, Grid, Section
from kwire.pipeline.report.style import (
    CLIENTS,
    CLIENTS_BOTTOM,
    clients_axis,
    figure,
    full,
    label,
    labels,
    many,
    names,
)

TOPIC = "Versions"
APIS = 40
FINE, BLOCKED = "#CFE6F5", "#F2A477"


def versions_section(calls: DataFrame, records: DataFrame) -> Section:
    """Return the versions of every API and client, and the features of the metadata log."""
    spoken = versions(calls).collect()
    levels = [row for row in features(records).collect() if row.current]
    grids = [_grid(levels)] if levels else []
    if not spoken:
        finding = "No request was recorded in these tables."
        return Section(topic=TOPIC, finding=finding, grids=grids)
    blocked = [row for row in spoken if row.blocked]
    clients = {row.client_id for row in blocked}
    return Section(
        topic=TOPIC,
        finding=f"{many(len(clients), 'client')} of {len({row.client_id for row in spoken})}"
        f" would fail against Kafka 4, with {many(sum(row.blocked for row in blocked), 'call')}"
        if blocked
        else f"Nobody blocks an upgrade: all {many(len({r.client_id for r in spoken}), 'client')}"
        " speak versions that Kafka 4 answers",
        reading="A cell has the lowest and the highest version that a client asked for. Orange,"
        " with a cross: some of its calls are below what Kafka 4 answers (KIP-896).",
        figures=[_picture(spoken)],
        tables=[_table(spoken)],
        grids=grids,
    )


def _table(rows: list[Row]) -> FigureTable:
    columns = ("client_id", "api", "lowest", "highest", "needed", "blocked", "calls", "clients")
    return FigureTable("versions", columns, [tuple(row[name] for name in columns) for row in rows])


def _picture(rows: list[Row]) -> Any:
    totals: dict[str | None, int] = {}
    for row in rows:
        totals[row.client_id] = totals.get(row.client_id, 0) + row.calls + 10**12 * row.blocked
    clients = sorted(totals, key=lambda client: -totals[client])[:CLIENTS]
    visible_rows = [row for row in rows if row.client_id in clients]
    apis = sorted({row.api for row in visible_rows})[:APIS]
    visible_rows = [row for row in visible_rows if row.api in apis]
    shown = dict(zip(clients, labels(clients, 22), strict=True))
    heat = go.Heatmap(
        x=[shown[row.client_id] for row in visible_rows],
        y=[label(row.api) for row in visible_rows],
        z=[int(row.blocked > 0) for row in visible_rows],
        zmin=0,
        zmax=1,
        colorscale=[[0, FINE], [1, BLOCKED]],
        showscale=False,
        text=[_versions(row) for row in visible_rows],
        texttemplate="%{text}",
        textfont={"size": 11},
        hovertext=[_hover_text(row) for row in visible_rows],
        hoverinfo="text",
        xgap=2,
        ygap=2,
    )
    return figure(
        [heat],
        height=len(apis) * 23 + 12 + CLIENTS_BOTTOM,
        margin_b=CLIENTS_BOTTOM,
        xaxis=clients_axis(clients, len(totals)),
        yaxis=names(apis),
    )


def _versions(row: Row) -> str:
    span = f"v{row.lowest}" if row.lowest == row.highest else f"v{row.lowest}–{row.highest}"
    return f"✗ {span}" if row.blocked else span


def _hover_text(row: Row) -> str:
    text = (
        f"{full(row.client_id)}<br>{many(row.calls, 'call')} of {label(row.api)} {_versions(row)}"
    )
    if row.blocked:
        text += f"<br>{row.blocked:,} below v{row.needed}, the lowest that Kafka 4 answers"
    return text


def _grid(levels: list[Row]) -> Grid:
    rows = [(row.name, str(row.level), str(row.offset)) for row in levels]
    return Grid("Finalized features", ("feature", "level", "set at offset"), rows)
