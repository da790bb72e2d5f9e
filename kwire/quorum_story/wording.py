"""Sentences of a story: times, durations, nodes, and the texts of causes for one event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from kwire.doctor.finding import Fix
from kwire.quorum_story.story import StoryEvent
from kwire.text.times import moment
from kwire.text.untrusted import harmless

NO_TIME = "no time"


def duration(milliseconds: int) -> str:
    """Return a span as `4.2 s`, `3 min 20 s`, `5 h 2 min`, `3 d 4 h`."""
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for size, name, below, under in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {name} {rest} {under}" if rest else f"{whole // size} {name}"
    return f"{whole} s"


def time_text(time: int | None, *, dated: bool = True) -> str:
    """Return a time as the log has it: `2026-11-28 01:02:03.456`, or without a date."""
    if time is None:
        return NO_TIME
    value = moment(time / 1000)
    if value is None:
        return NO_TIME
    clock = value.strftime("%H:%M:%S.%f")[:12]
    if dated:
        return f"{value:%Y-%m-%d} {clock}"
    days = time // 86_400_000
    return f"{clock} +{days} d" if days else clock


def who(event: StoryEvent) -> str:
    """Return the id of an event's node, a dash if it is not known."""
    return "-" if event.node_id is None else str(event.node_id)


def meaning(event: StoryEvent) -> str:
    """Return the sentence of an event: of its cause, with its details, or its own."""
    if event.cause is None:
        return harmless(event.sentence)
    # The node of a log that does not tell it is the one that wrote the log.
    node = f"({event.source})" if event.node_id is None else str(event.node_id)
    values = _values(event, node)
    return harmless(event.cause.meaning.format_map(values))


def fixes(event: StoryEvent) -> tuple[Fix, ...]:
    """Return the fixes of an event's cause, with its details; ID stands for a node not known."""
    if event.cause is None:
        return ()
    values = _values(event, "ID" if event.node_id is None else str(event.node_id))
    return tuple(
        replace(each, steps=tuple(harmless(step.format_map(values)) for step in each.steps))
        for each in event.cause.fixes
    )


def _values(event: StoryEvent, node: str) -> Mapping[str, str]:
    values: defaultdict[str, str] = defaultdict(lambda: "ID")
    values.update(event.details)
    values["node"] = node
    return values
