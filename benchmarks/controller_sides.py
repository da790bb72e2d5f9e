"""The two sides of the controller's benchmark: kwire's controllers and Kafka's, as processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kwire.controller.server.quorum import FIRST_ID
from real_kafka import Cluster, Launcher, Layout

SESSION = {"broker.session.timeout.ms": "60000"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One controller that runs alone; pid: its process, where this machine can look at it."""

    name: str
    host: str
    port: int
    pid: int | None = None

    def cpu(self) -> float:
        """Seconds of CPU that it has used."""
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def kwire() -> Iterator[Side]:
    """`kwire controller quorum -n 1`."""
    program = "import kwire.cli.main; cli.main.main()"
    command = [sys.executable, "-c", program, "controller", "quorum", "-n", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout
            for line in process.stdout:
                if found := re.search(r"bootstrap\.servers=([\d.]+):(\d+)", line):
                    host, port = found[1], int(found[2])
                    yield Side(name="kwire", host=host, port=port, pid=process.pid)
                    break
        finally:
            process.terminate()


@contextmanager
def java(launcher: Launcher) -> Iterator[Side]:
    """One controller of Kafka's."""
    layout = Layout(controllers=(FIRST_ID,), properties=SESSION, jvm=("-Xmx512m",))
    with Cluster(launcher, layout) as cluster:
        at = cluster.nodes[FIRST_ID].controller_address
        yield Side(name="Kafka", host=at.host, port=at.port)
