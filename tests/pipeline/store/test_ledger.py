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
from tests.support.seed import SEED

KILLS = 20


def rows(output: Path, table: str) -> Counter[tuple[str, int]]:
    """The frames of a table, each with the number of its rows."""
    found = DeltaTable(str(output / table)).to_pyarrow_table(columns=["capture", "event"])
    return Counter((row["capture"], row["event"]) for row in found.to_pylist())


def writer(output: Path, captures: str, count: int, kind: str = "other") -> subprocess.Popen[str]:
    """A process that publishes ingests of recordings at once. kind: see `ledgered`."""
    words = [str(output), captures, str(count), kind]
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


@pytest.mark.costly
def test_writers_at_once_are_exact(tmp_path: Path) -> None:
    process = writer(tmp_path, "one,two", 6)
    said, _ = process.communicate()
    assert (process.returncode, len(said.split())) == (0, 14)
    expected = Counter(
        (name, 10 * number + event)
        for name in ("one", "two")
        for number in range(6)
        for event in range(3)
    )
    assert rows(tmp_path, "frames") == rows(tmp_path, "calls") == expected


def test_of_writers_of_the_same_frames_one_wins(tmp_path: Path) -> None:
    said = writer(tmp_path, "one,one,one", 1, "same").communicate()[0].split()
    assert set(rows(tmp_path, "frames").values()) == {1}
    assert len(said) == 6


def decided_in(output: Path) -> set[str]:
    """The ids of all ingests in tables, which have each of them whole and once."""
    tables = Ledger(Location.of(str(output))).tables()
    assert rows(output, "frames") == rows(output, "calls")
    assert set(rows(output, "frames").values()) <= {1}
    decided = {row["ingest"] for row in tables["sources"].to_pyarrow_table().to_pylist()}
    assert sum(rows(output, "frames").values()) == 3 * len(decided)
    return decided


@pytest.mark.costly
def test_a_writer_that_is_killed_at_any_step_leaves_no_half(tmp_path: Path) -> None:
    output, _ = writer(tmp_path, "killed", 1, "killed").communicate()
    *killed, (last, code) = (line.split() for line in output.splitlines())
    assert {code for _, code in killed} == {str(-signal.SIGKILL)}
    assert code == "0"
    decided = decided_in(tmp_path)
    before, after = (ingest in decided for ingest, _ in (killed[0], killed[-1]))
    assert (before, after, last in decided) == (False, True, True)
    assert decided < {ingest for ingest, _ in killed} | {last}


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_a_writer_that_is_killed_at_any_time_leaves_no_half(tmp_path: Path) -> None:
    """Fifty kills in the long form: `make interruptions`."""
    moments, kills = random.Random(SEED), int(os.environ.get("KWIRE_KILLS", KILLS))
    said = set[str]()
    for kill in range(kills):
        process = writer(tmp_path, f"capture-{kill}", 1000)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(moments.randint(1, 4))]
        sleep(moments.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        said |= set("".join([*lines, process.communicate()[0]]).split()) - {"ready"}
    decided = decided_in(tmp_path)
    # What said ok is there; of each writer one more may be decided that could not say so.
    assert said <= decided
    assert len(decided) <= len(said) + kills
