"""An ingest is in all tables or in none, whoever writes at once and whatever is killed."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import sleep

import pytest
from deltalake import DeltaTable

from kwire.pipeline.store.delta import append, open_table
from kwire.pipeline.store.ledger import FOLDER, Ledger, Overtaken
from kwire.pipeline.store.location import Location
from tests.support.pipeline.ledgered import NAMES, small_ingest

KILLS = 20


def rows(output: Path, table: str) -> Counter[tuple[str, int]]:
    """The frames of a table, each with the number of its rows."""
    found = DeltaTable(str(output / table)).to_pyarrow_table(columns=["capture", "event"])
    return Counter((row["capture"], row["event"]) for row in found.to_pylist())


def writer(output: Path, capture: str, count: int, *, same: bool = False) -> subprocess.Popen[str]:
    """A process that publishes ingests of a recording."""
    words = [str(output), capture, str(count), "same" if same else "other"]
    command = [sys.executable, "-m", "tests.support.pipeline.ledgered", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_all_tables_get_an_ingest(tmp_path: Path) -> None:
    ledger = Ledger(Location.of(str(tmp_path)))
    ledger.publish(small_ingest(tmp_path, "one"))
    assert (
        rows(tmp_path, "frames")
        == rows(tmp_path, "calls")
        == Counter({("one", event): 1 for event in range(3)})
    )
    assert not list((tmp_path / FOLDER).iterdir())


def test_the_same_frames_are_refused_the_second_time(tmp_path: Path) -> None:
    ledger, other = (Ledger(Location.of(str(tmp_path))) for _ in range(2))
    for one in (ledger, other):
        one.look()
    ledger.publish(small_ingest(tmp_path, "one"))
    with pytest.raises(Overtaken):
        other.publish(small_ingest(tmp_path, "one", 2))
    other.look()
    # Known now, so that whoever writes has left them out.
    assert [row["last"] for row in other.known(small_ingest(tmp_path, "one").stretches)] == [2]
    other.publish(small_ingest(tmp_path, "one", 3))
    assert sum(rows(tmp_path, "calls").values()) == 6


def test_an_ingest_that_was_decided_is_finished_by_whoever_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(Location.of(str(tmp_path)))

    def only_frames(location: Location, name: str, *rest: object) -> None:
        if name != "frames":
            raise KeyboardInterrupt
        append(location, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("kwire.pipeline.store.ledger.append", only_frames)
    with pytest.raises(KeyboardInterrupt):
        ledger.publish(small_ingest(tmp_path, "one"))
    monkeypatch.undo()
    assert open_table(ledger.location, "calls") is None
    tables = Ledger(ledger.location).tables()
    assert {name: tables[name].count() for name in NAMES} == {"frames": 3, "calls": 3}


def test_an_ingest_that_was_not_decided_is_as_if_it_had_never_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(Location.of(str(tmp_path)))
    ingest = small_ingest(tmp_path, "one")
    monkeypatch.setattr(Ledger, "_decide", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        ledger.publish(ingest)
    monkeypatch.undo()
    assert not Ledger(ledger.location).tables()
    ledger.discard(ingest.id)
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.timeout(300)
def test_writers_at_once_are_exact(tmp_path: Path) -> None:
    names = ["one", "two"]
    writers = [writer(tmp_path, name, 12) for name in names]
    for process in writers:
        output, _ = process.communicate()
        assert process.returncode == 0
        assert len(output.split()) == 13
    expected = Counter(
        {(name, 10 * n + event): 1 for name in names for n in range(12) for event in range(3)}
    )
    assert rows(tmp_path, "frames") == rows(tmp_path, "calls") == expected


@pytest.mark.timeout(300)
def test_of_writers_of_the_same_frames_one_wins(tmp_path: Path) -> None:
    writers = [writer(tmp_path, "one", 1, same=True) for _ in range(3)]
    said = "".join(process.communicate()[0] for process in writers).split()
    assert set(rows(tmp_path, "frames").values()) == {1}
    assert len(said) == 6


@pytest.mark.timeout(600)
def test_a_killed_writer_leaves_no_half(tmp_path: Path) -> None:
    """Fifty kills in the long form: `make interruptions`."""
    moments = random.Random(7)
    said = set[str]()
    for kill in range(int(os.environ.get("KWIRE_KILLS", KILLS))):
        process = writer(tmp_path, f"capture-{kill}", 1000)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(moments.randint(1, 4))]
        sleep(moments.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        said |= set("".join([*lines, process.communicate()[0]]).split()) - {"ready"}
    tables = Ledger(Location.of(str(tmp_path))).tables()
    assert rows(tmp_path, "frames") == rows(tmp_path, "calls")
    assert set(rows(tmp_path, "frames").values()) <= {1}
    decided = {row["ingest"] for row in tables["sources"].to_pyarrow_table().to_pylist()}
    # What said ok is there; of each writer one more may be decided that could not say so.
    assert said <= decided
    assert len(decided) <= len(said) + int(os.environ.get("KWIRE_KILLS", KILLS))
    assert sum(rows(tmp_path, "frames").values()) == 3 * len(decided)
