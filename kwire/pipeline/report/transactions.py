"""The section of transactions: a lane for each transactional id, a bar for each transaction."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.transactions import transaction_events, transactions
from kwire.pipeline.report.lanes import Bar, lanes_over_time
from kwire.pipeline.report.rebalances import error_counts
from kwire.pipeline.report.section import FigureTable, Grid, Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import BLUE, ORANGE, PURPLE, cut, duration, full, utc

TOPIC = "Transactions"
IDS, EVENTS = 20, 2000
OUTCOMES = {
    "COMMITTED": ("committed", BLUE),
    "ABORTED": ("aborted", ORANGE),
    "OPEN": ("open at the end", PURPLE),
}


def transactions_section(messages: DataFrame, span: ReportSpan | None) -> Section:
    """Return the longest transactions over time, and what became of all."""
    nothing = Section(topic=TOPIC, finding="No transaction in these tables.")
    if span is None:
        return nothing
    summed = transactions(messages)
    totals = summed.agg(
        f.count(f.lit(1)).alias("ids"),
        *(f.sum(name).alias(name) for name in ("committed", "aborted", "open")),
        f.max_by("transactional_id", "longest_open_ms").alias("longest_id"),
        f.max("longest_open_ms").alias("longest_open_ms"),
    ).collect()[0]
    if not totals.ids:
        return nothing
    ids = summed.limit(IDS).collect()
    order = [row.transactional_id for row in ids]
    drawn = (
        transaction_events(messages)
        .where(f.col("transactional_id").isin(order) & f.col("begin").isNotNull())
        .orderBy(f.desc("open_ms"))
        .limit(EVENTS)
        .collect()
    )
    longest = (
        f"; {cut(totals.longest_id)} had one open for {duration(totals.longest_open_ms)}"
        if totals.longest_open_ms is not None
        else ""
    )
    return Section(
        topic=TOPIC,
        finding=f"{totals.committed:,} transactions were committed, {totals.aborted:,} aborted,"
        f" {totals.open:,} were open at the end{longest}",
        reading="A lane for each transactional id, those with most errors first. A bar is a"
        " transaction from the first request that adds to it to the answer to EndTxn, or to the"
        f" InitProducerId that aborts it; the {EVENTS:,} longest are drawn.{span.silence}",
        figures=[_picture(order, drawn, span)] if drawn else [],
        tables=[_table(drawn)],
        grids=[_grid(ids)],
    )


def _picture(order: list[str], rows: list[Row], span: ReportSpan) -> Any:
    bars: dict[tuple[str, str], list[Bar]] = {style: [] for style in OUTCOMES.values()}
    for row in rows:
        name, colour = OUTCOMES[row.outcome]
        hover = (
            f"{full(row.transactional_id)}<br>from {utc(row.begin):%H:%M:%S} for"
            f" {duration(row.open_ms)}: {name}"
        )
        bar = Bar(row.transactional_id, utc(row.begin), utc(row.end), hover)
        bars[name, colour].append(bar)
    return lanes_over_time(order, bars, [], span)


def _table(rows: list[Row]) -> FigureTable:
    columns = ("transactional_id", "begin (UTC)", "end (UTC)", "outcome", "open ms")
    lines = [
        (row.transactional_id, utc(row.begin), utc(row.end), row.outcome, row.open_ms)
        for row in rows
    ]
    return FigureTable("transactions", columns, lines)


def _grid(ids: list[Row]) -> Grid:
    columns = (
        *("transactional id", "producers began", "started", "committed", "aborted", "open"),
        *("longest open", "errors"),
    )
    lines = [
        (
            row.transactional_id,
            *(f"{row[name]:,}" for name in ("inits", "started", "committed", "aborted", "open")),
            "-" if row.longest_open_ms is None else duration(row.longest_open_ms),
            error_counts(row.errors),
        )
        for row in ids
    ]
    return Grid("Transactional ids, those with most errors first", columns, lines)
