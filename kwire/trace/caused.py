"""The changes in a metadata log that recorded requests caused, or that fell into their time."""

from __future__ import annotations

import json
from pathlib import Path

from kwire.errors import FileError
from kwire.metadata_history.history import LoggedChange, Origin
from kwire.metadata_history.reading import stored_history
from kwire.metadata_history.requests import TOLERANCE, Match, RecordedRequests
from kwire.proxy.flows.text import printable
from kwire.trace.collected import Collected
from kwire.trace.marks import CHANGE, TraceMark

CHANGES = 20
"""Changes of one request that are told; a topic may have thousands of partitions."""


def add_changes(
    collected: Collected, folder: Path, requests: RecordedRequests, *, names: bool
) -> None:
    """Add what stands in a log: marks, and beside requests what they caused.

    names: False to leave out what a change is about, for a page that is given away. Raises
    InvalidValue for a folder without a log, FileError for one that cannot be begun.
    """
    reading, span, found = stored_history(folder), collected.span, 0
    try:
        for change in reading.changes():
            requests.note_topic(change)
            if change.place.origin is not Origin.LOG or span is None:
                continue
            at = change.place.timestamp / 1000
            if span[0] - TOLERANCE <= at <= span[1] + TOLERANCE:
                found += 1
                _add(collected, change, requests, names=names)
    except FileError as error:
        collected.losses.append(f"the metadata log is read up to its damage: {error.reason}")
    collected.losses += [f"metadata log: {sentence}" for sentence in reading.sentences()]
    if not found:
        collected.losses.append("no change in the metadata log falls into the time of the captures")


def _add(
    collected: Collected, change: LoggedChange, requests: RecordedRequests, *, names: bool
) -> None:
    cause, text = requests.cause(change), _text(change, names=names)
    if cause is None:
        at = change.place.timestamp / 1000
        collected.marks.add(TraceMark(at=at, kind=CHANGE, text=f"{text}, by no recorded request"))
        return
    if cause.match is not Match.CONTENT:
        text += f" ({cause.match.value})"
    texts = collected.caused.setdefault(cause.flow, [])
    if len(texts) == CHANGES:
        texts.append(f"more than {CHANGES} changes")
    elif len(texts) < CHANGES:
        texts.append(text)
        collected.marks.add(TraceMark(at=cause.at, kind=CHANGE, text=text, flow=cause.flow))


def _text(change: LoggedChange, *, names: bool) -> str:
    entry, offset = change.entry, change.place.offset
    if not names:
        return f"offset {offset}: a change under /{entry.path.split('/')[1]}"
    field = f" {entry.field}" if entry.field else ""
    before, after = (
        "none" if value is None else json.dumps(value, ensure_ascii=False)
        for value in (entry.before, entry.after)
    )
    return printable(f"offset {offset}: {entry.path}{field}: {before} → {after}", 400)
