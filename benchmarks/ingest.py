"""Cost of a frame in `kwire pipeline ingest`, beside tshark on the same frames.

    python benchmarks/ingest.py CAPTURE... [--frames 100000 1000000 10000000] [--write]

The captures, of `kwire proxy -w`, are written again under other ids until there are as many frames.
Rates are frames a second of CPU time, all of Spark's processes together, so that they are those of
a core, whatever else the machine does. --write puts the table into docs/performance.md.

tshark decodes few of these frames; those of DISSECTED are compared as well, in versions that it
knows.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from pyspark.sql import SparkSession

from kwire.capture import (
    NOTICE,
    REQUEST,
    CaptureFile,
    CaptureRecord,
    Damage,
    RecordEncoder,
    captures_at,
    read_capture,
)
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.frames import decode_request, decode_response, encode_request, encode_response
from kwire.pipeline.ingest import ingest
from kwire.pipeline.session import spark_session
from kwire.proxy.capture.pcap_export import write_pcapng
from performance_page import write_section
from process_tree import ProcessTree

WARM_UP = 20_000
"""Frames that are ingested before anything is measured: the JVM compiles what it runs."""

TSHARK_FRAMES = 50_000
COMPARED = 1_000_000
"""Frames that tshark decodes, as kwire ingests them."""

TABLES = ["calls", "verdicts"]

DISSECTED = {
    ProduceRequest.key: 8,
    FetchRequest.key: 11,
    MetadataRequest.key: 9,
    ApiVersionsRequest.key: 3,
}
"""APIs of the captures that tshark 4.0 decodes, by key, and the newest version that it knows."""

NAMED = 12
"""The last version of Fetch that has names of topics, which older ones need."""

_SIZE = 4


@dataclass(frozen=True, slots=True)
class Measured:
    """One run. what: which frames. cpu, wall: seconds. worker, jvm: peak megabytes of a process."""

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


def frames_of(paths: list[Path]) -> list[CaptureRecord]:
    """All frames of captures."""
    records = [record for path in captures_at(paths) for record in read_capture(path)]
    return [one for one in records if not isinstance(one, Damage) and one.kind != NOTICE]


def dissected(records: list[CaptureRecord]) -> list[CaptureRecord]:
    """Those that tshark can decode once they are written in a version that it knows."""
    found = []
    for record in records:
        key, version, frame = record.api_key, record.api_version, record.frame
        assert key is not None
        assert version is not None
        assert frame is not None
        if key in DISSECTED and not (key == FetchRequest.key and version > NAMED):
            known = min(version, DISSECTED[key])
            older = _older(frame, key, version, known, record.kind == REQUEST)[_SIZE:]
            changes = {"api_version": known, "frame": older, "size": len(older)}
            found.append(msgspec.structs.replace(record, **changes))
    return found


def _older(frame: bytes, key: int, version: int, known: int, is_request: bool) -> bytes:
    if is_request:
        asked = decode_request(frame)
        header = asked.header
        return encode_request(
            asked.body, known, correlation_id=header.correlation_id, client_id=header.client_id
        )
    answered = decode_response(frame, key, version)
    return encode_response(answered.body, known, correlation_id=answered.header.correlation_id)


def many(records: list[CaptureRecord], frames: int) -> Iterator[CaptureRecord]:
    """As many frames, the recordings again and again under other ids."""
    for round_ in range(-(-frames // len(records))):
        for record in records[: frames - round_ * len(records)]:
            yield msgspec.structs.replace(record, capture=f"{record.capture}-{round_}")


def write(records: Iterator[CaptureRecord], path: Path) -> None:
    """One capture file of them."""
    encoder, file = RecordEncoder(), CaptureFile(path)
    for record in records:
        file.write(encoder.encode(record))
    file.close()


def ingested(spark: SparkSession, what: str, capture: Path, frames: int) -> Measured:
    """The tables of a capture of so many frames; they are gone afterwards."""
    with TemporaryDirectory(dir=capture.parent) as output, ProcessTree() as tree:
        summary = ingest(spark, [str(capture)], f"{output}/tables", tables=TABLES)
    assert summary.frames == {"DECODED": frames}, summary
    assert not summary.failed, summary
    peaks = tree.peak("python"), tree.peak("java")
    return Measured(what, frames, tree.cpu, tree.wall, *peaks)


def tshark(what: str, records: list[CaptureRecord], folder: Path) -> Measured:
    """`tshark -T json` of the same frames as packets."""
    packets, ports = folder / "frames.pcapng", set()
    for record in records:
        ports.add(record.upstream.rpartition(":")[2])
    with packets.open("wb") as file:
        write_pcapng(many(records, TSHARK_FRAMES), file)
    as_kafka = [word for port in sorted(ports) for word in ("-d", f"tcp.port=={port},kafka")]
    command = ["tshark", "-r", str(packets), *as_kafka, "-Y", "kafka", "-T", "json"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(what, TSHARK_FRAMES, cpu, time.monotonic() - start)


def measured(
    records: list[CaptureRecord], sizes: list[int], folder: Path
) -> Iterator[tuple[Measured, Measured]]:
    """kwire and, right before it, tshark: frames that both decode, then all at each size."""
    both = dissected(records)
    runs = [("decoded by tshark", both, COMPARED), *(("all", records, size) for size in sizes)]
    spark = spark_session("local[2]")
    try:
        for what, chosen, size in (("warm-up", records, WARM_UP), *runs):
            peer = tshark(what, chosen, folder)
            capture = folder / f"{size}.avro"
            write(many(chosen, size), capture)
            run = ingested(spark, what, capture, size)
            capture.unlink()
            if what != "warm-up":
                yield run, peer
    finally:
        spark.stop()


def table(runs: Iterable[tuple[Measured, Measured]]) -> str:
    """In Markdown."""
    lines = [
        f"Python {sys.version.split()[0]}, Spark local[2], tables {' and '.join(TABLES)}.",
        "",
        "| frames | number | frames/s of a core | of tshark | × | µs each | worker, MB | JVM, MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for run, peer in runs:
        lines.append(
            f"| {run.what} | {run.frames:,} | {run.rate:,.0f} | {peer.rate:,.0f}"
            f" | {run.rate / peer.rate:.1f} | {run.cpu / run.frames * 1e6:.1f}"
            f" | {run.worker:,.0f} | {run.jvm:,.0f} |"
        )
        sys.stderr.write(f"{lines[-1]}\n")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captures", nargs="+", type=Path)
    parser.add_argument("--frames", nargs="+", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        text = table(measured(frames_of(given.captures), given.frames, Path(folder)))
    sys.stdout.write(text + "\n")
    if given.write:
        write_section("pipeline", text)


if __name__ == "__main__":
    main()
