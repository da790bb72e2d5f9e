"""Cost of controllers of kwire's beside those of Kafka's, every one a process of its own.

    python benchmarks/controllers.py [--rounds 200] [--kills 8] [--records 1000000] [--write]

Both sides get the same requests in turn. `--write` puts the table into
docs/reference/performance.md. Needs Java, or the extra `kafka`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from statistics import median

import controller_failover
import controller_load
import controller_requests
import controller_rest
import controller_sides
from performance_page import write_section
from real_kafka import launcher

QUORUM, BROKERS, SPAN = 3, 100, 20.0
LARGE_ROUNDS = 7
STARTS = 5
LOADS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A figure of both sides. goal: a ratio, or what the text says; decimals: of the figures."""

    name: str
    kwire: float
    kafka: float
    goal: str
    decimals: int = 2

    @property
    def cells(self) -> str:
        """The row in Markdown."""
        figures = (f"{figure:.{self.decimals}f}" for figure in (self.kwire, self.kafka))
        return (
            f"| {self.name} | {' | '.join(figures)} | {self.kwire / self.kafka:.2f} | {self.goal} |"
        )


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    before = os.getloadavg()[0]
    rows = asyncio.run(measure(options.rounds, options.kills, options.records))
    text = _table(rows, before, os.getloadavg()[0])
    print(text)  # noqa: T201  # a script's output
    if options.write:
        write_section("controller", text)


async def measure(rounds: int, kills: int, records: int) -> list[Row]:
    """All rows."""
    found: list[Row] = []
    kafka = launcher("local")
    with ExitStack() as running:
        kwire = running.enter_context(controller_sides.kwire(QUORUM))
        java = running.enter_context(controller_sides.java(kafka, QUORUM))
        sides = (kwire, java)
        found += await _requests(sides, rounds)
        _progress("idle, and heartbeats")
        found.append(_row("idle, cores", await controller_rest.idle(sides, SPAN), "0.4", 3))
        shares = await controller_rest.heartbeats(sides, BROKERS, SPAN)
        name = f"heartbeats of {BROKERS} brokers, cores of the leader"
        found.append(_row(name, shares, "0.05 of a core", 3))
        _progress("starts")
        starts = [
            [await controller_load.first_leader(side) for side in sides] for _ in range(STARTS)
        ]
        found.append(_row("first leader of three, s", _medians(starts), "0.6"))
    found += await _loads(records)
    _progress("failovers")
    ours = await controller_failover.with_kwire(kafka, kills)
    theirs = await controller_failover.with_java(kafka, kills)
    found.append(_row("failover of a broker, s", [median(ours), median(theirs)], "1.0"))
    found.append(_row("the longest failover, s", [max(ours), max(theirs)], "-"))
    return found


async def _requests(sides: Sequence[controller_sides.Side], rounds: int) -> list[Row]:
    _progress("topics")
    replicas = [await side.brokers(controller_requests.REPLICAS) for side in sides]
    brokers = [first for first, *_ in replicas]
    small = await controller_requests.created(brokers, rounds, topics=1, partitions=10)
    many = await controller_requests.created(brokers, LARGE_ROUNDS, 1000, 1, warm=2)
    large = await controller_requests.created(brokers, LARGE_ROUNDS, 1, 9999, warm=2)
    for broker in chain(*replicas):
        await broker.close()
    return [
        _row("CreateTopics, 10 partitions, ms, median", [median(one) for one in small], "0.8"),
        _row("99th percentile, ms", [controller_requests.p99(one) for one in small], "1.0"),
        _row("1,000 topics in a request, ms", [median(one) for one in many], "1.5", 0),
        _row("9,999 partitions in a request, ms", [median(one) for one in large], "1.0", 0),
    ]


async def _loads(records: int) -> list[Row]:
    """A lone controller that reads a long log."""
    with ExitStack() as running:
        kwire = running.enter_context(controller_sides.kwire(1))
        java = running.enter_context(controller_sides.java(launcher("local"), 1))
        sides = (kwire, java)
        for side in sides:
            await side.leader()
            controller_load.fill_once(side, records)
        clock, cpu = [], []
        for turn in range(LOADS):
            _progress(f"{records:,} records, {turn + 1} of {LOADS}")
            found = [await controller_load.loaded(side) for side in sides]
            clock.append([took for took, _ in found])
            cpu.append([used for _, used in found])
    return [
        _row(f"{records:,} records read until it leads, s of CPU", _medians(cpu), "0.4"),
        _row("by the clock, s", _medians(clock), "-"),
    ]


def _medians(rounds: list[list[float]]) -> list[float]:
    return [median(side) for side in zip(*rounds, strict=True)]


def _row(name: str, figures: Sequence[float], goal: str, decimals: int = 2) -> Row:
    ours, theirs = figures
    return Row(name=name, kwire=ours, kafka=theirs, goal=goal, decimals=decimals)


def _table(rows: Sequence[Row], before: float, after: float) -> str:
    lines = [
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load"
        f" {before:.1f} to {after:.1f}; Kafka 4.3.1.",
        "",
        "|  | kwire | Kafka | ratio | goal |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    return "\n".join([*lines, *(row.cells for row in rows)])


def _progress(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201  # progress


if __name__ == "__main__":
    main()
