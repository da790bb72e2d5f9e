"""Cost of one answer: `kwire capture query` beside `kwire pipeline ingest` and `sql`, by size.

    python benchmarks/capture_query.py CAPTURE... [--megabytes 5 50 200] [--rounds 3]

The captures, of `kwire proxy -w`, are written again under other ids until there are as many bytes.
Both give the slowest ten fetches: the pipeline makes the table `calls` alone, in a folder of its
own, on two cores. The two run in turns, each in new processes, whose CPU time is counted with all
that they start. What counts is the ratio: the machine does other work, too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Self

import msgspec

from ingest import KWIRE, frames_of
from kwire.capture import CaptureFile, CaptureRecord, RecordEncoder
from process_tree import TICK, processes

SLOWEST = (
    "select client_id, node_id, latency_ms from calls where api = 'Fetch'"
    " order by latency_ms desc limit 10"
)


def write(records: list[CaptureRecord], size: int, path: Path) -> None:
    """Write a capture of so many bytes."""
    encoder, file, written = RecordEncoder(), CaptureFile(path), 0
    for round_ in count():
        for record in records:
            own = msgspec.structs.replace(record, capture=f"{record.capture}-{round_}")
            data = encoder.encode(own)
            file.write(data)
            written += len(data)
        if written >= size:
            break
    file.close()


class Sampled:
    """The CPU time of all processes below this one, looked at while the context lasts.

    A JVM that Spark leaves behind is nobody's child in the end, and counts as nobody's time.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._ending = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    @property
    def cpu(self) -> float:
        """Seconds, to a fifth of one for each process."""
        return sum(self._seconds.values())

    def _watch(self) -> None:
        while not self._ending.wait(0.2):
            for fields in processes():
                if fields[-1] != str(os.getpid()):
                    self._seconds[fields[-1]] = sum(map(int, fields[12:14])) / TICK

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ending.set()
        self._thread.join()


def measured(*commands: tuple[str, ...]) -> tuple[float, float]:
    """Run commands of kwire one after the other; return their CPU and their time, in seconds."""
    start = time.monotonic()
    with Sampled() as sampled:
        for command in commands:
            subprocess.run([str(KWIRE), *command], stdout=subprocess.DEVNULL, check=True)
    return sampled.cpu, time.monotonic() - start


def turns(capture: Path, rounds: int) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield what the query and the pipeline took, in turns."""
    for number in range(rounds):
        with TemporaryDirectory(dir=capture.parent) as folder:
            tables = f"{folder}/tables"
            words = ("pipeline", "ingest", str(capture), "-o", tables, "--table", "calls")
            ingest = (*words, "--master", "local[2]")
            runs = {
                "query": (("capture", "query", str(capture), SLOWEST),),
                "pipeline": (ingest, ("pipeline", "sql", tables, SLOWEST)),
            }
            order = [*runs] if number % 2 == 0 else [*reversed(runs)]
            done = {name: measured(*runs[name]) for name in order}
        yield done["query"], done["pipeline"]


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captures", nargs="+", type=Path)
    parser.add_argument("--megabytes", nargs="+", type=int, default=[5, 50, 200])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    records = frames_of(arguments.captures)
    sys.stdout.write("| MB | query: CPU s, s | pipeline: CPU s, s | ratio of CPU, of time |\n")
    with TemporaryDirectory() as folder:
        for size in arguments.megabytes:
            capture = Path(folder) / f"{size}.avro"
            write(records, size * 1_000_000, capture)
            found = list(turns(capture, arguments.rounds))
            cells = []
            for side in zip(*found, strict=True):
                cpu, wall = map(median, zip(*side, strict=True))
                cells.append(f"{cpu:.1f}, {wall:.1f}")
            cpu, wall = (median(b[at] / a[at] for a, b in found) for at in (0, 1))
            sys.stdout.write(f"| {size} | {' | '.join(cells)} | {cpu:.1f}, {wall:.1f} |\n")
            sys.stdout.flush()
            capture.unlink()


if __name__ == "__main__":
    main()
