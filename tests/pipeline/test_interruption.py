"""Ctrl-C and SIGTERM end `kwire pipeline ingest` with 130 and one line, and it leaves no stage."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.cli.command import KWIRE
from tests.support.pipeline.decodable_calls import write_captures
from tests.support.pipeline.streamed_tables import QUICK


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("number", "group", "until", "line"),
    [
        (signal.SIGINT, True, "reading frames", "Stopped: nothing was written."),
        (signal.SIGTERM, False, "writing calls", "Stopped: frames in {} were written and stay, no"),
        (signal.SIGTERM, True, "writing frames", "Stopped: nothing was written."),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGTERM of a service, to the JVM, too"],
)
def test_a_signal_ends_it_with_one_line(
    tmp_path: Path, number: signal.Signals, group: bool, until: str, line: str
) -> None:
    captures, output = tmp_path / "captures", tmp_path / "tables"
    captures.mkdir()
    write_captures(captures, captures=2)
    command = [str(KWIRE), "pipeline", "ingest", str(captures), "-o", str(output)]
    with subprocess.Popen(
        command,
        env=os.environ | QUICK,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        for said in process.stderr:
            if until in said:
                (os.killpg if group else os.kill)(process.pid, number)
                break
        out, rest = process.communicate()
    # The work may get to its next steps before it hears of the end.
    *steps, last = rest.splitlines()
    assert not [said for said in steps if not said.startswith(("reading ", "writing "))], rest
    assert last.startswith(line.format(output)) or (steps and last.startswith("Stopped: "))
    assert (process.returncode, out) == (130, "")
    assert not list(output.glob("staging-*"))
