"""A writer that stops within a commit, and goes on when others have finished it and cleaned up."""

from collections import Counter
from pathlib import Path
from threading import Event, Thread, current_thread
from typing import Any

import pytest
from deltalake import DeltaTable

from kwire.pipeline.store import delta
from kwire.pipeline.store import ledger as ledger_module
from kwire.pipeline.store.ledger import FOLDER, Ledger
from kwire.pipeline.store.location import Location
from kwire.pipeline.store.maintenance import maintain
from tests.support.cli.command import Command
from tests.support.pipeline.ledgered import NAMES, publish, small_ingest

PATIENCE = 60.0
"""Seconds for a thread to get to where it stops, or ends."""


class StoppedWriter:
    """A thread that publishes an ingest, and has stopped before it commits to a table."""

    def __init__(self, output: Path, table: str, patch: pytest.MonkeyPatch) -> None:
        self._go_on, stopped, commit = Event(), Event(), delta.try_append

        def stopping(location: Location, name: str, *rest: Any) -> bool:
            if current_thread() is self._thread and name == table and not stopped.is_set():
                stopped.set()
                assert self._go_on.wait(PATIENCE)
            return commit(location, name, *rest)

        for module in (delta, ledger_module):
            patch.setattr(module, "try_append", stopping)
        self._said = ""
        self._thread = Thread(target=self._publish, args=(output,))
        self._thread.start()
        assert stopped.wait(PATIENCE)

    def _publish(self, output: Path) -> None:
        ledger = Ledger(Location.of(str(output)))
        ledger.look()
        self._said = publish(ledger, small_ingest(output, "one"))

    def go_on(self) -> str:
        """Let it go on to its end; return what it said, see `publish`."""
        self._go_on.set()
        self._thread.join(PATIENCE)
        assert self._said
        return self._said


def frames(output: Path, table: str) -> Counter[tuple[str, int]]:
    """The frames of a table, each with the number of its rows."""
    found = DeltaTable(str(output / table)).to_pyarrow_table(columns=["capture", "event"])
    return Counter((row["capture"], row["event"]) for row in found.to_pylist())


ONE = {("one", event): 1 for event in range(3)}
TWO = {("two", event): 1 for event in range(3)}


@pytest.mark.parametrize("table", NAMES)
def test_what_others_finished_is_not_added_again(
    kwire: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """It has seen that its rows are missing, and is about to commit them."""
    stopped = StoppedWriter(tmp_path, table, monkeypatch)
    # Another one comes, finishes it and adds its own.
    other = Ledger(Location.of(str(tmp_path)))
    other.look()
    other.publish(small_ingest(tmp_path, "two"))
    cleaned = kwire("pipeline", "maintain", str(tmp_path), "--unused-hours", "0", "--json")
    assert cleaned.code == 0, cleaned.err
    joined = {row["table"]: (row["joined"], row["into"]) for row in cleaned.json}
    assert joined["frames"] == joined["calls"] == (2, 1)
    stopped.go_on()
    for name in NAMES:
        assert frames(tmp_path, name) == ONE | TWO
        assert len(DeltaTable(str(tmp_path / name)).file_uris()) == 1
    assert not list((tmp_path / FOLDER).iterdir())
    # Removed files do not come back either.
    maintain(str(tmp_path), unused_hours=0)
    assert len(list((tmp_path / "frames").rglob("part-*.parquet"))) == 1


def test_one_that_is_not_decided_goes_on_behind_maintenance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are as young as those of any ingest in work, so they are left alone."""
    stopped = StoppedWriter(tmp_path, "sources", monkeypatch)
    other = Ledger(Location.of(str(tmp_path)))
    other.look()
    other.publish(small_ingest(tmp_path, "two"))
    maintain(str(tmp_path))
    assert frames(tmp_path, "frames") == TWO
    stopped.go_on()
    assert frames(tmp_path, "frames") == frames(tmp_path, "calls") == ONE | TWO


def test_one_that_others_gave_up_adds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stopped for longer than files are kept that nothing needs: they are gone."""
    stopped = StoppedWriter(tmp_path, "sources", monkeypatch)
    maintain(str(tmp_path), unused_hours=0)
    Ledger(Location.of(str(tmp_path))).look()
    assert stopped.go_on() == "given-up"
    assert not Ledger(Location.of(str(tmp_path))).tables().get("frames")
