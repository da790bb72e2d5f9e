"""Cost of recording: frames a second of the writer, and its share of a proxy's tapped traffic.

    python benchmarks/recorder.py [--frames 200000] [--rounds 3]

`record` is the whole recorder: queue, thread, redaction, encoding, file, without fsync. `fastavro`
writes the same records one call each. Read the ratios; the absolute figures are the machine's.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import fastavro
import msgspec

from kwire.capture import SCHEMA, CaptureFiles, RecordEncoder, read_capture
from kwire.proxy import ClientConnection, Flow, Outcome
from kwire.proxy.capture.recorder import Recorder
from kwire.proxy.capture.records import event_records

CONNECTIONS = 20
SIZES = (60, 120, 370, 930)
"""Bytes of the frames, in turn: 370 in the mean, as in the fact sheet's traffic."""

APIS = ((1, 17), (63, 2), (3, 12), (52, 2))


def flows(count: int) -> list[Flow]:
    """As many answered RPCs of some connections."""
    connections = [
        ClientConnection(
            number=number,
            node_id=3000 + number % 3,
            client=f"127.0.0.1:{50000 + number}",
            upstream="127.0.0.1:9093",
            at=1.8e9,
        )
        for number in range(CONNECTIONS)
    ]
    made = []
    for number in range(count):
        key, version = APIS[number % len(APIS)]
        frame = bytes(SIZES[number % len(SIZES)])
        asked = number / 1e4
        flow = Flow(
            connections[number % CONNECTIONS],
            key,
            version,
            number,
            "raft-client-1",
            1.8e9 + asked,
            asked,
            len(frame),
            answered=asked + 0.001,
            response_size=len(frame),
            request_copy=frame,
            response_copy=frame,
            outcome=Outcome.ANSWERED,
        )
        made.append(flow)
    return made


@dataclass(frozen=True, slots=True)
class Bench:
    """The same flows for every contender."""

    flows: list[Flow]
    folder: Path

    def record(self) -> None:
        """The recorder as the proxy has it; a full queue would drop, so it is large."""
        path = self.folder / "recorded.avro"
        with Recorder(CaptureFiles.single(path), limit=1 << 40) as recorder:
            for flow in self.flows:
                recorder(flow)
        assert recorder.events == len(self.flows)
        path.unlink()

    def encode(self) -> None:
        """Records made and encoded, nothing written."""
        encoder = RecordEncoder()
        for number, flow in enumerate(self.flows):
            for record in event_records(flow, number, "c"):
                encoder.encode(record)

    def fastavro(self) -> None:
        """fastavro writing whole records, without a CRC worth the name."""
        with (self.folder / "peer.avro").open("wb") as file:
            fastavro.writer(file, SCHEMA, self._rows(), sync_interval=256 * 1024)

    def read(self) -> None:
        """Decode the recording again."""
        path = self.folder / "read.avro"
        if not path.exists():
            with Recorder(CaptureFiles.single(path), limit=1 << 40) as recorder:
                for flow in self.flows:
                    recorder(flow)
        assert sum(1 for _ in read_capture(path)) == 2 * len(self.flows)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for number, flow in enumerate(self.flows):
            for record in event_records(flow, number, "c"):
                row = msgspec.structs.asdict(record) | {"crc": b"1234"}
                row["at"] = row.pop("at_us")
                yield row


def seconds(run: Callable[[], None]) -> float:
    """CPU seconds of the process, all threads: the wall clock is the machine's load."""
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    """Run every contender in every round and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        bench = Bench(flows(given.frames // 2), Path(folder))
        runs = {
            run.__name__: run for run in (bench.record, bench.encode, bench.fastavro, bench.read)
        }
        bench.read()
        taken: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(given.rounds):
            for name, run in runs.items():
                taken[name].append(seconds(run))
    base = median(taken["fastavro"])
    sys.stdout.write(f"{'':10} {'frames/s':>10} {'us/frame':>9} {'x fastavro':>10}\n")
    for name, all_taken in taken.items():
        spent = median(all_taken)
        rate, each = given.frames / spent, spent / given.frames * 1e6
        sys.stdout.write(f"{name:10} {rate:>10,.0f} {each:>9.1f} {base / spent:>10.2f}\n")


if __name__ == "__main__":
    main()
