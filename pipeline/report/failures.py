"""The errors' section: which APIs failed, how, and how often."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from pipeline.analyses.errors import errors
from pipeline.report.look import GREY, LANE, SERIES, figure, label, many, names
from pipeline.report.section import Grid, Section

TOPIC = "Errors"
APIS, WORST = 20, 12


def failures_section(calls: DataFrame) -> Section:
    """A bar for every API that failed, by the name of the error."""
    found = errors(calls).collect()
    if not found:
        return Section(topic=TOPIC, finding="No call failed in these tables.")
    failed: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for row in found:
        failed[row.api] = failed.get(row.api, 0) + row.failed
        kinds[row.failure] = kinds.get(row.failure, 0) + row.failed
    apis = sorted(failed, key=lambda api: -failed[api])[:APIS]
    counts = {
        row.api: row["count"]
        for row in calls.where(f.col("api").isin(apis)).groupBy("api").count().collect()
    }
    most = max(kinds, key=lambda kind: kinds[kind])
    return Section(
        topic=TOPIC,
        finding=f"{many(sum(kinds.values()), 'call')} failed, most often with {most}"
        f" ({kinds[most]:,})",
        reading="The length of a bar is the number of calls that failed, by the first error code in"
        " the response, or by how a call without one ended: LOST, PENDING, ORPHAN. Beside it: what"
        " part of the calls of this API that is.",
        figures=[_picture(apis, found, failed, counts)],
        grids=[_grid(found)],
    )


def _picture(
    apis: list[str], rows: list[Row], failed: dict[str, int], counts: dict[str, int]
) -> Any:
    kinds: dict[str, dict[str, int]] = {}
    for row in rows:
        of_kind = kinds.setdefault(row.failure, {})
        of_kind[row.api] = of_kind.get(row.api, 0) + row.failed
    ordered = sorted(kinds, key=lambda kind: -sum(kinds[kind].values()))
    named, others = ordered[: len(SERIES)], ordered[len(SERIES) :]
    groups = {kind: [kinds[kind]] for kind in named}
    if others:
        groups[many(len(others), "other")] = [kinds[kind] for kind in others]
    bars = [
        go.Bar(
            name=label(kind),
            orientation="h",
            y=[label(api) for api in apis],
            x=[sum(one.get(api, 0) for one in parts) for api in apis],
            marker={"color": colour, "line": {"color": "white", "width": 1}},
            hovertemplate=f"%{{y}}: %{{x:,}} × {label(kind)}<extra></extra>",
        )
        for (kind, parts), colour in zip(groups.items(), [*SERIES, GREY], strict=False)
    ]
    made = figure(
        bars,
        height=len(apis) * (LANE + 6) + 120,
        legend=True,
        barmode="stack",
        xaxis={"title": {"text": "calls that failed"}, "rangemode": "tozero", "tickformat": ",d"},
        yaxis=names([label(api) for api in apis]),
    )
    for api in apis:
        text = f"  {failed[api]:,} of {counts[api]:,} ({failed[api] / counts[api]:.1%})"
        made.add_annotation(x=failed[api], y=label(api), text=text, showarrow=False, xanchor="left")
    longest = max(failed.values())
    made.update_xaxes(range=[0, longest * 1.22])
    return made


def _grid(rows: list[Row]) -> Grid:
    columns = ("API", "client", "node", "failure", "failed", "of calls", "what the node said")
    worst = [
        (
            *(row.api, row.client_id or "-", "-" if row.node_id is None else str(row.node_id)),
            *(row.failure, f"{row.failed:,}", f"{row.rate:.1%}", row.message or "-"),
        )
        for row in rows[:WORST]
    ]
    return Grid("The most frequent, by client and node", columns, worst)
