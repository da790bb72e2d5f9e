"""Measure kwire's administration beside Kafka's own tools, on a cluster that is not small.

    python benchmarks/admin.py [--runs 9] [--partitions 1000] [--groups 1000] [--write]

Starts one Kafka node, makes topics and groups, and runs each command of kwire and Kafka's tool in
turn, each as a process of its own. Then asks a thousand describes on one AdminClient, at once and
one after the other. `--write` puts the tables into docs/reference/performance.md. Needs Java, or
the extra `kafka`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import admin_cluster
from admin_concurrency import OPERATIONS, ConcurrencyRun
from kwire.testing.local_kafka.jars import class_path
from kwire.testing.local_kafka.local import java
from measured_process import MeasuredRun, run_measured
from performance_page import write_section
from real_kafka import Cluster, launcher

KWIRE = str(Path(sys.executable).with_name("kwire"))
TUNED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
SMALL_HEAP, BIG_HEAP = "-Xmx192m", "-Xmx512m"
TOOLS = "org.apache.kafka.tools"
OFFSETS_OF_A_GROUP = 10
AT_ONCE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A command of kwire, Kafka's tool for the same, and the ratio that must not be passed."""

    name: str
    kwire: Sequence[str]
    tool: Sequence[str]
    heap: str
    goal: float
    is_slow: bool = False


Measured = tuple[Pair, list[MeasuredRun], list[MeasuredRun]]
"""A pair with the runs of kwire and those of the tool."""


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=9, help="of each command")
    parser.add_argument("--slow-runs", type=int, default=3, help="of tools that take a minute")
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--partitions", type=int, default=1000, help="of each topic")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    # Installed modules are compiled once; the tree must not be, where the caller forbids it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with (
        tempfile.TemporaryDirectory() as compiled,
        Cluster(launcher("local"), admin_cluster.LAYOUT) as cluster,
    ):
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        _progress("topics and groups")
        servers = cluster.bootstrap_servers
        asyncio.run(
            admin_cluster.fill(
                servers, options.topics, options.partitions, options.groups, OFFSETS_OF_A_GROUP
            )
        )
        loads = [os.getloadavg()[0]]
        measured = [
            measure(
                pair, cluster.layout.version, options.slow_runs if pair.is_slow else options.runs
            )
            for pair in pairs(cluster)
        ]
        at_once = {name: concurrency(servers, name) for name in OPERATIONS}
        loads.append(os.getloadavg()[0])
    size = f"{options.topics * options.partitions:,} partitions, {options.groups:,} groups"
    heading = _heading(loads, options.runs, options.slow_runs, size)
    text = "\n\n".join([heading, table(measured), growth(at_once)])
    print(text)  # noqa: T201  # a script's output
    if options.write:
        write_section("admin", text)


def pairs(cluster: Cluster) -> list[Pair]:
    """Return the commands to compare."""
    servers = ["--bootstrap-server", cluster.bootstrap_servers]
    controllers = ["--bootstrap-controller", cluster.bootstrap_controllers]
    quorum = [f"{TOOLS}.MetadataQuorumCommand", *controllers, "describe", "--status"]
    topics = [f"{TOOLS}.TopicCommand", *servers, "--describe"]
    groups = [f"{TOOLS}.consumer.group.ConsumerGroupCommand", *servers, "--describe"]
    groups += ["--all-groups", "--timeout", "120000"]
    rows: list[tuple[str, list[str], list[str], str, float]] = [
        ("quorum status", controllers, quorum, SMALL_HEAP, 0.4),
        ("quorum status --json", controllers, quorum, SMALL_HEAP, 0.35),
        ("topics describe", servers, topics, BIG_HEAP, 1.0),
        ("topics describe --json", servers, topics, BIG_HEAP, 1.0),
        ("groups lag", servers, groups, BIG_HEAP, 0.3),
        ("groups describe", servers, groups, BIG_HEAP, 0.3),
    ]
    return [
        Pair(
            name=name,
            kwire=[KWIRE, *name.split(), *at],
            tool=tool,
            heap=heap,
            goal=goal,
            is_slow=tool is groups,
        )
        for name, at, tool, heap, goal in rows
    ]


def measure(pair: Pair, version: str, runs: int) -> Measured:
    """Run both commands in turn, after a round that is not counted, unless they are slow."""
    _progress(pair.name)
    jars = os.pathsep.join(map(str, class_path(version)))
    tool = [str(java()), *TUNED.split(), pair.heap, "-cp", jars, *pair.tool]
    if pair.is_slow:
        run_measured(pair.kwire)  # compiles the engines
    warm_up = 0 if pair.is_slow else 1
    found = [(run_measured(pair.kwire), run_measured(tool)) for _ in range(runs + warm_up)]
    found = found[warm_up:]
    return pair, [kwire for kwire, _ in found], [tool for _, tool in found]


def concurrency(servers: str, operation: str) -> tuple[ConcurrencyRun, ConcurrencyRun]:
    """Return a thousand at once, and a thousand one after the other, in processes of their own."""
    _progress(operation)
    script = str(Path(__file__).with_name("admin_concurrency.py"))
    command = [sys.executable, script, servers, operation, str(AT_ONCE)]
    runs = [
        subprocess.run([*command, order], check=True, stdout=subprocess.PIPE).stdout
        for order in ("at-once", "in-turn")
    ]
    at_once, in_turn = (ConcurrencyRun(**json.loads(output)) for output in runs)
    return at_once, in_turn


def table(measured: Sequence[Measured]) -> str:
    """Return the rows of the commands, in Markdown: medians, and the medians of paired ratios."""
    lines = [
        "| medians: kwire : Kafka's tool | wall, s | CPU, s | peak MB"
        " | ratio of wall | ratio of CPU | goal |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for pair, ours, theirs in measured:
        cells = [
            f"{_median(ours, what, form)} : {_median(theirs, what, form)}"
            for what, form in (("wall", ".2f"), ("cpu", ".2f"), ("peak", ".0f"))
        ]
        ratios = [f"{_ratio(ours, theirs, what):.2f}" for what in ("wall", "cpu")]
        lines.append(f"| {' | '.join([f'`kwire {pair.name}`', *cells, *ratios, f'{pair.goal}'])} |")
    return "\n".join(lines)


def growth(found: dict[str, tuple[ConcurrencyRun, ConcurrencyRun]]) -> str:
    """Return the rows of the concurrent describes, in Markdown."""
    lines = [
        f"| {AT_ONCE:,} on one client: at once : in turn | wall, s | CPU, s"
        " | growth of the peak, MB | connections |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, (at_once, in_turn) in found.items():
        cells = [
            f"{getattr(at_once, what):{form}} : {getattr(in_turn, what):{form}}"
            for what, form in (
                ("wall", ".2f"),
                ("cpu", ".2f"),
                ("growth", ".1f"),
                ("connections", ""),
            )
        ]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _heading(loads: Sequence[float], runs: int, slow_runs: int, size: str) -> str:
    first, last = loads
    return (
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load"
        f" {first:.1f} to {last:.1f}; Kafka {admin_cluster.LAYOUT.version}; {runs} pairs of each,"
        f" {slow_runs} of `groups`; {size} with {OFFSETS_OF_A_GROUP} offsets each."
    )


def _ratio(ours: Sequence[MeasuredRun], theirs: Sequence[MeasuredRun], what: str) -> float:
    pairs = zip(ours, theirs, strict=True)
    return float(median(getattr(kwire, what) / getattr(tool, what) for kwire, tool in pairs))


def _median(runs: Sequence[MeasuredRun], what: str, form: str) -> str:
    return f"{median(getattr(run, what) for run in runs):{form}}"


def _progress(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201  # progress


if __name__ == "__main__":
    main()
