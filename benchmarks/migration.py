"""Cost of a migration from ZooKeeper (KIP-866) by kwire's controller and by Kafka 3.9.1's.

    python benchmarks/migration.py [--topics 2000] [--rounds 100] [--sides java,kwire] [--write]

Each side copies the same ZooKeeper, full of topics with configs and ACLs; then topics are created
in dual write, and `kwire migration verify` compares ZooKeeper with the quorum. `--write` puts the
table into docs/reference/performance.md. Needs Java.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measured_process import run_measured
from migrating.real_clusters.layout import ControllerKind
from migration_content import BenchmarkContent
from migration_side import MigrationSide, MigrationTimes, TopicTimes, migration_side
from performance_page import write_section

KWIRE = str(Path(sys.executable).with_name("kwire"))
SIDES: tuple[ControllerKind, ...] = ("java", "kwire")
NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideResult:
    """The figures of one side. verified: seconds of `kwire migration verify`, None without it."""

    times: MigrationTimes
    topics: list[TopicTimes]
    verified: float | None


@dataclass(frozen=True, slots=True)
class MigrationRow:
    """A row of the table. goal: a ratio, or what the text says."""

    name: str
    goal: str
    figure: Callable[[SideResult], float | None]


ROWS = (
    MigrationRow("copy, s", "1.0", lambda side: side.times.copied),
    MigrationRow("until brokers are told of all, s", NONE, lambda side: side.times.told),
    MigrationRow("CPU of the controller until then, s", NONE, lambda side: side.times.cpu),
    MigrationRow(
        "CreateTopics, 10 partitions, ms, median",
        NONE,
        lambda side: median(topic.answered for topic in side.topics),
    ),
    MigrationRow(
        "from there until ZooKeeper has it, ms, median",
        "1.5",
        lambda side: median(topic.lag for topic in side.topics),
    ),
    MigrationRow("`kwire migration verify`, s", "20 s", lambda side: side.verified),
)


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--topics", type=int, default=2000)
    parser.add_argument("--partitions", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=100, help="topics created in dual write")
    parser.add_argument("--sides", default=",".join(SIDES), help="java, kwire, or both")
    parser.add_argument("--no-verify", action="store_true", help="leave out the comparison")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    content = BenchmarkContent(topics=options.topics, partitions=options.partitions)
    before = os.getloadavg()[0]
    results = {
        kind: asyncio.run(measure(kind, content, options.rounds, not options.no_verify))
        for kind in SIDES
        if kind in options.sides.split(",")
    }
    text = table(results, content, (before, os.getloadavg()[0]))
    print(text)  # noqa: T201  # a script's output
    if options.write:
        write_section("migration", text)


async def measure(
    kind: ControllerKind, content: BenchmarkContent, rounds: int, verifies: bool
) -> SideResult:
    """Return the figures of one side."""
    _progress(f"{kind}: {content.topics:,} topics into ZooKeeper")
    with migration_side(kind, content) as side:
        _progress(f"{kind}: migration")
        times, broker = await side.migrate()
        _progress(f"{kind}: copied in {times.copied:.1f} s, brokers told after {times.told:.1f} s")
        topics = await side.create_topics(rounds)
        await asyncio.to_thread(side.cluster.wait_until_written_twice)
        _progress(f"{kind}: topics are created, and written twice")
        verified = await asyncio.to_thread(verify, side) if verifies else None
        await broker.close()
        await side.close()
    return SideResult(times=times, topics=topics, verified=verified)


def verify(side: MigrationSide) -> float:
    """Return the seconds that the comparison of both sides takes."""
    controllers = side.cluster.bootstrap_controllers
    command = [KWIRE, "migration", "verify", "--zookeeper", side.connect]
    return run_measured([*command, "--bootstrap-controller", controllers]).wall


def table(
    results: dict[ControllerKind, SideResult],
    content: BenchmarkContent,
    load: tuple[float, float],
) -> str:
    """Return the figures as Markdown."""
    lines = [
        f"{content.topics:,} topics of {content.partitions} partitions with two configs and two"
        f" ACLs each; Python {platform.python_version()}, {platform.machine()},"
        f" {os.cpu_count()} cores, load {load[0]:.1f} to {load[1]:.1f}; Kafka 3.9.1.",
        "",
        "|  | kwire | Kafka | ratio | goal |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    sides = [results.get("kwire"), results.get("java")]
    for row in ROWS:
        lines.append(_row(row, [None if side is None else row.figure(side) for side in sides]))
    return "\n".join(lines)


def _row(row: MigrationRow, figures: Sequence[float | None]) -> str:
    ours, theirs = figures
    cells = [NONE if figure is None else f"{figure:.2f}" for figure in figures]
    ratio = f"{ours / theirs:.2f}" if ours is not None and theirs else NONE
    return f"| {row.name} | {' | '.join(cells)} | {ratio} | {row.goal} |"


def _progress(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201  # progress


if __name__ == "__main__":
    main()
