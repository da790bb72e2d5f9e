"""Measure the start of `kwire`, and `kwire quorum status` beside Kafka's own tool.

    python benchmarks/command_start.py [--runs 20] [--write]

All run in turn, each as a process of its own; those that ask, ask the same real quorum of three
controllers. `--write` puts the table into docs/reference/performance.md. Needs Java, or the extra
`kafka`.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from subprocess import DEVNULL

from kwire.testing.local_kafka.jars import class_path
from kwire.testing.local_kafka.local import java
from performance_page import write_section
from real_kafka import Cluster, Layout, launcher

KWIRE = str(Path(sys.executable).with_name("kwire"))
KAFKA_PYTHON = str(Path(sys.executable).with_name("kafka-python"))
TOOL = "org.apache.kafka.tools.MetadataQuorumCommand"
RUN_CLASS = "-Xmx256M -server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:+ExplicitGCInvokesConcurrent"
"""JVM options of kafka-run-class.sh; the script itself takes a further moment of bash."""

GOALS = {
    "`kwire --version`": "0.060 s",
    "`kwire --help`": "0.150 s",
    "`kwire quorum status`": "0.25 : 1",
}
"""Goals at rest: seconds, or the ratio to Kafka's tool."""

TERMINAL = " on a terminal"
"""Ends the name of a command whose output goes to one; it colours it, with rich."""


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds of one process, from its start to its end."""

    wall: float
    cpu: float


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    with Cluster(launcher("local"), Layout(controllers=(3001, 3002, 3003))) as cluster:
        text = table(measure(commands(cluster), options.runs))
    print(text)  # noqa: T201  # a script's output
    if options.write:
        write_section("start", text)


def commands(cluster: Cluster) -> dict[str, list[str]]:
    """Return the commands by the name of their row; the others are held against the last one."""
    at = ["--bootstrap-controller", cluster.bootstrap_controllers]
    jars = os.pathsep.join(map(str, class_path(cluster.layout.version)))
    tool = [str(java()), *RUN_CLASS.split(), "-cp", jars, TOOL, *at, "describe", "--status"]
    return {
        "`kwire --version`": [KWIRE, "--version"],
        "`kwire --help`": [KWIRE, "--help"],
        "`kafka-python admin --help`": [KAFKA_PYTHON, "admin", "--help"],
        "`kwire quorum status --json`": [KWIRE, "quorum", "status", *at, "--json"],
        "`kwire quorum status`": [KWIRE, "quorum", "status", *at],
        f"`kwire quorum status`{TERMINAL}": [KWIRE, "quorum", "status", *at],
        "kafka-metadata-quorum describe --status": tool,
    }


def measure(commands: Mapping[str, Sequence[str]], runs: int) -> dict[str, list[Run]]:
    """Runs of all commands in turn, after one round that is not counted."""
    rounds = [
        {name: once(command, name.endswith(TERMINAL)) for name, command in commands.items()}
        for _ in range(runs + 1)
    ]
    return {name: [found[name] for found in rounds[1:]] for name in commands}


def once(command: Sequence[str], on_terminal: bool) -> Run:
    """One run, its output thrown away; CalledProcessError where it fails."""
    main, terminal = os.openpty()
    start, before = time.perf_counter(), os.times()
    subprocess.run(command, stdout=terminal if on_terminal else DEVNULL, stderr=DEVNULL, check=True)
    wall, after = time.perf_counter() - start, os.times()
    for descriptor in (main, terminal):
        os.close(descriptor)
    cpu = after.children_user + after.children_system
    return Run(wall, cpu - before.children_user - before.children_system)


def table(runs: Mapping[str, Sequence[Run]]) -> str:
    """The rows, in Markdown: medians and least values, and ratios to the last command."""
    *_, tool = runs.values()
    lines = [
        f"Python {platform.python_version()}, {platform.machine()}, {len(tool)} rounds.",
        "",
        "| seconds: median (least) | wall | CPU | wall : Kafka's tool | goal |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, found in runs.items():
        walls, cpus = [run.wall for run in found], [run.cpu for run in found]
        ratio = median(walls) / median(run.wall for run in tool)
        goal = GOALS.get(name, "-")
        lines.append(f"| {name} | {_seconds(walls)} | {_seconds(cpus)} | {ratio:.2f} | {goal} |")
    return "\n".join(lines)


def _seconds(values: Sequence[float]) -> str:
    return f"{median(values):.3f} ({min(values):.3f})"


if __name__ == "__main__":
    main()
