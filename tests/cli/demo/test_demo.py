"""`kwire demo` runs from the first controller to the last line, and leaves nothing behind."""

import re
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.support.cli.command import KWIRE
from tests.support.cli.demo_run import SESSION, interrupt, left_behind, session_apis, start_demo

DEMO = (KWIRE, "demo")
WATCH = r"kwire watch (127\.0\.0\.1:\d+)"


def test_the_demo_needs_no_java(tmp_path: Path) -> None:
    with start_demo([*DEMO, "--seconds", "0"], tmp_path) as run:
        out, _ = run.communicate(timeout=120)
    assert run.returncode == 0, out
    assert session_apis(out) == SESSION
    assert re.search(r"^\d\d:.* → 300\d +ControllerRegistration v", out, re.MULTILINE)
    assert "voters 3000,3001,3002,3003, leader" in out
    assert out.rstrip().endswith("Every RPC was decoded; the voters are what they were.")
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        pytest.param("starts", signal.SIGINT, id="while it starts"),
        pytest.param("── Describe", signal.SIGTERM, id="while it runs"),
    ],
)
def test_ctrl_c_leaves_nothing_running(tmp_path: Path, moment: str, number: signal.Signals) -> None:
    interrupt([*DEMO, "--keep"], tmp_path, moment, number)


def test_a_demo_that_is_kept_is_watched(tmp_path: Path) -> None:
    with start_demo([*DEMO, "--keep"], tmp_path) as run:
        try:
            assert run.stdout
            feed = next(found[1] for line in run.stdout if (found := re.match(WATCH, line)))
            watch = [KWIRE, "watch", feed, "--plain"]
            with subprocess.Popen(watch, stdout=PIPE, stderr=PIPE, text=True) as viewer:
                assert viewer.stdout
                seen = next((line for line in viewer.stdout if "Fetch v" in line), "")
                viewer.kill()
        finally:
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=120)
    assert "→ 300" in seen
    assert left_behind(tmp_path) == []


def test_the_demo_ends_when_nobody_reads_it_any_more(tmp_path: Path) -> None:
    with start_demo([*DEMO, "--keep"], tmp_path) as run:
        assert run.stdout
        run.stdout.readline()
        run.stdout.close()
        assert run.wait(timeout=120) in (0, 1, 130)
    assert left_behind(tmp_path) == []
