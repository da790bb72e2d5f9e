"""The quorum's section: a lane for every node, and nobody's time across all of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go
from pyspark.sql import DataFrame

from pipeline.report.look import BLACK, BLUE, GREY, LANE, RED, clock, duration, figure, many
from pipeline.report.look import names as lanes
from pipeline.report.quorum_timeline import Change, QuorumTimeline, Vote, quorum_timeline
from pipeline.report.section import Grid, Section

TOPIC = "Metadata quorum"
DEEDS = {"ADDED": "added", "REMOVED": "removed", "UPDATED": "endpoints updated"}


def quorum_section(quorum: DataFrame) -> Section:
    """Leaders by epoch, votes, changes of the voter set, and the time without a leader."""
    told = quorum_timeline(quorum)
    if told is None:
        return Section(topic=TOPIC, finding="Nothing was told of a metadata quorum.")
    return Section(
        topic=TOPIC,
        finding=_finding(told),
        reading="A lane for every controller. A bar is the time that it led, with the epoch; a thin"
        " line the time that it was a voter. Across all lanes: nobody led, from the last fetch that"
        " the old leader answered to the record with which the next one began. Triangles stand"
        " where a vote was answered, in the voter's lane: filled, it was granted.",
        figures=[_picture(told)],
        grids=[_grid(told.changes)] if told.changes else [],
    )


def _finding(told: QuorumTimeline) -> str:
    leaders = many(len({term.leader_id for term in told.terms}), "leader")
    if not told.gaps:
        return f"{leaders} in {many(len(told.terms), 'epoch')}, never without one"
    spent = sum(gap.milliseconds for gap in told.gaps)
    longest = max(told.gaps, key=lambda gap: gap.milliseconds)
    last = next(term for term in told.terms if term.begin == longest.end)
    missing = f"{duration(spent)} without one in all" if len(told.gaps) > 1 else ""
    took = f"node {last.leader_id} took over after {duration(longest.milliseconds)} without one"
    return ", ".join(filter(None, [leaders, missing, took]))


def _picture(told: QuorumTimeline) -> Any:
    order = [f"node {node}" for node in told.nodes]
    traces = [*_members(told), *_leaders(told), *_votes(told), *_changes(told)]
    made = figure(
        traces,
        height=len(order) * (LANE + 22) + 110,
        legend=True,
        barmode="overlay",
        xaxis=clock(told.begin, told.end),
        yaxis=lanes(order),
    )
    for gap in told.gaps:
        made.add_vrect(x0=gap.begin, x1=gap.end, fillcolor=RED, opacity=0.16, line_width=0)
        middle = gap.begin + (gap.end - gap.begin) / 2
        text = f"<b>no leader</b><br>{duration(gap.milliseconds)}"
        made.add_annotation(
            x=middle, y=0.5, yref="paper", text=text, showarrow=False, font={"color": "#9A3D00"}
        )
    return made


def _leaders(told: QuorumTimeline) -> list[Any]:
    terms = told.terms
    said = [
        f"epoch {term.epoch}: node {term.leader_id} leads for {_long(term.begin, term.end)}"
        for term in terms
    ]
    return [
        go.Bar(
            name="leads",
            orientation="h",
            base=[max(term.begin, told.begin) for term in terms],
            x=[_ms(max(term.begin, told.begin), term.end) for term in terms],
            y=[f"node {term.leader_id}" for term in terms],
            width=0.42,
            text=[f"epoch {term.epoch}" for term in terms],
            textposition="inside",
            insidetextanchor="middle",
            textfont={"color": "white"},
            marker={"color": BLUE},
            hovertext=said,
            hoverinfo="text",
        )
    ]


def _members(told: QuorumTimeline) -> list[Any]:
    """A thin line in a node's lane while it was in the voter set."""
    sets: list[tuple[datetime, list[int]]] = [(each.at, each.voters) for each in told.changes]
    if not sets:
        return []
    first = told.changes[0]
    before = set(first.voters)
    if first.replica_id is not None:
        before ^= {first.replica_id}
    moments = [(told.begin, sorted(before)), *sets]
    ends = [at for at, _ in moments[1:]] + [told.end]
    x: list[datetime | None] = []
    y: list[str | None] = []
    for (begin, voters), end in zip(moments, ends, strict=True):
        for node in voters:
            x += [max(begin, told.begin), max(end, told.begin), None]
            y += [f"node {node}", f"node {node}", None]
    return [
        go.Scatter(
            name="is a voter",
            x=x,
            y=y,
            mode="lines",
            line={"color": GREY, "width": 3},
            hoverinfo="skip",
        )
    ]


def _votes(told: QuorumTimeline) -> list[Any]:
    """Votes are triangles, pre-votes small circles; filled where they were granted."""
    shapes = {
        ("vote", True): ("triangle-up", 12),
        ("vote", False): ("triangle-up-open", 12),
        ("pre-vote", True): ("circle", 8),
        ("pre-vote", False): ("circle-open", 8),
    }
    traces = []
    for (kind, granted), (symbol, size) in shapes.items():
        marks = [
            (vote.at, vote.voter, _said(vote))
            for vote in told.votes
            if vote.pre == (kind == "pre-vote") and vote.granted == granted
        ]
        if marks:
            marker = {"symbol": symbol, "size": size, "color": BLACK}
            name = f"{kind} {'granted' if granted else 'refused'}"
            traces.append(_marks(name, marks, marker))
    return traces


def _said(vote: Vote) -> str:
    deed = "grants" if vote.granted else "refuses"
    kind = "pre-vote" if vote.pre else "vote"
    return f"node {vote.voter} {deed} its {kind} to node {vote.candidate}, epoch {vote.epoch}"


def _changes(told: QuorumTimeline) -> list[Any]:
    marks = [
        (each.at, each.replica_id, f"voter {each.replica_id} {DEEDS[each.change]}")
        for each in told.changes
        if each.replica_id is not None
    ]
    marker = {
        "symbol": "diamond",
        "size": 13,
        "color": "#E69F00",
        "line": {"color": BLACK, "width": 1},
    }
    return [_marks("voter added or removed", marks, marker)] if marks else []


def _marks(name: str, marks: list[tuple[datetime, int, str]], marker: dict[str, Any]) -> Any:
    return go.Scatter(
        name=name,
        x=[at for at, _, _ in marks],
        y=[f"node {node}" for _, node, _ in marks],
        hovertext=[text for _, _, text in marks],
        hoverinfo="text",
        mode="markers",
        marker=marker,
    )


def _grid(changes: list[Change]) -> Grid:
    columns = ("voter", "change", "asked", "appended", "committed", "took", "voters from then on")
    rows = [
        (
            "-" if one.replica_id is None else str(one.replica_id),
            DEEDS[one.change],
            *(_time(at) for at in (one.asked, one.at, one.committed)),
            _long(one.asked, one.committed) if one.asked and one.committed else "-",
            ", ".join(map(str, one.voters)),
        )
        for one in changes
    ]
    return Grid("Changes of the voter set, step by step", columns, rows)


def _time(at: datetime | None) -> str:
    return "-" if at is None else f"{at:%H:%M:%S.%f}"[:-3]


def _ms(begin: datetime, end: datetime) -> float:
    return max(0.0, (end - begin) / timedelta(milliseconds=1))


def _long(begin: datetime, end: datetime) -> str:
    return duration(_ms(begin, end))
