"""Writes the events shown to a file: JSON lines for scripts, or a capture for kwire and Spark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kwire.capture import CaptureFile, RecordEncoder
from kwire.cli.flows.json_values import flow_data, notice_data
from kwire.cli.watch.screen.flow_log import FlowLogEntry
from kwire.errors import InvalidValue
from kwire.permissions import write_private
from kwire.proxy import DecodedFlow
from kwire.proxy.capture.records import event_records

KINDS = (".jsonl", ".avro")


def export_problem(text: str) -> str:
    """Return the problem of the name of a file to write; empty if there is none."""
    path = Path(text)
    if path.suffix not in KINDS:
        return f"a file ends in {' or '.join(KINDS)}: JSON lines, or a capture"
    return f"{path} is there already" if path.exists() else ""


def json_lines(entries: Sequence[FlowLogEntry]) -> str:
    """Return a JSON value a line, messages included."""
    data = (
        flow_data(entry.seen, tree=True)
        if isinstance(entry.seen, DecodedFlow)
        else notice_data(entry.seen)
        for entry in entries
    )
    return "".join(f"{json.dumps(event)}\n" for event in data)


def export(entries: Sequence[FlowLogEntry], path: Path, feed: str) -> None:
    """Write a file. feed: the id of the capture. Raises InvalidValue, CannotRecord, OSError."""
    if problem := export_problem(str(path)):
        raise InvalidValue(problem)
    if path.suffix == ".jsonl":
        write_private(path, json_lines(entries))
    else:
        _capture(entries, path, feed)


def _capture(entries: Sequence[FlowLogEntry], path: Path, feed: str) -> None:
    file, encoder = CaptureFile(path), RecordEncoder()
    try:
        for entry in sorted(entries, key=lambda entry: entry.number):
            event = entry.seen.flow if isinstance(entry.seen, DecodedFlow) else entry.seen
            records = event_records(event, entry.number, feed)
            file.write(*(encoder.encode(record) for record in records))
        file.close()
    except BaseException:
        file.discard()
        raise
