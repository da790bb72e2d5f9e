"""Small ingests of two tables, without Spark: what the ledger is asked to publish."""

from __future__ import annotations

import os
import signal
import sys
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from types import FrameType

import pyarrow as pa

from kwire.pipeline.schemas import arrow_schema_of
from kwire.pipeline.store import ledger as ledger_module
from kwire.pipeline.store.delta import CannotCommit
from kwire.pipeline.store.files import TableFiles
from kwire.pipeline.store.ledger import Ingest, Ledger, Overtaken, new_id
from kwire.pipeline.store.location import Location
from kwire.pipeline.store.sources import CAPTURE, Stretch

BEGIN = datetime(2026, 11, 26, 3, tzinfo=UTC)
NAMES = ["frames", "calls"]


def small_ingest(
    output: Path | str,
    capture: str,
    first: int = 0,
    rows: int = 3,
    *,
    at: datetime = BEGIN,
    ingest: str = "",
) -> Ingest:
    """Write files of `frames` and `calls` for events of a recording; return what to publish."""
    ingest = ingest or new_id()
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


def publish(ledger: Ledger, ingest: Ingest) -> str:
    """Publish an ingest, if nothing of it is known; return its id, or why it was not decided."""
    try:
        if ledger.known(ingest.stretches):
            raise Overtaken
        ledger.publish(ingest)
    except Overtaken:
        ledger.discard(ingest.id)
        return "overtaken"
    except CannotCommit:
        ledger.discard(ingest.id)
        return "given-up"
    return ingest.id


def say(text: str) -> None:
    """Write a line at once: whoever reads it may kill this process."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


STORE = str(Path(ledger_module.__file__).parent)
STEPS = frozenset({"flush", "try_append", "_write_list", "_remove_list"})
"""Functions that change what is on the disk, or stand behind one that does."""


def kill_at(step: int) -> None:
    """Kill this process as soon as it has begun so many of the STEPS, and begins one more."""
    left = iter(range(step))

    def look(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_name not in STEPS or STORE not in code.co_filename:
            return
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(look)


def publish_killed(output: str) -> None:
    """Publish in a process that is killed at the first step, in another at the second, and so on.

    Print the id of each ingest that is to be published, with the end of its process behind it.
    """
    small_ingest(output, "first")  # so that the processes have found what they need to write
    for step in count():
        ledger, ingest = Ledger(Location.of(output)), new_id()
        process = os.fork()
        if not process:
            kill_at(step)
            ledger.look()
            publish(ledger, small_ingest(output, "killed", 10 * step, ingest=ingest))
            os._exit(0)
        _, status = os.waitpid(process, 0)
        code = os.waitstatus_to_exitcode(status)
        say(f"{ingest} {code}")
        if code != -signal.SIGKILL:
            break


def publish_all(output: str, capture: str, number: int, kind: str) -> None:
    """Publish so many ingests one after the other; print the id of each that said ok.

    kind: `same` if all are of the same events, else `other`.
    """
    ledger = Ledger(Location.of(output))
    say("ready")
    for event in range(0, 10 * number, 10):
        ledger.look()
        say(publish(ledger, small_ingest(output, capture, 0 if kind == "same" else event)))


def main() -> None:
    """Publish ingests as asked for, in a process for each of the recordings."""
    output, captures, number, kind = sys.argv[1:]
    if kind == "killed":
        publish_killed(output)
        return
    first, *others = captures.split(",")
    processes = []
    for capture in others:
        processes.append(os.fork())
        if not processes[-1]:
            publish_all(output, capture, int(number), kind)
            return
    publish_all(output, first, int(number), kind)
    sys.exit(any(os.waitpid(process, 0)[1] for process in processes))


if __name__ == "__main__":
    main()
