"""The quorum's section: a lane for every node, and nobody's time across all of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go
from pyspark.sql import DataFrame

from kwire.pipeline.report.gaps import draw_unrecorded, name_gaps
from kwire.pipeline.report.look import BLACK, BLUE, GREY, ORANGE, RED, clock, duration, figure, many
from kwire.pipeline.report.quorum_timeline import (
    QuorumTimeline,
    Vote,
    VoterSetChange,
    quorum_timeline,
)
from kwire.pipeline.report.section import Grid, Section

TOPIC = "Metadata quorum"
Lanes = dict[int, int]
"""The heights of the nodes' lanes, counted from below."""

DEEDS = {"ADDED": "added", "REMOVED": "removed", "UPDATED": "endpoints updated"}


def quorum_section(quorum: DataFrame, frames: DataFrame) -> Section:
    """Leaders by epoch, votes, changes of the voter set, and the time without a leader."""
    told = quorum_timeline(quorum, frames)
    if told is None or not told.nodes:
        return Section(topic=TOPIC, finding="Nothing was told of a metadata quorum.")
    return Section(
        topic=TOPIC,
        finding=_finding(told),
        reading="A lane for every controller. A bar is the time that it led, with the epoch; a thin"
        " line the time that it was a voter. Across all lanes: nobody led, from the last fetch that"
        " the old leader answered to the record with which the next one began, as far as that was"
        " recorded; grey: nothing was recorded. Answers to a"
        " candidate stand in the voter's lane: votes above, pre-votes (KIP-996) below; filled: it"
        " was granted.",
        figures=[_picture(told)],
        grids=[_grid(told.changes)] if told.changes else [],
    )


def _finding(told: QuorumTimeline) -> str:
    if not told.epochs:
        return "No election was recorded"
    leaders = many(len({epoch.leader_id for epoch in told.epochs}), "leader")
    unknown = sum(gap.milliseconds for gap in told.unrecorded)
    silent = f"nothing recorded for {duration(unknown)}" if unknown else ""
    if not told.gaps:
        never = f"never without one{' in the time that was recorded' if unknown else ''}"
        found = [f"{leaders} in {many(len(told.epochs), 'epoch')}", never, silent]
        return ", ".join(filter(None, found))
    spent = sum(gap.milliseconds for gap in told.gaps)
    longest = max(told.gaps, key=lambda gap: gap.milliseconds)
    missing = f"{duration(spent)} without one in all" if len(told.gaps) > 1 else ""
    took = f"node {longest.next_epoch.leader_id} took over after {duration(longest.milliseconds)}"
    return ", ".join(filter(None, [leaders, missing, f"{took} without one", silent]))


def _picture(told: QuorumTimeline) -> Any:
    lanes = {node: place for place, node in enumerate(reversed(told.nodes))}
    made = figure(
        [
            *_members(told, lanes),
            _leaders(told, lanes),
            *_votes(told, lanes),
            *_changes(told, lanes),
        ],
        height=len(lanes) * 58 + 110,
        legend=True,
        barmode="overlay",
        xaxis=clock(told.begin, told.end),
        yaxis={
            "tickvals": list(lanes.values()),
            "ticktext": [f"node {node}" for node in lanes],
            "range": [-0.6, len(lanes) - 0.4],
            "showgrid": False,
        },
    )
    width = told.end - told.begin
    pieces = [piece for gap in told.gaps for piece in gap.pieces]
    for piece in pieces:
        made.add_vrect(x0=piece.begin, x1=piece.end, fillcolor=RED, opacity=0.16, line_width=0)
    name_gaps(made, pieces, "no leader", "#9A3D00", width, top=False)
    draw_unrecorded(made, told.unrecorded, width)
    return made


def _leaders(told: QuorumTimeline, lanes: Lanes) -> Any:
    spans = [(max(epoch.begin, told.begin), epoch.end) for epoch in told.epochs]
    return go.Bar(
        name="leads",
        orientation="h",
        base=[begin for begin, _ in spans],
        x=[_ms(begin, end) for begin, end in spans],
        y=[lanes[epoch.leader_id] for epoch in told.epochs],
        width=0.36,
        text=[f"epoch {epoch.epoch}" for epoch in told.epochs],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"color": "white"},
        marker={"color": BLUE},
        hovertext=[
            f"epoch {epoch.epoch}: node {epoch.leader_id} leads for {_long(epoch.begin, epoch.end)}"
            for epoch in told.epochs
        ],
        hoverinfo="text",
    )


def _members(told: QuorumTimeline, lanes: Lanes) -> list[Any]:
    """A thin line in a node's lane while it was in the voter set."""
    if not told.changes:
        return []
    first = told.changes[0]
    before = set(first.voters)
    if first.replica_id is not None:
        before ^= {first.replica_id}
    moments = [(told.begin, sorted(before)), *((one.at, one.voters) for one in told.changes)]
    moments = [(max(at, told.begin), voters) for at, voters in moments]
    ends = [at for at, _ in moments[1:]] + [told.end]
    lines = [
        (lanes[node], begin, _ms(begin, end))
        for (begin, voters), end in zip(moments, ends, strict=True)
        for node in voters
    ]
    return [
        go.Bar(
            name="is a voter",
            orientation="h",
            base=[begin for _, begin, _ in lines],
            x=[spent for _, _, spent in lines],
            y=[lane for lane, _, _ in lines],
            width=0.07,
            marker={"color": GREY, "line": {"width": 0}},
            hoverinfo="skip",
        )
    ]


def _votes(told: QuorumTimeline, lanes: Lanes) -> list[Any]:
    """Votes stand above the lane of the voter, pre-votes below; filled where granted."""
    shapes = {
        ("vote", True): ("triangle-up", 11, 0.33),
        ("vote", False): ("triangle-up-open", 11, 0.33),
        ("pre-vote", True): ("circle", 8, -0.31),
        ("pre-vote", False): ("circle-open", 8, -0.31),
    }
    traces = []
    for (kind, granted), (symbol, size, above) in shapes.items():
        marks = [
            (vote.at, lanes[vote.voter] + above, _said(vote))
            for vote in told.votes
            if vote.pre == (kind == "pre-vote") and vote.granted == granted
        ]
        if marks:
            marker = {"symbol": symbol, "size": size, "color": BLACK}
            traces.append(_marks(f"{kind} {'granted' if granted else 'refused'}", marks, marker))
    return traces


def _said(vote: Vote) -> str:
    deed = "grants" if vote.granted else "refuses"
    kind = "pre-vote" if vote.pre else "vote"
    return f"node {vote.voter} {deed} its {kind} to node {vote.candidate}, epoch {vote.epoch}"


def _changes(told: QuorumTimeline, lanes: Lanes) -> list[Any]:
    shapes = {"ADDED": ("diamond", ORANGE, 0.2), "REMOVED": ("x", RED, -0.2)}
    traces = []
    for change, (symbol, colour, above) in shapes.items():
        marks = [
            (one.at, lanes[one.replica_id] + above, f"voter {one.replica_id} {DEEDS[change]}")
            for one in told.changes
            if one.change == change and one.replica_id is not None
        ]
        if marks:
            marker = {"symbol": symbol, "size": 12, "color": colour, "line": {"width": 1}}
            traces.append(_marks(f"voter {DEEDS[change]}", marks, marker))
    return traces


def _marks(name: str, marks: list[tuple[datetime, float, str]], marker: dict[str, Any]) -> Any:
    return go.Scatter(
        name=name,
        x=[at for at, _, _ in marks],
        y=[lane for _, lane, _ in marks],
        hovertext=[f"{at:%H:%M:%S}: {text}" for at, _, text in marks],
        hoverinfo="text",
        mode="markers",
        marker=marker,
    )


def _grid(changes: list[VoterSetChange]) -> Grid:
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
