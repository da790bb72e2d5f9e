"""Runs `kwire` commands in a process of its own, one after the other, on one Spark session.

A process can be killed, and has an environment of its own; Spark takes seconds to start, and would
do so for every command.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from types import TracebackType
from typing import Any, Self

RESULT = "result: "

FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Of a JVM whose jobs of seconds are not worth being compiled well."""

QUICK = {"JAVA_TOOL_OPTIONS": FLAGS}
"""The same as the environment of a command."""


class CommandProcess:
    """The process. What its commands print to stderr is in `lines`, as soon as they print it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def begin(self, *arguments: str) -> None:
        """Have a command run behind those that were begun before."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()

    def lines(self) -> Iterator[str]:
        """Yield what is printed, and a line for the result of each command."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield line.rstrip("\n")

    def result(self) -> dict[str, Any]:
        """Wait for a command to end; return its `code`, its `out` and, of stderr, its `lines`."""
        printed: list[str] = []
        for line in self.lines():
            if line.startswith(RESULT):
                found: dict[str, Any] = json.loads(line.removeprefix(RESULT))
                return found | {"lines": printed}
            printed.append(line)
        raise AssertionError(f"the process has ended: {printed}")

    def __call__(self, *arguments: str) -> dict[str, Any]:
        """Run a command; return its result."""
        self.begin(*arguments)
        return self.result()

    def kill(self, *, group: bool = True) -> None:
        """Kill it, with its JVM or without; the JVM ends when it sees that nobody is there."""
        (os.killpg if group else os.kill)(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


def main() -> None:
    """Run the commands that come on stdin."""
    from kwire.cli.main import main as kwire
    from kwire.pipeline.session import spark_session

    spark = spark_session("local[2]", settings={"spark.driver.extraJavaOptions": FLAGS})
    for line in sys.stdin:
        code: object = 0
        with redirect_stdout(io.StringIO()) as out:
            try:
                kwire(json.loads(line))
            except SystemExit as ending:
                code = ending.code or 0
        sys.stderr.write(f"{RESULT}{json.dumps({'code': code, 'out': out.getvalue()})}\n")
        sys.stderr.flush()
    spark.stop()


if __name__ == "__main__":
    main()
