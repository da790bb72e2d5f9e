"""The section of clients and nodes: calls and bytes between each of them."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.client_to_node import client_to_node
from kwire.pipeline.report.heat_maps import Cells, colours, over_names
from kwire.pipeline.report.section import FigureTable, Section
from kwire.pipeline.report.style import LANE, cut, figure, full, many, names, size

TOPIC = "Clients and nodes"
CLIENTS, NODES = 24, 32
WITH_TEXT = 12
"""Nodes beside which a cell has room for its number."""

COUNTS = {float(10**power): f"{10**power:,}" for power in range(13)}
BYTES = {float(10**power): size(10**power) for power in range(16)}


def client_to_node_section(calls: DataFrame) -> Section:
    """Return heat maps of clients and nodes: of calls, and of bytes both ways."""
    pairs = client_to_node(calls)
    clients, client_count = _busiest(pairs, "client_id", CLIENTS)
    nodes, node_count = _busiest(pairs, "node_id", NODES)
    if not clients:
        return Section(topic=TOPIC, finding="No call in these tables.")
    known = f.col("client_id").isin([name for name in clients if name is not None])
    found = pairs.where(known | f.col("client_id").isNull()).limit(10_000).collect()
    visible = [row for row in found if row.client_id in clients and row.node_id in nodes]
    nodes.sort(key=lambda node: (node is None, node))
    first = visible[0]
    rest = [
        many(count - len(shown), f"quieter {noun}")
        for count, shown, noun in ((client_count, clients, "client"), (node_count, nodes, "node"))
        if count > len(shown)
    ]
    left_out = f" Left out: {' and '.join(rest)}." if rest else ""
    return Section(
        topic=TOPIC,
        finding=f"{many(client_count, 'client')} called {many(node_count, 'node')}; most calls:"
        f" {cut(first.client_id)} to {_node(first.node_id)} ({first.calls:,})",
        reading="A row for each client, a column for each node: above calls, below bytes of"
        f" requests and responses. Empty: no call.{left_out}",
        figures=[_calls(visible, clients, nodes), _bytes(visible, clients, nodes)],
        tables=[_table("calls", visible), _table("bytes", visible)],
    )


def _busiest(pairs: DataFrame, column: str, most: int) -> tuple[list[Any], int]:
    """Return the values with most calls, and how many values there are."""
    grouped = pairs.groupBy(column).agg(f.sum("calls").alias("calls"))
    ordered = grouped.orderBy(f.desc("calls"), column)
    return [row[column] for row in ordered.limit(most).collect()], grouped.count()


def _node(node: int | None) -> str:
    return "a node unknown" if node is None else f"node {node}"


def _table(what: str, rows: list[Row]) -> FigureTable:
    columns = ("client_id", "node_id", "calls", "connections", "request_bytes", "response_bytes")
    lines = [tuple(row[name] for name in columns) for row in rows]
    return FigureTable(f"{what} by client and node", columns, lines)


def _calls(rows: list[Row], clients: list[Any], nodes: list[Any]) -> Any:
    cells = {(row.client_id, _column(row)): (float(row.calls), _hover(row)) for row in rows}
    return _picture(cells, clients, nodes, "calls", COUNTS)


def _bytes(rows: list[Row], clients: list[Any], nodes: list[Any]) -> Any:
    cells = {
        (row.client_id, _column(row)): (float(max(_both(row), 1)), _hover(row)) for row in rows
    }
    return _picture(cells, clients, nodes, "bytes", BYTES)


def _picture(
    cells: Cells, clients: list[Any], nodes: list[Any], title: str, units: dict[float, str]
) -> Any:
    columns = ["?" if node is None else str(node) for node in nodes]
    heat = over_names(cells, clients, columns, _short)
    if len(nodes) > WITH_TEXT:
        heat.texttemplate = None
    return figure(
        [heat],
        height=len(clients) * LANE + 90,
        margin_b=78,
        yaxis=names(clients),
        xaxis={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": columns,
            "range": [-0.5, len(columns) - 0.5],
            "title": {"text": "node id"},
            "tickmode": "linear",
            "dtick": 1,
            "showgrid": False,
        },
        coloraxis=colours(cells, title, units),
    )


def _column(row: Row) -> str:
    return "?" if row.node_id is None else str(row.node_id)


def _both(row: Row) -> int:
    return int(row.request_bytes + row.response_bytes)


def _short(value: float) -> str:
    return size(value).removesuffix(" B") if value < 1000 else size(value).removesuffix("B")


def _hover(row: Row) -> str:
    return (
        f"{full(row.client_id)}<br>{_node(row.node_id)}: {many(row.calls, 'call')}"
        f" over {many(row.connections, 'connection')}<br>{size(row.request_bytes)} to it,"
        f" {size(row.response_bytes)} from it"
    )
