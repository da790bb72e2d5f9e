"""The report of two nights: each section holds what changed from the one to the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from kwire.pipeline.analyses.comparison import comparison
from kwire.pipeline.analyses.errors import failure
from kwire.pipeline.analyses.latencies import LEAST_CALLS, is_long_poll
from kwire.pipeline.analyses.throughput import throughput
from kwire.pipeline.analyses.topic_bytes import topic_bytes
from kwire.pipeline.analyses.versions import versions
from kwire.pipeline.report.group_differences import (
    quorum_change,
    rebalances_change,
    transactions_change,
    verdicts_change,
)
from kwire.pipeline.report.nights import (
    LANES,
    Night,
    NightChange,
    changes_figure,
    changes_grid,
    changes_table,
    factor_text,
    side_by_side,
)
from kwire.pipeline.report.section import Grid, Section
from kwire.pipeline.report.style import cut, duration, many, shares_axis, size

ROWS = 40
NOTABLE = 1.1
"""From this factor on, a latency is told to be higher, or its inverse to be lower."""


def difference_sections(
    before: Night, after: Night, on_step: Callable[[str], None]
) -> list[Section]:
    """Return a section for each subject, and a summary before them. on_step: as in `sections`."""
    makers: dict[str, Callable[[Night, Night], Section]] = {
        "quorum": quorum_change,
        "throughput": throughput_change,
        "topics": topics_change,
        "latency": latency_change,
        "errors": errors_change,
        "versions": versions_change,
        "rebalances": rebalances_change,
        "transactions": transactions_change,
        "verdicts": verdicts_change,
    }
    made = []
    for name, make in makers.items():
        on_step(f"comparing {name}")
        made.append(make(before, after))
    return [_summary(before, after), *made]


def _summary(before: Night, after: Night) -> Section:
    counts = [night.tables["calls"].count() for night in (before, after)]
    spent = [duration(night.seconds * 1000) for night in (before, after)]
    return Section(
        topic="Summary",
        finding=f"{many(counts[1], 'call')} in {spent[1]}, {many(counts[0], 'call')} in"
        f" {spent[0]} before",
        reading=f"Before: {_when(before)} After: {_when(after)} Rates are by the time that was"
        f" recorded. What has fewer than {LEAST_CALLS} calls on a side is in no figure and in no"
        " heading.",
    )


def _when(night: Night) -> str:
    if night.span is None:
        return "no calls."
    begin, end = (f"{at:%d %B %Y %H:%M:%S}" for at in (night.span.begin, night.span.end))
    return f"{begin} to {end} UTC.{night.span.silence.replace('Grey: nothing', 'Nothing')}"


def latency_change(before: Night, after: Night) -> Section:
    """Return the 99th percentiles of each API in both nights, and of clients that slowed most."""
    sides = [_percentiles(night.tables["calls"]) for night in (before, after)]
    rows = side_by_side(*sides).collect()
    changes = [
        NightChange(row.name, row.p99_ms_before, row.p99_ms_after, _few(row, "calls"))
        for row in rows
    ]
    enough = [change for change in changes if not change.few and change.factor]
    enough.sort(key=lambda change: -(change.factor or 0))
    compared = comparison(before.tables["calls"], after.tables["calls"]).limit(ROWS).collect()
    if not enough:
        finding = f"No API has {LEAST_CALLS} answered calls in both nights"
        return Section(topic="Latency", finding=finding, grids=_clients_grid(compared))
    slower = [change for change in enough if (change.factor or 0) >= NOTABLE]
    faster = [change for change in enough if (change.factor or 0) <= 1 / NOTABLE]
    first = enough[0]
    worst = (
        f"; {first.name} most, its 99th percentile from {duration(first.before or 0)}"
        f" to {duration(first.after or 0)}"
        if slower
        else ""
    )
    return Section(
        topic="Latency",
        finding=f"{len(slower)} of {many(len(enough), 'API')} slower, {len(faster)} faster{worst}",
        reading="The 99th percentile of each API, what slowed most first; slower and faster: by a"
        f" tenth or more. Left out: APIs with fewer than {LEAST_CALLS} calls on a side, and fetches"
        " that may wait for records.",
        figures=[changes_figure(enough[:LANES], _ms_axis(enough[:LANES]), duration)],
        tables=[changes_table("latency before and after", enough)],
        grids=_clients_grid(compared),
    )


def _percentiles(calls: DataFrame) -> DataFrame:
    quick = calls.where(f.col("latency_ms").isNotNull() & ~is_long_poll())
    return quick.groupBy(f.coalesce("api", f.lit("?")).alias("name")).agg(
        f.count(f.lit(1)).alias("calls"),
        f.percentile_approx("latency_ms", 0.99).alias("p99_ms"),
    )


def _few(row: Row, column: str) -> bool:
    return min(row[f"{column}_before"] or 0, row[f"{column}_after"] or 0) < LEAST_CALLS


def _ms_axis(changes: Sequence[NightChange]) -> dict[str, Any]:
    marks = [10.0**power for power in range(-2, 7)]
    return {
        "type": "log",
        "tickvals": marks,
        "ticktext": [duration(mark) for mark in marks],
        "title": {"text": "99th percentile of the latency"},
    }


def _clients_grid(rows: list[Row]) -> list[Grid]:
    """Return the rows of `comparison`; it puts those of few calls behind."""
    lines = []
    for row in rows:
        change = NightChange("", row.p99_ms_before, row.p99_ms_after)
        few = min(row.calls_before or 0, row.calls_after or 0) < LEAST_CALLS
        lines.append(
            (
                *(row.api or "-", row.client_id or "-"),
                *(f"{calls or 0:,}" for calls in (row.calls_before, row.calls_after)),
                *("-" if ms is None else duration(ms) for ms in (change.before, change.after)),
                "too few to tell" if few else factor_text(change),
            )
        )
    columns = ("API", "client", "calls before", "after", "p99 before", "after", "change")
    return [Grid("By client, what slowed most first", columns, lines)] if lines else []


def errors_change(before: Night, after: Night) -> Section:
    """Return the share of failed calls of each API, and of each failure, in both nights."""
    sides = [_failed(night.tables["calls"]) for night in (before, after)]
    rows = side_by_side(*sides).collect()
    total = [_share(rows, side) for side in ("before", "after")]
    changes = [
        NightChange(row.name, _part(row, "before"), _part(row, "after"), _few(row, "calls"))
        for row in rows
        if (row.failed_before or 0) + (row.failed_after or 0) > 0
    ]
    changes.sort(key=lambda change: (change.few, -abs(_difference(change)), change.name))
    if not changes:
        return Section(topic="Errors", finding="No call failed in either night.")
    drawn = [change for change in changes if not change.few][:LANES]
    kinds = [_kinds(night.tables["calls"]) for night in (before, after)]
    new = sorted(kinds[1].keys() - kinds[0].keys(), key=lambda kind: -kinds[1][kind])
    named = f"; new: {', '.join(cut(kind, 40) for kind in new[:3])}" if new else ""
    title = "Share of failed calls by API, what changed most first"
    return Section(
        topic="Errors",
        finding=f"{total[1]:.2%} of the calls failed, {total[0]:.2%} before{named}",
        reading="The share of each API's calls that failed, with an error code or without an"
        f" answer. Behind, and not drawn: fewer than {LEAST_CALLS} calls on a side.",
        figures=[changes_figure(drawn, shares_axis("of the API's calls"), _percent)]
        if drawn
        else [],
        tables=[changes_table("failed calls before and after", drawn)],
        grids=[changes_grid(title, changes[:ROWS], _percent), _kinds_grid(*kinds)],
    )


def _difference(change: NightChange) -> float:
    return (change.after or 0) - (change.before or 0)


def _percent(share: float) -> str:
    return f"{share:.2%}"


def _failed(calls: DataFrame) -> DataFrame:
    return calls.groupBy(f.coalesce("api", f.lit("?")).alias("name")).agg(
        f.count(f.lit(1)).alias("calls"), f.count_if(failure().isNotNull()).alias("failed")
    )


def _share(rows: list[Row], side: str) -> float:
    calls = sum(row[f"calls_{side}"] or 0 for row in rows)
    return sum(row[f"failed_{side}"] or 0 for row in rows) / max(calls, 1)


def _part(row: Row, side: str) -> float | None:
    calls = row[f"calls_{side}"]
    return row[f"failed_{side}"] / calls if calls else None


def _kinds(calls: DataFrame) -> dict[str, int]:
    failed = calls.groupBy(failure().alias("failure")).count().where("failure is not null")
    rows = failed.orderBy(f.desc("count")).limit(ROWS).collect()
    return {row.failure: row["count"] for row in rows}


def _kinds_grid(before: dict[str, int], after: dict[str, int]) -> Grid:
    order = sorted(
        {*before, *after}, key=lambda kind: -max(before.get(kind, 0), after.get(kind, 0))
    )
    changes = [NightChange(kind, before.get(kind), after.get(kind)) for kind in order]
    return changes_grid("Calls by failure", changes, _count)


def _count(number: float) -> str:
    return f"{number:,.0f}"


def versions_change(before: Night, after: Night) -> Section:
    """Return the clients and APIs whose versions are others."""
    sides = [_versions(night.tables["calls"]) for night in (before, after)]
    joined = side_by_side(*sides)
    other = ~f.col("span_before").eqNullSafe(f.col("span_after"))
    differing = joined.where(other)
    count = differing.count()
    rows = differing.orderBy(f.desc_nulls_last("blocked_after"), "name").limit(ROWS).collect()
    blocked = joined.agg(f.sum("blocked_before").alias("b"), f.sum("blocked_after").alias("a"))
    (numbers,) = blocked.collect()
    lines = [
        (
            *(row.name["client_id"] or "-", row.name["api"] or "-"),
            *(row.span_before or "-", row.span_after or "-"),
        )
        for row in rows
    ]
    grid = Grid("Other versions than before", ("client", "API", "before", "after"), lines)
    return Section(
        topic="Versions",
        finding=f"{many(count, 'pair')} of client and API with other versions;"
        f" {many(numbers.a or 0, 'call')} that Kafka 4 refuses, {numbers.b or 0:,} before",
        grids=[grid] if lines else [],
    )


def _versions(calls: DataFrame) -> DataFrame:
    lowest, highest = f.col("lowest"), f.col("highest")
    both = f.concat(f.lit("v"), lowest, f.lit("–"), highest)
    span = f.when(lowest == highest, f.concat(f.lit("v"), lowest)).otherwise(both)
    # A struct is compared as a whole; a null in it would match nothing.
    name = f.struct(
        *(f.coalesce(column, f.lit("")).alias(column) for column in ("client_id", "api"))
    )
    return versions(calls).select(name.alias("name"), span.alias("span"), "blocked")


def throughput_change(before: Night, after: Night) -> Section:
    """Return calls and bytes a second of each API in both nights."""
    sides = [
        throughput(night.tables["calls"], ["api"]).select(
            f.coalesce("api", f.lit("?")).alias("name"),
            (f.col("calls") / night.seconds).alias("calls"),
            ((f.col("request_bytes") + f.col("response_bytes")) / night.seconds).alias("bytes"),
        )
        for night in (before, after)
    ]
    most = f.greatest(*(f.coalesce(f"bytes_{side}", f.lit(0)) for side in ("before", "after")))
    rows = side_by_side(*sides).orderBy(f.desc(most), "name").limit(ROWS).collect()
    if not rows:
        return Section(topic="Throughput", finding="No call in either night.")
    calls = [NightChange(row.name, row.calls_before, row.calls_after) for row in rows[:LANES]]
    moved = [NightChange(row.name, row.bytes_before, row.bytes_after) for row in rows[:LANES]]
    total = [sum(getattr(change, side) or 0 for change in moved) for side in ("before", "after")]
    called = [sum(getattr(change, side) or 0 for change in calls) for side in ("before", "after")]
    return Section(
        topic="Throughput",
        finding=f"{size(total[1])} and {called[1]:,.3g} calls a second, {size(total[0])} and"
        f" {called[0]:,.3g} before",
        reading="Averages by API over the time that was recorded: bytes of requests and responses"
        " above, calls below.",
        figures=[
            changes_figure(moved, _rate_axis(moved, "bytes a second"), size),
            changes_figure(calls, _rate_axis(calls, "calls a second"), _rate),
        ],
        tables=[
            changes_table("bytes a second before and after", moved),
            changes_table("calls a second before and after", calls),
        ],
    )


def _rate(number: float) -> str:
    return f"{number:,.3g}"


def _rate_axis(changes: Sequence[NightChange], title: str) -> dict[str, Any]:
    top = max((max(change.before or 0, change.after or 0) for change in changes), default=0)
    tick = "~s" if top >= 1000 else "~g"
    return {"range": [0, top * 1.05 or 1], "title": {"text": title}, "tickformat": tick}


def topics_change(before: Night, after: Night) -> Section:
    """Return the bytes a second of each topic in both nights."""
    sides = []
    for night in (before, after):
        moved = topic_bytes(night.tables["calls"], *night.lookups)
        name = f.coalesce("topic", f.concat(f.lit("id "), "topic_id"), f.lit("(none)"))
        rate = f.sum("records_bytes") / night.seconds
        sides.append(moved.groupBy(name.alias("name")).agg(rate.alias("bytes")))
    most = f.greatest(*(f.coalesce(f"bytes_{side}", f.lit(0)) for side in ("before", "after")))
    joined = side_by_side(*sides)
    rows = joined.orderBy(f.desc(most), "name").limit(LANES).collect()
    if not rows:
        finding = "No record was produced or fetched in either night."
        return Section(topic="Topics", finding=finding)
    (number,) = joined.agg(
        f.count_if(f.col("bytes_before").isNull()).alias("new"),
        f.count_if(f.col("bytes_after").isNull()).alias("gone"),
        f.sum("bytes_before").alias("before"),
        f.sum("bytes_after").alias("after"),
    ).collect()
    changes = [NightChange(row.name, row.bytes_before, row.bytes_after) for row in rows]
    return Section(
        topic="Topics",
        finding=f"{size(number.after or 0)} of records a second, {size(number.before or 0)} before;"
        f" {many(number.new, 'new topic')}, {number.gone:,} gone",
        reading="Bytes of record batches, produced, fetched and replicated, by the time that was"
        " recorded; the topics with most.",
        figures=[changes_figure(changes, _rate_axis(changes, "bytes a second"), size)],
        tables=[changes_table("topics before and after", changes)],
    )
