"""Whatever ends an ingest, and whoever writes beside it: each is in all tables, or in none."""

import json
import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kwire.cli.pipeline.progress import JobProgress
from kwire.pipeline.ingest import Summary, ingest
from kwire.pipeline.store.delta import CannotCommit, append
from kwire.pipeline.store.ledger import FOLDER, SOURCES, Ledger
from kwire.pipeline.store.location import Location
from tests.support.cli.command import Command
from tests.support.pipeline.command_process import RESULT, CommandProcess
from tests.support.pipeline.recordings import (
    CALLS,
    plain_rows,
    recordings_in,
    unnamed_files,
    write_parts,
    write_recordings,
)
from tests.support.seed import SEED

MANY_KILLS, RECORDINGS = 6, 12

ENDED = f'{RESULT}{{"code": 0, '

STEPS = (
    "reading frames",
    "leaving out repeated frames",
    "pairing requests with responses",
    "committing",
)


@pytest.fixture(autouse=True)
def logged(spark: SparkSession) -> Iterator[None]:
    """An interruption turns the log of the JVM off, which here goes on."""
    yield
    spark.sparkContext.setLogLevel("ERROR")


@pytest.fixture
def other() -> Iterator[CommandProcess]:
    """A process that runs commands beside this one."""
    with CommandProcess() as process:
        yield process


def arguments(captures: Path, output: Path) -> tuple[str, ...]:
    return ("pipeline", "ingest", str(captures), "-o", str(output), "--master", "local[2]")


def kill_at(process: CommandProcess, step: int, seconds: float, *, group: bool) -> list[str]:
    """Kill a process so many seconds behind a step; return what it printed until then."""
    printed = []
    for line in process.lines():
        printed.append(line)
        step -= line in STEPS
        if step < 0:
            break
    sleep(seconds)
    process.kill(group=group)
    return printed


def kill_again_and_again(
    spark: SparkSession, folder: Path, seed: int, processes: Iterable[CommandProcess]
) -> None:
    """Kill processes that ingest recordings one by one; then ingest what is missing.

    The first one goes without its JVM, whose tasks go on for a moment, the next one with it.
    """
    captures, output, undisturbed = (folder / name for name in ("captures", "tables", "other"))
    paths, moments = write_recordings(captures, RECORDINGS), random.Random(seed)
    there = set[str]()
    for kill, process in enumerate(processes):
        with process:
            for path in moments.sample(paths, len(paths)):
                process.begin(*arguments(path, output))
            step, seconds = moments.randrange(len(paths)), moments.uniform(0.0, 0.5)
            printed = kill_at(process, step, seconds, group=kill % 2 == 1)
        assert not [line for line in printed if line not in STEPS and not line.startswith(ENDED)]
        before, there = there, recordings_in(output)
        assert before <= there
        # The first has no time to end its work; later ones may find that nothing is left.
        assert kill or len(there) < RECORDINGS
    summary = ingest(spark, [str(captures)], str(output))
    assert summary.rows.get("calls", 0) == CALLS * (RECORDINGS - len(there))
    assert recordings_in(output) == {path.stem for path in paths}
    # What is left was killed in the moment before its decision: maintenance will give it up.
    left = {path.stem for path in (output / FOLDER).glob("*.json")}
    assert left == {id for id, _ in Ledger(Location.of(str(output))).undecided()}
    ingest(spark, [str(captures)], str(undisturbed))
    assert plain_rows(output) == plain_rows(undisturbed)


@pytest.mark.nightly
def test_killed_again_and_again_it_is_as_if_it_had_not_been(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Fifty kills in the long form: `make interruptions`."""
    kills = int(os.environ.get("KWIRE_KILLS", MANY_KILLS))
    for begun in range(0, kills, MANY_KILLS):
        folder = tmp_path / str(begun)
        folder.mkdir()
        processes = (CommandProcess() for _ in range(min(MANY_KILLS, kills - begun)))
        kill_again_and_again(spark, folder, SEED + begun, processes)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Folders, to be left as they are. before: tables of `old`. after: of `new` as well."""

    old: Path
    new: Path
    before: Path
    after: Path


@pytest.fixture(scope="module")
def prepared(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Captures and tables. A request of `new` has its response in another file."""
    folder = tmp_path_factory.mktemp("prepared")
    made = Prepared(*(folder / name for name in ("old", "new", "before", "after")))
    write_recordings(made.old, 1)
    write_parts(made.new)
    ingest(spark, [str(made.old)], str(made.before))
    shutil.copytree(made.before, made.after)
    ingest(spark, [str(made.new)], str(made.after))
    return made


def at_step(patch: pytest.MonkeyPatch, step: str, do: Callable[[], object]) -> None:
    """Have something happen as soon as the command says that it begins a step."""
    show = JobProgress.show

    def shown(self: JobProgress, doing: str) -> None:
        show(self, doing)
        if doing == step:
            do()

    patch.setattr(JobProgress, "show", shown)


@pytest.mark.parametrize(
    ("number", "step"),
    [
        *((signal.SIGINT, step) for step in STEPS),
        (signal.SIGTERM, "reading frames"),
        *(pytest.param(signal.SIGTERM, step, marks=pytest.mark.nightly) for step in STEPS[1:]),
    ],
)
def test_a_signal_at_any_step_leaves_tables_as_before_or_as_after(
    kwire: Command,
    prepared: Prepared,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    step: str,
) -> None:
    output = Path(shutil.copytree(prepared.before, tmp_path / "tables"))
    old = [str(prepared.old)] if step == "leaving out repeated frames" else []
    command = (*arguments(prepared.new, output), *old)
    at_step(monkeypatch, step, lambda: os.kill(os.getpid(), number))
    stopped = kwire(*command)
    monkeypatch.undo()
    assert (stopped.code, stopped.out) == (130, "")
    *steps, last = stopped.err.splitlines()
    assert steps[-1] == step
    # Nothing cancels a commit, which takes a moment.
    added = step == "committing"
    done = "everything was added before" if added else "they are as before; run it again"
    assert last == f"Stopped. The tables in {output}: {done}."
    assert plain_rows(output) == plain_rows(prepared.after if added else prepared.before)
    again = kwire(*command)
    assert again.code == 0, again.err
    assert plain_rows(output) == plain_rows(prepared.after)
    # Tasks that were cancelled had until now to see that nobody needs their files.
    assert not list((output / FOLDER).iterdir())
    assert not unnamed_files(output)


@pytest.mark.parametrize(
    ("theirs", "repeated"),
    [(range(3), 3), (range(1, 4), 2), (range(3, 5), 0)],
    ids=["the same", "some of them", "others"],
)
def test_what_others_add_before_its_commit_is_left_out(
    spark: SparkSession, tmp_path: Path, theirs: range, repeated: int
) -> None:
    output, paths = str(tmp_path / "tables"), write_recordings(tmp_path / "captures", 5)
    added: list[Summary] = []

    def add(step: str) -> None:
        if step == "committing" and not added:
            added.append(ingest(spark, [str(paths[number]) for number in theirs], output))

    ours = ingest(spark, list(map(str, paths[:3])), output, on_step=add)
    assert [one.rows.get("calls", 0) for one in (*added, ours)] == [
        CALLS * len(theirs),
        CALLS * (3 - repeated),
    ]
    assert ours.repeated == 2 * CALLS * repeated
    assert recordings_in(output) == {paths[number].stem for number in {*range(3), *theirs}}
    # A row of `sources` that came too late is left to `kwire pipeline maintain`.
    assert {path.parent.name for path in unnamed_files(Path(output))} <= {SOURCES}


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_two_at_once_add_the_same_frames_once_and_different_ones_all(
    kwire: Command, other: CommandProcess, spark: SparkSession, tmp_path: Path
) -> None:
    captures, others = tmp_path / "captures", tmp_path / "others"
    write_recordings(captures, 4)
    write_recordings(others, 2, begin=4)
    for number in range(2):
        output = tmp_path / f"tables-{number}"
        other.begin(*arguments(captures, output), "--json")
        next(line for line in other.lines() if line == "reading frames")
        here = captures if number == 0 else others
        ours, theirs = kwire(*arguments(here, output), "--json"), other.result()
        assert (ours.code, theirs["code"]) == (0, 0), (ours.err, theirs)
        repeated = [ours.json["repeated"], repeated_in(theirs)]
        assert sorted(repeated) == ([0, 4 * 2 * CALLS] if number == 0 else [0, 0])
        assert recordings_in(output) == {
            f"recording-{number}" for number in range(4 if here == captures else 6)
        }


def repeated_in(result: dict[str, Any]) -> int:
    """The frames that a command of another process left out."""
    return int(json.loads(result["out"])["repeated"])


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_beside_a_stream_each_frame_is_added_once(
    kwire: Command, other: CommandProcess, spark: SparkSession, tmp_path: Path
) -> None:
    captures, others, output = tmp_path / "captures", tmp_path / "others", tmp_path / "tables"
    write_recordings(captures, 4)
    shutil.copytree(captures, others)
    write_recordings(others, 2, begin=4)
    words = ("stream", str(captures), "-o", str(output), "--once", "--files", "1")
    other.begin("pipeline", *words, "--json")
    next(line for line in other.lines() if line == "batch 0: reading frames")
    ours, theirs = kwire(*arguments(others, output), "--json"), other.result()
    assert (ours.code, theirs["code"]) == (0, 0), (ours.err, theirs)
    assert ours.json["repeated"] + repeated_in(theirs) == 4 * 2 * CALLS
    tables = Ledger(Location.of(str(output))).tables()
    counted = Counter(tables["frames"].to_pyarrow_table(columns=["capture"])["capture"].to_pylist())
    assert counted == {f"recording-{number}": 2 * CALLS for number in range(6)}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 2 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system, and not in every container")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path, but: int = 0) -> None:
    """Leave so many bytes of a file system free."""
    state = os.statvfs(disk)
    (disk / "filler").write_bytes(b"x" * max(0, state.f_bavail * state.f_frsize - but))


def test_on_a_full_disk_tables_are_as_before_and_the_rerun_finishes(
    kwire: Command, spark: SparkSession, tmp_path: Path, small_disk: Path
) -> None:
    """The less space there is, the earlier it fails: at the first file, or at a commit."""
    captures, output = tmp_path / "captures", small_disk / "tables"
    write_recordings(captures, 2)
    ingest(spark, [str(captures / "recording-0.avro")], str(output))
    before = plain_rows(output)
    sentence = (
        f"no space is left for {output}: free some, then run it again; the tables have all of it,"
        " or nothing."
    )
    for left in (0, 40_000, 100_000):
        fill(small_disk, left)
        full = kwire(*arguments(captures, output))
        assert (full.code, full.error) == (1, sentence), left
        (small_disk / "filler").unlink()
        assert plain_rows(output) == before
        assert not unnamed_files(output)
        assert not list((output / FOLDER).iterdir())
    summary = ingest(spark, [str(captures)], str(output))
    assert (summary.repeated, summary.rows["calls"]) == (2 * CALLS, CALLS)
    assert recordings_in(output) == {"recording-0", "recording-1"}


@pytest.mark.parametrize("at", ["the decision", "frames", "calls"])
def test_a_disk_that_is_full_at_a_commit_leaves_all_or_nothing(
    kwire: Command,
    spark: SparkSession,
    tmp_path: Path,
    small_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
    at: str,
) -> None:
    captures, output = tmp_path / "captures", small_disk / "tables"
    write_recordings(captures, 1)

    def filled(location: Location, name: str, *rest: Any) -> None:
        if name == at:
            fill(small_disk)
        append(location, name, *rest)

    monkeypatch.setattr("kwire.pipeline.store.ledger.append", filled)
    if at == "the decision":
        at_step(monkeypatch, "committing", lambda: fill(small_disk))
    full = kwire(*arguments(captures, output))
    monkeypatch.undo()
    assert full.code == 1
    assert full.error.startswith(f"no space is left for {output}: free some")
    if at != "the decision":
        # Readers finish what was decided; without space they say that they cannot.
        with pytest.raises(CannotCommit, match="no space is left on its disk: free some"):
            recordings_in(output)
    (small_disk / "filler").unlink()
    assert recordings_in(output) == (set() if at == "the decision" else {"recording-0"})
    again = kwire(*arguments(captures, output))
    assert again.code == 0, again.err
    assert recordings_in(output) == {"recording-0"}
    assert not unnamed_files(output)
    assert not list((output / FOLDER).iterdir())
