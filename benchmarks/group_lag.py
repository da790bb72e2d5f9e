"""Measure the lag of many groups beside kafka-consumer-groups, start-up included.

    python benchmarks/group_lag.py [--groups 1000] [--runs 5] [--bootstrap-server AT] [--write]

Makes a topic and groups that have committed offsets of it, holds the rows of both commands against
each other, then runs them in turn. Without --bootstrap-server it starts three brokers. `--write`
puts the table into docs/reference/performance.md. Needs Java, or the extra `kafka`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from kwire.admin import AdminClient
from kwire.admin.group_offsets import OffsetAndMetadata
from kwire.admin.topic_partition import TopicPartition
from kwire.admin.topics import NewTopic
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError
from kwire.testing.local_kafka.jars import class_path
from kwire.testing.local_kafka.local import java
from performance_page import write_section
from real_kafka import Cluster, Layout, launcher

KWIRE = str(Path(sys.executable).with_name("kwire"))
TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TUNED = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m"]
PREFIX = "groups-lag-"
TOPIC = "groups-lag"
PARTITIONS = 4
GOAL = 0.3


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--bootstrap-server")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    if options.bootstrap_server:
        text = measure(options.bootstrap_server, options.groups, options.runs)
    else:
        layout = Layout(controllers=(3001,), brokers=(1, 2, 3))
        with Cluster(launcher("local"), layout) as cluster:
            text = measure(cluster.bootstrap_servers, options.groups, options.runs)
    print(text)  # noqa: T201  # a script's output
    if options.write:
        write_section("group-lag", text)


def measure(bootstrap: str, count: int, runs: int) -> str:
    """Make the groups, measure both commands in turn, delete what was made; return the table."""
    names = [f"{PREFIX}{index:04}" for index in range(count)]
    asyncio.run(make(bootstrap, names))
    try:
        jars = os.pathsep.join(map(str, class_path("4.3.1")))
        at = ["--bootstrap-server", bootstrap]
        tool = [str(java()), *TUNED, "-cp", jars, TOOL, *at, "--describe", "--all-groups"]
        ours = [KWIRE, "groups", "describe", *at, "-o", "tsv"]
        # The first round is not counted: it compares.
        if rows(ours, tab_separated) != rows(tool, str.split):
            raise SystemExit("kwire and Kafka's tool do not print the same offsets")
        walls = [(seconds(ours), seconds(tool)) for _ in range(runs)]
    finally:
        asyncio.run(unmake(bootstrap, names))
    return table(count, walls)


async def make(bootstrap: str, names: Sequence[str]) -> None:
    """Create the topic, and commit offsets of it for every group."""
    async with AdminClient(bootstrap, timeout=120) as admin:
        created = await admin.create_topics([NewTopic(name=TOPIC, partitions=PARTITIONS)])
        for error in created.failed.values():
            if not isinstance(error, BrokerError) or error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise error
        start = OffsetAndMetadata(offset=0)
        offsets = {TopicPartition(TOPIC, index): start for index in range(PARTITIONS)}
        commits = (admin.alter_group_offsets(name, offsets) for name in names)
        for done in await asyncio.gather(*commits):
            done.all()


async def unmake(bootstrap: str, names: Sequence[str]) -> None:
    """Delete groups and topic."""
    async with AdminClient(bootstrap, timeout=120) as admin:
        await admin.delete_groups(names)
        await admin.delete_topics([TOPIC])


def tab_separated(line: str) -> list[str]:
    """Return group, topic, partition, offset, end and lag of a line of -o tsv."""
    cells = line.split("\t")
    return [cells[0], *cells[3:6], *cells[7:9]]


def rows(command: Sequence[str], read: Callable[[str], list[str]]) -> list[list[str]]:
    """Return the first six cells of each row of the groups that were made."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith(PREFIX)]
    return sorted(read(line)[:6] for line in lines)


def seconds(command: Sequence[str]) -> float:
    """Run a command, its output thrown away, and return its wall time."""
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - start


def table(count: int, walls: Sequence[tuple[float, float]]) -> str:
    """The rows, in Markdown: medians and least values, and the ratio."""
    ours, tool = ([pair[side] for pair in walls] for side in (0, 1))
    ratio = median(own / other for own, other in walls)
    lines = [
        f"Python {platform.python_version()}, {platform.machine()}, {count} groups with"
        f" {PARTITIONS} offsets each, {len(walls)} rounds.",
        "",
        "| seconds: median (least) | wall | wall : Kafka's tool | goal |",
        "| --- | ---: | ---: | ---: |",
        f"| `kwire groups describe` | {_seconds(ours)} | {ratio:.2f} | {GOAL} |",
        f"| kafka-consumer-groups --describe --all-groups | {_seconds(tool)} | 1.00 | - |",
    ]
    return "\n".join(lines)


def _seconds(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f})"


if __name__ == "__main__":
    main()
