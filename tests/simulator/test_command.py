"""The simulator from outside: one seed is one history, and what does not hold is shown."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from typer.testing import CliRunner

from simulator import run, runner
from simulator.command import app
from simulator.run import Run
from simulator.violation import Violation

CLI = CliRunner()


def test_a_seed_is_one_history_in_every_process() -> None:
    program = (
        "from simulator import run\nprint(*run('everything', 7, traced=True).trace, sep='\\n')"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": hashes},
            capture_output=True,
            check=True,
        ).stdout
        for hashes in ("1", "2")
    }
    (output,) = outputs
    assert output.count(b"\n") > 500


def test_another_seed_is_another_history() -> None:
    one, other = (run("crashes", seed, traced=True).trace for seed in (1, 2))
    assert one != other


def test_a_trace_changes_nothing() -> None:
    plain, traced = (run("everything", 3, traced=traced) for traced in (False, True))
    assert (plain.events, plain.milliseconds) == (traced.events, traced.milliseconds)
    assert not plain.trace
    assert any("STARTS" in line for line in traced.trace)


def test_the_command_sums_up_each_scenario() -> None:
    done = CLI.invoke(app, ["-s", "canElectInitialLeader", "--seeds", "2", "--jobs", "1"])
    assert done.exit_code == 0
    assert "canElectInitialLeader: 2 seeds from 0, all held;" in done.stdout


def test_seeds_are_shared_among_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "CHUNK", 1)
    arguments = ["-s", "canElectInitialLeader", "--seeds", "3", "--jobs", "2"]
    assert "3 seeds from 0, all held" in CLI.invoke(app, arguments).stdout


def test_a_failing_seed_is_shown_with_its_trace_and_how_to_replay_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(run: Run) -> None:
        run.warm_up(run.make((1, 1), (0, 0)))
        raise Violation("Promise", "it was broken")

    monkeypatch.setitem(runner.SCENARIOS, "failing", fail)
    done = CLI.invoke(app, ["-s", "failing", "--seed", "4"])
    assert done.exit_code == 1
    assert "failing, seed 4: Promise: it was broken" in done.stdout
    assert "may write in 1" in done.stdout
    assert "--scenario failing --seed 4 --trace" in done.stdout


def test_an_unknown_scenario_is_wrong_usage() -> None:
    done = CLI.invoke(app, ["-s", "canDoAnything"])
    assert done.exit_code == 2
    assert "no scenario canDoAnything" in done.output
    assert "everything" in CLI.invoke(app, ["--list"]).stdout


def test_ctrl_c_ends_it_with_130_and_no_traceback() -> None:
    arguments = ["-m", "simulator", "-s", "crashes", "--seeds", "100000", "--jobs", "2"]
    terminal, its_end = os.openpty()
    child = subprocess.Popen([sys.executable, *arguments], stderr=its_end)
    os.close(its_end)
    try:
        shown = os.read(terminal, 1000)
        assert b" histories, now of crashes" in shown
        child.send_signal(signal.SIGINT)
        with suppress(OSError):  # how a terminal says that nobody writes to it any more
            while True:
                shown += os.read(terminal, 1000)
        assert child.wait() == 130
        assert b"Traceback" not in shown
    finally:
        child.kill()
        child.wait()
        os.close(terminal)


def test_no_progress_is_written_to_a_pipe() -> None:
    arguments = ["-m", "simulator", "-s", "canElectInitialLeader", "--seeds", "2"]
    done = subprocess.run([sys.executable, *arguments], stderr=subprocess.PIPE, check=True)
    assert done.stderr == b""
