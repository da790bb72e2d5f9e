"""The section of rebalances: a lane for each group, a bar for each rebalance."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.rebalances import group_errors, rebalance_events, rebalances
from kwire.pipeline.report.lanes import Bar, Mark, lanes_over_time
from kwire.pipeline.report.section import FigureTable, Grid, Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import BLUE, cut, duration, full, many, utc

TOPIC = "Rebalances"
GROUPS, EVENTS = 20, 2000
NORMAL = "REBALANCE_IN_PROGRESS"
"""The answer with which members learn of a rebalance."""


def rebalances_section(messages: DataFrame, span: ReportSpan | None) -> Section:
    """Return the rebalances of the most restless groups over time, and their errors."""
    nothing = Section(topic=TOPIC, finding="No group has a member in these tables.")
    if span is None:
        return nothing
    summed = rebalances(messages)
    totals = summed.agg(
        f.count(f.lit(1)).alias("groups"), f.sum("rebalances").alias("rebalances")
    ).collect()[0]
    if not totals.groups:
        return nothing
    groups = summed.limit(GROUPS).collect()
    order = list(dict.fromkeys(row.group_id for row in groups))
    known = f.col("group_id").isin(order)
    events = rebalance_events(messages).where(known).limit(EVENTS).collect()
    steps = group_errors(messages).where(known & (f.col("error") != NORMAL))
    errors = steps.groupBy("group_id", "error", span.step.alias("step")).count()
    failed = errors.orderBy("step").limit(EVENTS).collect()
    return Section(
        topic=TOPIC,
        finding=_finding(totals, groups[0]),
        reading="A lane for each of the most restless groups. A stroke is the begin of a rebalance,"
        " the bar how long it took: in the classic protocol from the first JoinGroup to the last"
        " answer to SyncGroup; in the others (KIP-848, 932, 1071) until the last member had the"
        f" new epoch. A cross: answers with an error other than {NORMAL}.{span.silence}",
        figures=[_picture(order, events, failed, span)] if events or failed else [],
        tables=[_table(events)],
        grids=[_grid(groups)],
    )


def _finding(totals: Row, most: Row) -> str:
    if not totals.rebalances:
        return f"None of {many(totals.groups, 'group')} rebalanced"
    longest = f", the longest for {duration(most.longest_ms)}"
    return (
        f"{many(totals.rebalances, 'rebalance')} in {many(totals.groups, 'group')}; most in"
        f" {cut(most.group_id)}: {most.rebalances:,}{longest}"
    )


def _picture(order: list[str], events: list[Row], failed: list[Row], span: ReportSpan) -> Any:
    bars = [
        Bar(
            *(row.group_id, utc(row.begin), utc(row.end)),
            f"{full(row.group_id)}<br>{utc(row.begin):%H:%M:%S}, {_word(row)} {row.generation}:"
            f" {many(row.members, 'member')}, {duration(row.took_ms)}",
        )
        for row in events
    ]
    marks = [
        Mark(
            *(row.group_id, span.middle(row.step)),
            f"{full(row.group_id)}<br>{row.error}: {row['count']:,} in the {span.unit}"
            f" from {span.start(row.step):%H:%M:%S}",
        )
        for row in failed
    ]
    return lanes_over_time(order, {("rebalance", BLUE): bars}, marks, span)


def _word(row: Row) -> str:
    return "generation" if row.protocol == "CLASSIC" else "epoch"


def _table(events: list[Row]) -> FigureTable:
    columns = ("group_id", "protocol", "generation", "begin (UTC)", "end (UTC)", "members", "ms")
    lines = [
        (
            *(row.group_id, row.protocol, row.generation, utc(row.begin), utc(row.end)),
            *(row.members, row.took_ms),
        )
        for row in events
    ]
    return FigureTable("rebalances", columns, lines)


def _grid(groups: list[Row]) -> Grid:
    columns = ("group", "protocol", "rebalances", "members", "longest", "in all", "left", "errors")
    lines = [
        (
            *(row.group_id, row.protocol, f"{row.rebalances:,}"),
            "-" if row.members is None else str(row.members),
            *(_spent(row.longest_ms), _spent(row.rebalancing_ms), f"{row.left:,}"),
            error_counts(row.errors),
        )
        for row in groups
    ]
    return Grid("The most restless groups", columns, lines)


def _spent(milliseconds: float | None) -> str:
    return "-" if milliseconds is None else duration(milliseconds)


def error_counts(errors: list[Row]) -> str:
    """Return errors with their numbers, as text."""
    return ", ".join(f"{error.error} ({error['count']:,})" for error in errors) or "-"
