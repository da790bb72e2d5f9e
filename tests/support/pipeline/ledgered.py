"""Small ingests of two tables, without Spark: what the ledger is asked to publish."""

from __future__ import annotations

import os
import signal
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from kwire.pipeline.schemas import arrow_schema_of
from kwire.pipeline.store import delta
from kwire.pipeline.store import ledger as ledger_module
from kwire.pipeline.store.delta import CannotCommit
from kwire.pipeline.store.files import TableFiles
from kwire.pipeline.store.ledger import Ingest, Ledger, Overtaken, new_id
from kwire.pipeline.store.location import Location
from kwire.pipeline.store.sources import CAPTURE, Stretch

BEGIN = datetime(2026, 11, 26, 3, tzinfo=UTC)
NAMES = ["frames", "calls"]


def small_ingest(
    output: Path | str, capture: str, first: int = 0, rows: int = 3, *, at: datetime = BEGIN
) -> Ingest:
    """Write files of `frames` and `calls` for events of a recording; return what to publish."""
    ingest = new_id()
    with TableFiles(Location.of(str(output)).url, ingest) as files:
        for table in NAMES:
            files.write(table, _events(table, capture, first, rows, at))
    us = int(at.timestamp() * 1_000_000)
    stretch = Stretch(
        kind=CAPTURE,
        source=capture,
        file=f"{capture}.avro",
        first=first,
        last=first + rows - 1,
        begin=us,
        end=us + rows,
        rows=rows,
    )
    return Ingest(id=ingest, tables=NAMES, files=files.files, stretches=[stretch])


def _events(table: str, capture: str, first: int, rows: int, at: datetime) -> pa.RecordBatch:
    schema = arrow_schema_of(table)
    columns = {
        "capture": [capture] * rows,
        "event": range(first, first + rows),
        "at": [at + timedelta(microseconds=number) for number in range(rows)],
    }
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def say(text: str) -> None:
    """Write a line at once: whoever reads it may kill this process."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def stop_before(table: str) -> None:
    """Stop this process, once, before it commits to a table; SIGCONT lets it go on."""
    commit = delta.try_append
    due = [table]

    def stopping(location: Location, name: str, *rest: Any) -> bool:
        if name in due:
            due.remove(name)
            os.kill(os.getpid(), signal.SIGSTOP)
        return commit(location, name, *rest)

    for module in (delta, ledger_module):
        setattr(module, "try_append", stopping)  # noqa: B010


def main() -> None:
    """Publish ingests one after the other, and print the id of each that said ok."""
    output, capture, count, same = sys.argv[1:]
    if same.startswith("stop:"):
        stop_before(same.removeprefix("stop:"))
    ledger = Ledger(Location.of(output))
    say("ready")
    for number in range(int(count)):
        ledger.look()
        ingest = small_ingest(output, capture, 0 if same == "same" else number * 10)
        try:
            if ledger.known(ingest.stretches):
                raise Overtaken
            ledger.publish(ingest)
        except Overtaken:
            ledger.discard(ingest.id)
            say("overtaken")
        except CannotCommit:
            ledger.discard(ingest.id)
            say("given-up")
        else:
            say(ingest.id)


if __name__ == "__main__":
    main()
