"""Sections of two nights about what is counted: elections, rebalances, transactions, verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.elections import elections
from kwire.pipeline.analyses.rebalances import rebalances
from kwire.pipeline.analyses.transactions import transactions
from kwire.pipeline.analyses.verdicts import checks
from kwire.pipeline.report.nights import (
    LANES,
    Night,
    NightChange,
    changes_figure,
    changes_grid,
    changes_table,
    side_by_side,
)
from kwire.pipeline.report.section import Section
from kwire.pipeline.report.style import cut, duration, many


def quorum_change(before: Night, after: Night) -> Section:
    """Return elections, and the time without a leader, in both nights."""
    rows = [
        elections(night.tables["quorum"], night.tables["sources"])
        .agg(
            f.count_if(f.col("leader_id").isNotNull()).alias("elections"),
            f.count_if(f.col("leader_id").isNull()).alias("failed"),
            f.coalesce(f.sum("leaderless_ms"), f.lit(0.0)).alias("leaderless_ms"),
            f.max("leaderless_ms").alias("longest_ms"),
        )
        .collect()[0]
        for night in (before, after)
    ]
    topic = "Metadata quorum"
    if not any(row.elections + row.failed for row in rows):
        return Section(topic=topic, finding="No election was recorded in either night.")
    counts = _changes(rows, {"leaders elected": "elections", "elections nobody won": "failed"})
    times = _changes(rows, {"without a leader": "leaderless_ms", "the longest of it": "longest_ms"})
    return Section(
        topic=topic,
        finding=f"{many(rows[1].elections, 'election')}, {rows[0].elections:,} before; without a"
        f" leader for {duration(rows[1].leaderless_ms)}, {duration(rows[0].leaderless_ms)} before",
        grids=[changes_grid("Elections", counts, _count), changes_grid("Time", times, duration)],
    )


def _changes(rows: Sequence[Row], columns: dict[str, str]) -> list[NightChange]:
    """Return a change for each named column of the rows of both nights."""
    return [NightChange(name, *(row[column] for row in rows)) for name, column in columns.items()]


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _rate(number: float) -> str:
    return f"{number:,.3g}"


def rebalances_change(before: Night, after: Night) -> Section:
    """Return the rebalances of each group in an hour, in both nights."""
    sides = [
        rebalances(night.tables["messages"])
        .groupBy(f.col("group_id").alias("name"))
        .agg(
            f.sum("rebalances").alias("rebalances"),
            (f.sum("rebalances") * 3600 / night.seconds).alias("rate"),
            f.max("longest_ms").alias("longest"),
        )
        for night in (before, after)
    ]
    joined = side_by_side(*sides)
    (total,) = joined.agg(
        *(f.sum(f"rebalances_{side}").alias(side) for side in ("before", "after"))
    ).collect()
    difference = f.abs(f.coalesce("rate_after", f.lit(0)) - f.coalesce("rate_before", f.lit(0)))
    rows = joined.orderBy(f.desc(difference), "name").limit(LANES).collect()
    if not rows:
        return Section(topic="Rebalances", finding="No group has a member in either night.")
    changes = [NightChange(row.name, row.rate_before, row.rate_after) for row in rows]
    longest = [NightChange(row.name, row.longest_before, row.longest_after) for row in rows]
    top = max(max(change.before or 0, change.after or 0) for change in changes)
    first = changes[0]
    most = f"; {cut(first.name)} changed most" if (first.before or 0) != (first.after or 0) else ""
    axis = {"range": [0, top * 1.05 or 1], "title": {"text": "rebalances an hour"}}
    return Section(
        topic="Rebalances",
        finding=f"{many(total.after or 0, 'rebalance')}, {total.before or 0:,} before{most}",
        reading="Rebalances of each group in an hour that was recorded, what changed most first.",
        figures=[changes_figure(changes, axis, _rate)],
        tables=[changes_table("rebalances before and after", changes)],
        grids=[changes_grid("The longest rebalance", longest, duration)],
    )


def transactions_change(before: Night, after: Night) -> Section:
    """Return what became of the transactions of both nights."""
    columns = {
        "started": "started",
        "committed": "committed",
        "aborted": "aborted",
        "open at the end": "open",
    }
    rows = [
        transactions(night.tables["messages"])
        .agg(
            f.count(f.lit(1)).alias("ids"),
            *(f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in columns.values()),
            f.max("longest_open_ms").alias("longest_open_ms"),
        )
        .collect()[0]
        for night in (before, after)
    ]
    if not any(row.ids for row in rows):
        return Section(topic="Transactions", finding="No transaction in either night.")
    longest = _changes(rows, {"the longest transaction": "longest_open_ms"})
    return Section(
        topic="Transactions",
        finding=f"{rows[1].committed:,} committed and {rows[1].aborted:,} aborted,"
        f" {rows[0].committed:,} and {rows[0].aborted:,} before",
        grids=[
            changes_grid("Transactions", _changes(rows, columns), _count),
            changes_grid("Time", longest, duration),
        ],
    )


def verdicts_change(before: Night, after: Night) -> Section:
    """Return the broken verdicts of each check in both nights."""
    sides = [
        checks(night.tables["verdicts"]).select(f.col("check").alias("name"), "broken")
        for night in (before, after)
    ]
    rows = side_by_side(*sides).orderBy(f.desc_nulls_last("broken_after"), "name").collect()
    if not rows:
        return Section(topic="Verdicts", finding="Nothing was checked in either night.")
    changes = [NightChange(row.name, row.broken_before, row.broken_after) for row in rows]
    total = [sum(getattr(change, side) or 0 for change in changes) for side in ("before", "after")]
    new = [change.name for change in changes if change.after and not change.before]
    named = f"; new: {', '.join(new)}" if new else ""
    return Section(
        topic="Verdicts",
        finding=f"{many(int(total[1]), 'verdict')} do not hold, {int(total[0]):,} before{named}",
        grids=[changes_grid("Broken verdicts by check", changes, _count)],
    )
