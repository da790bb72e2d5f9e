"""Runs a demo as a process and reads its output."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from real_kafka import free_port

SESSION = ["DescribeQuorum", "AddRaftVoter", "DescribeQuorum", "RemoveRaftVoter", "DescribeQuorum"]
"""The requests of the demo's admin client, those that look for a node left out."""


def start_demo(command: Sequence[str | Path], folder: Path) -> subprocess.Popen[str]:
    """Start a demo whose temporary files, its nodes' included, are in the folder."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.Popen(
        command, env=environment, stdin=PIPE, stdout=PIPE, stderr=STDOUT, text=True
    )


def free_ports(count: int) -> int:
    """Return the first of so many neighbouring ports of 127.0.0.1 that nobody listens on."""
    while True:
        first = free_port()
        with ExitStack() as bound:
            try:
                for port in range(first, first + count):
                    bound.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
        return first


def left_behind(folder: Path) -> list[str]:
    """Files in the folder, and processes that have its name in their command lines."""
    files = [str(path) for path in folder.iterdir() if path.name.startswith("kwire-")]
    lines = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(process.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return files + [line for line in lines if str(folder) in line]


def session_apis(out: str) -> list[str]:
    """The APIs that the demo's admin client requested, in their order, as in SESSION."""
    apis = [
        found[1]
        for line in out.splitlines()
        if (found := re.search(r"kwire-demo → .{6,}?(\w+) v\d", line))
    ]
    return [api for api in apis if api not in ("ApiVersions", "DescribeCluster")]


def interrupt(
    command: Sequence[str | Path], folder: Path, moment: str, number: signal.Signals
) -> None:
    """Send a signal to a demo when it prints `moment`; check that it ends and cleans up."""
    with start_demo(command, folder) as run:
        assert run.stdout
        lines = []
        for line in run.stdout:
            lines.append(line)
            if moment in line:
                break
        else:
            pytest.fail(f"it ended with {run.wait()} before {moment!r}:\n{''.join(lines)}")
        run.send_signal(number)
        rest, _ = run.communicate(timeout=120)
    assert run.returncode == 130, f"{run.returncode}\n{''.join(lines)}--- the signal ---\n{rest}"
    assert "Traceback" not in rest
    assert left_behind(folder) == []
