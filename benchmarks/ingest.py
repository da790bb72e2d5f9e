"""Cost of a frame in `kwire pipeline ingest`, cold, beside tshark on the same frames.

    python benchmarks/ingest.py CAPTURE... [--frames 100000 1000000 10000000] [--write]

The captures, of `kwire proxy -w`, are written again under other ids until there are as many frames.
Every run is a process of its own, as the command is: starting Spark and its JVM counts.
Rates are frames a second of CPU time, all of its processes together, so that they are those of a
core, whatever else the machine does. tshark runs right before, on one core, with the dissector that
`kwire dissector` prints, which decodes every frame, and with its own, which does not.
--write puts the table into docs/reference/performance.md.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from kwire.capture import (
    NOTICE,
    CaptureFile,
    CaptureRecord,
    Damage,
    RecordEncoder,
    captures_at,
    read_capture,
)
from kwire.proxy.capture.pcap_export import write_pcapng
from performance_page import write_section
from process_tree import ProcessTree

TSHARK_FRAMES = 50_000

CHOSEN = {"all": (), "calls and verdicts": ("calls", "verdicts")}
"""Tables by the name of a run; none for all, which is the command's default."""

KWIRE = Path(sys.executable).with_name("kwire")


class Measured(msgspec.Struct, frozen=True):
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


def ingested(what: str, capture: Path, frames: int) -> Measured:
    """The tables of a capture of so many frames, made in a new process, and removed again."""
    with TemporaryDirectory(dir=capture.parent) as output:
        words = [str(capture), f"{output}/tables", str(frames), ",".join(CHOSEN[what])]
        command = [sys.executable, __file__, "--cold", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Measured)


def cold(capture: str, output: str, frames: int, tables: list[str]) -> Measured:
    """Ingest once; measure this process and all that it starts."""
    with ProcessTree() as tree:
        from kwire.pipeline.ingest import ingest
        from kwire.pipeline.session import spark_session

        spark = spark_session("local[2]")
        summary = ingest(spark, [capture], output, tables=tables)
    assert summary.frames == {"DECODED": frames}, summary
    assert not summary.failed, summary
    peaks = tree.peak("python"), tree.peak("java")
    spark.stop()
    return Measured(", ".join(tables), frames, tree.cpu, tree.wall, *peaks)


def tshark(records: list[CaptureRecord], folder: Path, *, ours: bool) -> Measured:
    """`tshark -T json` of the same frames as packets. ours: with kwire's dissector."""
    packets, ports = folder / "frames.pcapng", set()
    for record in records:
        ports.add(record.upstream.rpartition(":")[2])
    with packets.open("wb") as file:
        write_pcapng(many(records, TSHARK_FRAMES), file)
    name = "kwire" if ours else "kafka"
    with (folder / "kafka.lua").open("w") as script:
        subprocess.run([str(KWIRE), "dissector"], stdout=script, check=True)
    lua = ["-X", f"lua_script:{folder}/kafka.lua"] if ours else []
    as_kafka = [word for port in sorted(ports) for word in ("-d", f"tcp.port=={port},{name}")]
    command = ["tshark", *lua, "-r", str(packets), *as_kafka, "-Y", name, "-T", "json"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(name, TSHARK_FRAMES, cpu, time.monotonic() - start)


def measured(
    records: list[CaptureRecord], sizes: list[int], folder: Path
) -> Iterator[tuple[Measured, Measured, Measured]]:
    """kwire and, right before it, tshark with both dissectors, for all tables and for two."""
    for size in sizes:
        capture = folder / f"{size}.avro"
        write(many(records, size), capture)
        for what in CHOSEN:
            ours, own = (tshark(records, folder, ours=ours) for ours in (True, False))
            run = ingested(what, capture, size)
            yield msgspec.structs.replace(run, what=what), ours, own
        capture.unlink()


def table(runs: Iterable[tuple[Measured, Measured, Measured]]) -> str:
    """In Markdown."""
    lines = [
        f"Python {sys.version.split()[0]}, Spark local[2], a new process for each row.",
        "",
        "| tables | frames | frames/s of a core | of tshark, kwire's dissector | × | of tshark, its"
        " own | µs each | worker, MB | JVM, MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for run, ours, own in runs:
        lines.append(
            f"| {run.what} | {run.frames:,} | {run.rate:,.0f} | {ours.rate:,.0f}"
            f" | {run.rate / ours.rate:.1f} | {own.rate:,.0f} | {run.cpu / run.frames * 1e6:.1f}"
            f" | {run.worker:,.0f} | {run.jvm:,.0f} |"
        )
        sys.stderr.write(f"{lines[-1]}\n")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captures", nargs="*", type=Path)
    parser.add_argument("--frames", nargs="+", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--cold", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cold:
        capture, output, frames, tables = given.cold
        run = cold(capture, output, int(frames), [name for name in tables.split(",") if name])
        sys.stdout.buffer.write(msgspec.json.encode(run))
        return
    with TemporaryDirectory() as folder:
        text = table(measured(frames_of(given.captures), given.frames, Path(folder)))
    sys.stdout.write(text + "\n")
    if given.write:
        write_section("pipeline", text)


if __name__ == "__main__":
    main()
