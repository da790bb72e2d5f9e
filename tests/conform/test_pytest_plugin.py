"""pytest --kwire-conform: a test a check, beside those of the project."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli.scripted_cluster import scripted_cluster

FIRST = "start/server/1"


@pytest.fixture
def node() -> Iterator[str]:
    """The address of a scripted broker."""
    with scripted_cluster() as brokers:
        yield brokers.addresses[0]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a project that has a test of its own; the plugin is named, as in any venv."""
    (folder / "test_own.py").write_text("def test_own():\n    pass\n")
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "kwire.conform.pytest_plugin", "-v"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_there_is_a_test_for_each_check(tmp_path: Path, node: str) -> None:
    done = run(tmp_path, "--kwire-conform", node, "--kwire-conform-id", FIRST)
    assert f"kwire-conform::{FIRST} PASSED" in done.stdout
    assert "test_own.py::test_own PASSED" in done.stdout
    assert done.returncode == 0


def test_without_the_option_there_is_none(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert "1 passed" in done.stdout


def test_an_expected_failure_that_passes_fails(tmp_path: Path, node: str) -> None:
    file = tmp_path / "expected.yaml"
    file.write_text(f"server: x\nchecks: {{{FIRST}: {{verdict: FAIL, why: it is old}}}}")
    options = ["--kwire-conform-id", FIRST, "--kwire-conform-expect", str(file)]
    done = run(tmp_path, "--kwire-conform", node, *options)
    assert done.returncode == 1
    assert "expected was FAIL: it is old" in done.stdout
    assert f"> {node} " in done.stdout


def test_what_is_wrong_is_told_in_a_sentence(tmp_path: Path) -> None:
    done = run(tmp_path, "--kwire-conform", "nonsense")
    assert "ERROR: 'nonsense' is no address" in done.stderr
    nobody = run(tmp_path, "--kwire-conform", "127.0.0.1:1", "--kwire-conform-id", FIRST)
    assert "cannot connect to 127.0.0.1:1: Connection refused" in nobody.stdout
    assert "Traceback" not in nobody.stdout
