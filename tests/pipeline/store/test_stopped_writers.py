"""A writer that stops within a commit, and goes on when others have finished it and cleaned up."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from deltalake import DeltaTable

from kwire.pipeline.store.ledger import FOLDER, Ledger
from kwire.pipeline.store.location import Location
from kwire.pipeline.store.maintenance import maintain
from tests.support.cli.command import Command
from tests.support.pipeline.ledgered import NAMES, small_ingest


def stopping_writer(output: Path, table: str) -> subprocess.Popen[str]:
    """Start a process that stops before it commits to a table; return it when it has stopped."""
    command = [sys.executable, "-m", "tests.support.pipeline.ledgered", str(output), "one", "1"]
    process = subprocess.Popen([*command, f"stop:{table}"], stdout=subprocess.PIPE, text=True)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    return process


def go_on(process: subprocess.Popen[str]) -> list[str]:
    """Let a writer go on to its end; return what it said, which ends with the id of its ingest."""
    process.send_signal(signal.SIGCONT)
    said, _ = process.communicate()
    assert process.returncode == 0
    return said.split()


def frames(output: Path, table: str) -> Counter[tuple[str, int]]:
    """The frames of a table, each with the number of its rows."""
    found = DeltaTable(str(output / table)).to_pyarrow_table(columns=["capture", "event"])
    return Counter((row["capture"], row["event"]) for row in found.to_pylist())


ONE = {("one", event): 1 for event in range(3)}
TWO = {("two", event): 1 for event in range(3)}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("table", NAMES)
def test_what_others_finished_is_not_added_again(
    kwire: Command, tmp_path: Path, table: str
) -> None:
    """It has seen that its rows are missing, and is about to commit them."""
    stopped = stopping_writer(tmp_path, table)
    # Another one comes, finishes it and adds its own.
    other = Ledger(Location.of(str(tmp_path)))
    other.look()
    other.publish(small_ingest(tmp_path, "two"))
    cleaned = kwire("pipeline", "maintain", str(tmp_path), "--unused-hours", "0", "--json")
    assert cleaned.code == 0, cleaned.err
    joined = {row["table"]: (row["joined"], row["into"]) for row in cleaned.json}
    assert joined["frames"] == joined["calls"] == (2, 1)
    go_on(stopped)
    for name in NAMES:
        assert frames(tmp_path, name) == ONE | TWO
        assert len(DeltaTable(str(tmp_path / name)).file_uris()) == 1
    assert not list((tmp_path / FOLDER).iterdir())
    # Removed files do not come back either.
    maintain(str(tmp_path), unused_hours=0)
    assert len(list((tmp_path / "frames").rglob("part-*.parquet"))) == 1


@pytest.mark.timeout(300)
def test_one_that_is_not_decided_goes_on_behind_maintenance(tmp_path: Path) -> None:
    """Its files are as young as those of any ingest in work, so they are left alone."""
    stopped = stopping_writer(tmp_path, "sources")
    other = Ledger(Location.of(str(tmp_path)))
    other.look()
    other.publish(small_ingest(tmp_path, "two"))
    maintain(str(tmp_path))
    assert frames(tmp_path, "frames") == TWO
    go_on(stopped)
    assert frames(tmp_path, "frames") == frames(tmp_path, "calls") == ONE | TWO


@pytest.mark.timeout(300)
def test_one_that_others_gave_up_adds_nothing(tmp_path: Path) -> None:
    """It stopped for longer than files are kept that nothing needs: they are gone."""
    stopped = stopping_writer(tmp_path, "sources")
    maintain(str(tmp_path), unused_hours=0)
    Ledger(Location.of(str(tmp_path))).look()
    assert go_on(stopped)[-1] == "given-up"
    assert not Ledger(Location.of(str(tmp_path))).tables().get("frames")
