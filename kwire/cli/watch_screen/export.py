"""Writes what the screen shows: JSON lines for scripts, or a capture for kwire and Spark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kwire.capture import CaptureFile, RecordEncoder
from kwire.cli.flow_json import flow_data, notice_data
from kwire.cli.watch_screen.flow_log import FlowLogEntry
from kwire.errors import InvalidValue
from kwire.proxy import DecodedFlow
from kwire.proxy.capture.records import event_records

KINDS = (".jsonl", ".avro")


def export_problem(text: str) -> str:
    """What is wrong with the name of a file to write to; empty where nothing is."""
    path = Path(text)
    if path.suffix not in KINDS:
        return f"a file ends in {' or '.join(KINDS)}: JSON lines, or a capture"
    return f"{path} is there already" if path.exists() else ""


def json_lines(entries: Sequence[FlowLogEntry]) -> str:
    """A JSON value a line, messages included."""
    data = (
        flow_data(one.seen, tree=True)
        if isinstance(one.seen, DecodedFlow)
        else notice_data(one.seen)
        for one in entries
    )
    return "".join(f"{json.dumps(one)}\n" for one in data)


def export(entries: Sequence[FlowLogEntry], path: Path, feed: str) -> None:
    """Write a file. feed: the id of the capture. Raises InvalidValue, CannotRecord, OSError."""
    if problem := export_problem(str(path)):
        raise InvalidValue(problem)
    if path.suffix == ".jsonl":
        path.write_text(json_lines(entries), encoding="ascii")
    else:
        _capture(entries, path, feed)


def _capture(entries: Sequence[FlowLogEntry], path: Path, feed: str) -> None:
    file, encoder = CaptureFile(path), RecordEncoder()
    try:
        for entry in sorted(entries, key=lambda one: one.number):
            event = entry.seen.flow if isinstance(entry.seen, DecodedFlow) else entry.seen
            records = event_records(event, entry.number, feed)
            file.write(*(encoder.encode(record) for record in records))
        file.close()
    except BaseException:
        file.discard()
        raise
