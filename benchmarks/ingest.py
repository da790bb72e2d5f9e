"""What `kwire pipeline ingest` costs a frame, beside tshark on the same frames.

    python benchmarks/ingest.py CAPTURE... [--frames 100000 1000000] [--write]

The captures, of `kwire proxy -w`, are written again under other ids until there are as many frames.
Rates are frames a second of CPU time, all of Spark's processes together, so that they are those of
a core, whatever else the machine does. --write puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from kwire.capture import NOTICE, CaptureFile, CaptureRecord, Damage, RecordEncoder, captures_at
from kwire.capture.reading import read_capture
from performance_page import write_section
from pipeline.ingest import ingest
from pipeline.session import spark_session
from process_tree import ProcessTree
from proxy.pcap_export import write_pcapng

WARM_UP = 20_000
"""Frames that are ingested before anything is measured: the JVM compiles what it runs."""

TSHARK_FRAMES = 50_000
TABLES = ["calls", "verdicts"]


@dataclass(frozen=True, slots=True)
class Measured:
    """One run. cpu, wall: seconds. worker, jvm: peak resident megabytes of a process."""

    what: str
    frames: int
    cpu: float
    wall: float
    worker: float = 0.0
    jvm: float = 0.0

    @property
    def rate(self) -> float:
        """Frames a second of a core."""
        return self.frames / self.cpu


def many(paths: list[Path], frames: int) -> Iterator[CaptureRecord]:
    """As many frames, the recordings of the captures again and again under other ids."""
    left = frames
    for round_ in count():
        for path in captures_at(paths):
            for record in read_capture(path):
                if isinstance(record, Damage) or record.kind == NOTICE:
                    continue
                yield msgspec.structs.replace(record, capture=f"{record.capture}-{round_}")
                left -= 1
                if not left:
                    return


def write(records: Iterator[CaptureRecord], path: Path) -> None:
    """One capture file of them."""
    encoder, file = RecordEncoder(), CaptureFile(path)
    for record in records:
        file.write(encoder.encode(record))
    file.close()


def ingested(paths: list[Path], sizes: list[int], folder: Path) -> Iterator[Measured]:
    """Each size in turn, in one session that is warm."""
    spark = spark_session("local[2]")
    try:
        for size in (WARM_UP, *sizes):
            capture, output = folder / f"{size}.avro", folder / f"tables-{size}"
            write(many(paths, size), capture)
            with ProcessTree() as tree:
                summary = ingest(spark, [str(capture)], str(output), tables=TABLES)
            assert summary.frames == {"DECODED": size}, summary
            assert not summary.failed, summary
            capture.unlink()
            if size != WARM_UP:
                peaks = tree.peak("python"), tree.peak("java")
                yield Measured("kwire", size, tree.cpu, tree.wall, *peaks)
    finally:
        spark.stop()


def dissected(paths: list[Path], folder: Path) -> Measured:
    """`tshark -T json` of the same frames as packets."""
    packets, ports = folder / "frames.pcapng", set()
    records = list(many(paths, TSHARK_FRAMES))
    for record in records:
        ports.add(record.upstream.rpartition(":")[2])
    with packets.open("wb") as file:
        write_pcapng(iter(records), file)
    as_kafka = [word for port in sorted(ports) for word in ("-d", f"tcp.port=={port},kafka")]
    command = ["tshark", "-r", str(packets), *as_kafka, "-Y", "kafka", "-T", "json"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured("tshark -T json", len(records), cpu, time.monotonic() - start)


def table(runs: list[Measured], peer: Measured) -> str:
    """In Markdown."""
    lines = [
        f"Python {sys.version.split()[0]}, Spark local[2], tables {' and '.join(TABLES)}.",
        "",
        "|  | frames | frames/s of a core | × tshark | µs of CPU a frame | worker, MB | JVM, MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for run in (*runs, peer):
        memory = f"{run.worker:,.0f} | {run.jvm:,.0f}" if run.worker else "- | -"
        each = run.cpu / run.frames * 1e6
        lines.append(
            f"| {run.what} | {run.frames:,} | {run.rate:,.0f} | {run.rate / peer.rate:.1f}"
            f" | {each:.1f} | {memory} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captures", nargs="+", type=Path)
    parser.add_argument("--frames", nargs="+", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        peer = dissected(given.captures, Path(folder))
        runs = list(ingested(given.captures, given.frames, Path(folder)))
    text = table(runs, peer)
    sys.stdout.write(text + "\n")
    if given.write:
        write_section("pipeline", text)


if __name__ == "__main__":
    main()
