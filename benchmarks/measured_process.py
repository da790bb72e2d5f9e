"""One run of a command: its wall time, its CPU time and the most memory it had."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """Seconds of one process from its start to its end, its own CPU time, and peak megabytes."""

    wall: float
    cpu: float
    peak: float


def run_measured(command: Sequence[str]) -> MeasuredRun:
    """Run a command, its output thrown away. Raises CalledProcessError with stderr if it fails."""
    with tempfile.TemporaryFile() as stderr:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)  # Popen must not wait for it again
        if process.returncode:
            stderr.seek(0)
            text = stderr.read().decode(errors="replace")
            raise subprocess.CalledProcessError(process.returncode, list(command), stderr=text)
    return MeasuredRun(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)
