"""The clock of CI, and the tiers of the suite: what runs, what is cut, and that this is said."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import suite_times
from suite_times import Total, recorded, report, timed_tests, totals_of, write
from tests.support.paths import ROOT

CLOCK = ROOT / ".ci" / "clock"


def clock(script: str) -> tuple[int, list[str]]:
    """Run lines of bash with the clock; return the exit code and the lines that are printed."""
    head = f'set -euo pipefail; say() {{ echo "ci: $*"; }}; . "{CLOCK}"; trap "stop; summary" EXIT'
    command = ["bash", "-c", f"{head}\n{script}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.stderr == ""
    return ran.returncode, [line.strip() for line in ran.stdout.splitlines()]


def test_phases_get_their_time_and_are_listed_at_the_end() -> None:
    code, lines = clock(
        "LIMIT=1000; KEPT=300; must lint 5 100 true; may simulate 5 60 sh -c 'echo $WITHIN'"
    )
    assert code == 0
    assert lines[:3] == ["ci: lint, for at most 100 s", "ci: simulate, for at most 660 s", "60"]
    assert [line.split()[0] for line in lines[-3:]] == ["lint", "simulate", "all"]


def test_what_may_shrink_leaves_the_others_their_time() -> None:
    code, lines = clock("LIMIT=1600; KEPT=900; may simulate 5 500 sh -c 'echo $WITHIN'")
    assert code == 0
    assert 5 < int(lines[1]) <= 100


def test_what_has_no_time_is_left_out_and_that_is_said() -> None:
    code, lines = clock("LIMIT=1000; KEPT=990; may simulate 50 200 false; must bare 300 900 true")
    assert code == 0
    assert "ci: simulate: LEFT OUT: " in lines[0]
    assert any(line.startswith("simulate") and "LEFT OUT" in line for line in lines[2:])


def test_what_must_run_fails_where_there_is_no_time() -> None:
    code, lines = clock("LIMIT=100; must bare 300 900 true; echo never")
    assert code == 1
    assert "NOT RUN" in lines[0]
    assert "never" not in lines


def test_a_phase_that_fails_or_takes_too_long_ends_the_run() -> None:
    code, lines = clock("LIMIT=100; must test 1 50 sh -c 'exit 7'; echo never")
    assert code == 7
    assert "FAILED (7)" in lines[-2]
    code, lines = clock("LIMIT=3; must test 0 50 sleep 60; echo never")
    assert code == 124
    assert any("s are over" in line for line in lines)
    assert "never" not in lines


def test_a_signal_ends_the_phase_that_runs(tmp_path: Path) -> None:
    phase = tmp_path / "pid"
    code, _ = clock(
        f"trap 'exit 143' TERM; (until [ -s {phase} ]; do sleep 0.01; done; kill $$) & "
        f"LIMIT=100; must test 1 50 sh -c 'echo $$ > {phase}; exec sleep 60'"
    )
    assert code == 143
    with pytest.raises(ProcessLookupError):
        os.kill(int(phase.read_text()), 0)


TESTS = """
import time
import pytest

def test_quick():
    pass

def test_costly():
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass

@pytest.mark.real
def test_costly_and_real():
    test_costly()

@pytest.mark.timeout(0.2)
def test_hanging(subtests):
    for number in range(3):
        with subtests.test(number):
            time.sleep(60)
"""

CONFTEST = """
from tests.support import tiers

pytest_plugins = ["tests.support.tiers"]
tiers.CPU_SECONDS, tiers.REST_SECONDS, tiers.LOOP_CPU_SECONDS = 0.1, 0.2, 60.0
"""


@pytest.fixture
def few_tests(tmp_path: Path) -> Path:
    """A folder with a few tests that have tiers, and limits of tenths of a second."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    real\n    nightly\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_few.py").write_text(TESTS)
    return tmp_path


def run(folder: Path, *options: str) -> str:
    """Run pytest in a folder; return what it prints."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    ran = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ran.stdout + ran.stderr


def test_a_test_of_the_tier_check_that_costs_too_much_fails(few_tests: Path) -> None:
    printed = run(few_tests, "-k", "not hanging")
    assert re.search(r"it cost 0\.\d CPU seconds of the 0 that a test of the tier check", printed)
    assert "FAILED test_few.py::test_costly " in printed
    assert "1 failed, 2 passed" in printed
    assert "seed: " in printed


def test_no_subtest_behind_one_that_hangs_is_waited_for(few_tests: Path) -> None:
    printed = run(few_tests, "-k", "hanging")
    assert printed.count("SUBFAILED") == 3


def test_shares_have_every_test_once(few_tests: Path) -> None:
    collected = ["--collect-only", "-q"]
    shares = [run(few_tests, *collected, "--share", f"{number}/3") for number in (1, 2, 3)]
    names = [name for share in shares for name in re.findall(r"::(test_\w+)", share)]
    assert sorted(names) == ["test_costly", "test_costly_and_real", "test_hanging", "test_quick"]


def test_what_was_left_out_for_want_of_time_is_named(few_tests: Path) -> None:
    printed = run(few_tests, "--within", "0", "-k", "quick")
    assert "1 tests left out for want of time" in printed
    assert "test_few.py::test_quick" in printed.split("for want of time")[1]


def test_the_slowest_tests_are_listed_and_growth_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = '<testcase classname="tests.admin.test_{}" name="test_it[{}]" time="{}"/>'
    cases = "".join(case.format(number % 2, number, number / 10) for number in range(60))
    (tmp_path / "check.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    monkeypatch.setattr(suite_times, "RECORD", tmp_path / "suite-times.tsv")
    tests = {"check": timed_tests(tmp_path / "check.xml")}
    write({"check": Total(50, 150.2), "real": Total(7, 300)})
    head, _, *slowest = report(tests)
    assert head.startswith("check: 60 tests, 177 s of the workers (on record 50 and 150 s); tests/")
    write(totals_of(tests))
    assert recorded() == {"check": Total(60, 177), "real": Total(7, 300)}
    assert slowest[0] == "     5.9 s  tests/admin/test_1::test_it[59]"
    assert len(slowest) == 50
