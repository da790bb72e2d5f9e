"""The section of the quorum: a lane for every node, and times without a leader across them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go
from pyspark.sql import DataFrame

from kwire.pipeline.report.gaps import NameStrip, draw_gaps
from kwire.pipeline.report.quorum_timeline import (
    QuorumTimeline,
    Vote,
    VoterSetChange,
    quorum_timeline,
)
from kwire.pipeline.report.section import FigureTable, Grid, Section
from kwire.pipeline.report.style import (
    BLACK,
    BLUE,
    GREY,
    LEADERLESS,
    ORANGE,
    RED,
    TALLEST,
    UNRECORDED,
    clock,
    duration,
    figure,
    many,
)

TOPIC = "Metadata quorum"
Lanes = dict[int, int]
"""The heights of the nodes' lanes, counted from below."""

CHANGE_WORDS = {"ADDED": "added", "REMOVED": "removed", "UPDATED": "endpoints updated"}


def quorum_section(quorum: DataFrame, sources: DataFrame | None) -> Section:
    """Return leaders by epoch, votes, changes of the voter set, and the time without a leader.

    The tables are of one cluster.
    """
    timeline = quorum_timeline(quorum, sources)
    if timeline is None or not timeline.nodes:
        return Section(topic=TOPIC, finding="The tables have nothing about a metadata quorum.")
    return Section(
        topic=TOPIC,
        finding=_finding(timeline),
        reading="A lane for every controller. A bar is the time that it led, with the epoch; a thin"
        " line the time that it was a voter. Across all lanes: nobody led, from the last fetch that"
        " the old leader answered to the record with which the next one began, as far as that was"
        " recorded; grey: nothing was recorded. Answers to a"
        " candidate stand in the voter's lane: votes above, pre-votes (KIP-996) below; filled: it"
        " was granted.",
        figures=[_picture(timeline)],
        tables=[_table(timeline)],
        grids=[_grid(timeline.changes)] if timeline.changes else [],
    )


def _finding(timeline: QuorumTimeline) -> str:
    if not timeline.epochs:
        return "No election was recorded"
    leaders = many(len({epoch.leader_id for epoch in timeline.epochs}), "leader")
    unknown = sum(gap.milliseconds for gap in timeline.unrecorded)
    silent = f"nothing recorded for {duration(unknown)}" if unknown else ""
    if not timeline.gaps:
        never = f"never without one{' in the time that was recorded' if unknown else ''}"
        parts = [f"{leaders} in {many(len(timeline.epochs), 'epoch')}", never, silent]
        return ", ".join(filter(None, parts))
    spent = sum(gap.milliseconds for gap in timeline.gaps)
    longest = max(timeline.gaps, key=lambda gap: gap.milliseconds)
    missing = f"{duration(spent)} without one in all" if len(timeline.gaps) > 1 else ""
    took = f"node {longest.next_epoch.leader_id} took over after {duration(longest.milliseconds)}"
    return ", ".join(filter(None, [leaders, missing, f"{took} without one", silent]))


def _picture(timeline: QuorumTimeline) -> Any:
    lanes = {node: height for height, node in enumerate(reversed(timeline.nodes))}
    made = figure(
        [
            *_members(timeline, lanes),
            _leaders(timeline, lanes),
            *_votes(timeline, lanes),
            *_changes(timeline, lanes),
        ],
        height=len(lanes) * min(58, (TALLEST - 150) // len(lanes)) + 64,
        legend=True,
        barmode="overlay",
        xaxis=clock(timeline.begin, timeline.end),
        yaxis={
            "tickvals": list(lanes.values()),
            "ticktext": [f"node {node}" for node in lanes],
            "range": [-0.6, len(lanes) - 0.4],
            "showgrid": False,
        },
    )
    strip = NameStrip(timeline.begin, timeline.end)
    pieces = [piece for gap in timeline.gaps for piece in gap.pieces]
    draw_gaps(made, pieces, strip, "no leader", LEADERLESS, RED, 0.16)
    draw_gaps(made, timeline.unrecorded, strip, "nothing recorded", UNRECORDED, GREY, 0.25)
    strip.write(made)
    return made


def _table(timeline: QuorumTimeline) -> FigureTable:
    """Return leaders, votes and times without a leader, a row each."""
    lines: list[tuple[Any, ...]] = [
        (epoch.begin, epoch.end, "leads", epoch.epoch, epoch.leader_id, None)
        for epoch in timeline.epochs
    ]
    for vote in timeline.votes:
        kind = "pre-vote" if vote.pre else "vote"
        verdict = f"{kind} {'granted' if vote.granted else 'refused'}"
        lines.append((vote.at, vote.at, verdict, vote.epoch, vote.candidate, vote.voter))
    for gap in timeline.gaps:
        for piece in gap.pieces:
            lines.append((piece.begin, piece.end, "no leader", None, None, None))
    for piece in timeline.unrecorded:
        lines.append((piece.begin, piece.end, "nothing recorded", None, None, None))
    columns = ("begin (UTC)", "end (UTC)", "what", "epoch", "leader or candidate", "voter")
    return FigureTable(
        "metadata quorum",
        columns,
        sorted(lines, key=lambda line: (line[0], line[1], line[2])),
    )


def _leaders(timeline: QuorumTimeline, lanes: Lanes) -> Any:
    spans = [(max(epoch.begin, timeline.begin), epoch.end) for epoch in timeline.epochs]
    return go.Bar(
        name="leads",
        orientation="h",
        base=[begin for begin, _ in spans],
        x=[_ms(begin, end) for begin, end in spans],
        y=[lanes[epoch.leader_id] for epoch in timeline.epochs],
        width=0.36,
        text=[f"epoch {epoch.epoch}" for epoch in timeline.epochs],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"color": "white"},
        marker={"color": BLUE},
        hovertext=[
            f"epoch {epoch.epoch}: node {epoch.leader_id} leads for {_long(epoch.begin, epoch.end)}"
            for epoch in timeline.epochs
        ],
        hoverinfo="text",
    )


def _members(timeline: QuorumTimeline, lanes: Lanes) -> list[Any]:
    """Return thin lines in the lanes of nodes while they were in the voter set."""
    if not timeline.changes:
        return []
    first = timeline.changes[0]
    before = set(first.voters)
    if first.replica_id is not None:
        before ^= {first.replica_id}
    moments = [
        (timeline.begin, sorted(before)),
        *((change.at, change.voters) for change in timeline.changes),
    ]
    moments = [(max(at, timeline.begin), voters) for at, voters in moments]
    ends = [at for at, _ in moments[1:]] + [timeline.end]
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


def _votes(timeline: QuorumTimeline, lanes: Lanes) -> list[Any]:
    """Return votes, above the lane of the voter, and pre-votes, below; filled if granted."""
    shapes = {
        ("vote", True): ("triangle-up", 11, 0.33),
        ("vote", False): ("triangle-up-open", 11, 0.33),
        ("pre-vote", True): ("circle", 8, -0.31),
        ("pre-vote", False): ("circle-open", 8, -0.31),
    }
    traces = []
    for (kind, granted), (symbol, size, above) in shapes.items():
        marks = [
            (vote.at, lanes[vote.voter] + above, _vote_text(vote))
            for vote in timeline.votes
            if vote.pre == (kind == "pre-vote") and vote.granted == granted
        ]
        if marks:
            marker = {"symbol": symbol, "size": size, "color": BLACK}
            traces.append(_marks(f"{kind} {'granted' if granted else 'refused'}", marks, marker))
    return traces


def _vote_text(vote: Vote) -> str:
    verb = "grants" if vote.granted else "refuses"
    kind = "pre-vote" if vote.pre else "vote"
    return f"node {vote.voter} {verb} its {kind} to node {vote.candidate}, epoch {vote.epoch}"


def _changes(timeline: QuorumTimeline, lanes: Lanes) -> list[Any]:
    shapes = {"ADDED": ("diamond", ORANGE, 0.2), "REMOVED": ("x", RED, -0.2)}
    traces = []
    for change, (symbol, colour, above) in shapes.items():
        marks = [
            (
                event.at,
                lanes[event.replica_id] + above,
                f"voter {event.replica_id} {CHANGE_WORDS[change]}",
            )
            for event in timeline.changes
            if event.change == change and event.replica_id is not None
        ]
        if marks:
            marker = {"symbol": symbol, "size": 12, "color": colour, "line": {"width": 1}}
            traces.append(_marks(f"voter {CHANGE_WORDS[change]}", marks, marker))
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
            "-" if change.replica_id is None else str(change.replica_id),
            CHANGE_WORDS[change.change],
            *(_time(at) for at in (change.asked, change.at, change.committed)),
            _long(change.asked, change.committed) if change.asked and change.committed else "-",
            ", ".join(map(str, change.voters)),
        )
        for change in changes
    ]
    return Grid("Changes of the voter set, step by step", columns, rows)


def _time(at: datetime | None) -> str:
    return "-" if at is None else f"{at:%H:%M:%S.%f}"[:-3]


def _ms(begin: datetime, end: datetime) -> float:
    return max(0.0, (end - begin) / timedelta(milliseconds=1))


def _long(begin: datetime, end: datetime) -> str:
    return duration(_ms(begin, end))
