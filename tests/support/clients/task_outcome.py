"""A task of a client's program, done at a cluster."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from clients.programs import PROGRAMS, ClientUnavailable

PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The lines on standard output, and the end of a program. errors: its log."""

    exit_code: int
    lines: list[str]
    errors: str


def run_task(
    client: str,
    bootstrap: str,
    task: str,
    *,
    topic: str = "-",
    group: str = "-",
    records: int = 3,
    environment: Mapping[str, str] | None = None,
) -> TaskOutcome:
    """Run a program to its end; skip the test if it cannot be built here."""
    try:
        command = PROGRAMS[client].command()
    except ClientUnavailable as missing:
        pytest.skip(str(missing))
    done = subprocess.run(
        [*command, bootstrap, task, topic, group, str(records)],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return TaskOutcome(done.returncode, done.stdout.splitlines(), done.stderr)
