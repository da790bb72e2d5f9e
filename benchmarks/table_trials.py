"""Appends by several processes at once, kill -9 and a full disk: what the table has afterwards."""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server
from tempfile import TemporaryDirectory

import fsspec

from table_writers import FORMATS, TableFormat

WRITER = Path(__file__).with_name("table_writers.py")
ROWS = 1000
ENDLESS = 1_000_000
PATIENCE = 120.0
"""Seconds that a process has for its start, or for one append."""

ROOMS = [8000, 8000, *range(0, 64, 4), *range(64, 200, 16), 8000, 8000]
"""Kilobytes that are left before an append: from none to enough, then as before."""


@dataclass(slots=True)
class Log:
    """Lines of a process about its appends. lost: commits that another process was faster with."""

    tried: list[str] = field(default_factory=list)
    ok: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    lost: int = 0

    @property
    def ended(self) -> int:
        """Number of appends that said how they ended."""
        return len(self.ok) + len(self.failed)


def read_log(path: Path) -> Log:
    """Read what a process has said up to now; a line that is not whole is left out."""
    log = Log()
    for line in path.read_text().splitlines(keepends=True) if path.exists() else ():
        if line.endswith("\n"):
            said = json.loads(line)
            if "try" in said:
                log.tried.append(said["try"])
            elif "ok" in said:
                log.ok.append(said["ok"])
                log.seconds.append(said["seconds"])
                log.lost += said["lost"]
            else:
                log.failed[said["failed"]] = said["error"]
    return log


class Writer:
    """A process that appends, with all that it starts."""

    def __init__(self, kind: str, folder: str, log: Path, *options: str) -> None:
        self.path = log
        command = [sys.executable, str(WRITER), kind, folder, str(log), *options]
        errors = log.with_suffix(".stderr")
        with errors.open("ab") as stderr:
            self.process = subprocess.Popen(
                command, stdout=stderr, stderr=stderr, start_new_session=True
            )

    def log(self) -> Log:
        """Return what it has said."""
        return read_log(self.path)

    def wait_for(self, ended: int) -> None:
        """Return when so many appends have ended, or the process has."""
        patience = time.monotonic() + PATIENCE
        while self.log().ended < ended and self.process.poll() is None:
            if time.monotonic() > patience:
                raise TimeoutError(f"{self.path.name}: {self.log().ended} of {ended} appends")
            time.sleep(0.005)

    def kill(self) -> None:
        """Kill -9, the JVM too."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(slots=True)
class Outcome:
    """The result of a trial. wrong: batches that are not there as they should be."""

    name: str
    kind: str
    writers: int
    ok: int
    failed: int
    expected: int
    there: int
    wrong: int = 0
    lost: int = 0
    in_flight: int = 0
    kills: int = 0
    median: float = 0.0
    last: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)


def judge(name: str, kind: str, logs: Sequence[Log], counts: Counter[str]) -> Outcome:
    """Compare what processes said with what the table has.

    A batch that is ok has to be there once, one that failed not at all, one in flight either way.
    """
    ok = {batch for log in logs for batch in log.ok}
    failed = {batch for log in logs for batch in log.failed} - ok
    open_ = {batch for log in logs for batch in log.tried} - ok - failed
    wrong = sum(counts[batch] != ROWS for batch in ok)
    wrong += sum(counts[batch] != 0 for batch in failed)
    wrong += sum(counts[batch] not in (0, ROWS) for batch in open_)
    wrong += len(set(counts) - ok - failed - open_ - {""})
    errors = Counter(short(text) for log in logs for text in log.failed.values())
    return Outcome(
        name,
        kind,
        len(logs),
        ok=sum(len(log.ok) for log in logs),
        failed=len(failed),
        expected=len(ok) * ROWS,
        there=counts.total(),
        wrong=wrong,
        lost=sum(log.lost for log in logs),
        in_flight=sum(counts[batch] == ROWS for batch in open_),
        errors=errors,
    )


def short(error: str) -> str:
    """Return the line of an error that says most: the innermost one of the JVM."""
    lines = error.splitlines() or [""]
    causes = [line for line in lines if line.startswith(("Caused by", ": "))]
    return (causes[-1] if causes else lines[0])[:160]


def appended(
    kind: str, writers: int, appends: int, *, same: bool = False, s3: str | None = None
) -> Outcome:
    """Append by several processes at once; with `same`, all of them the same batches."""
    with TemporaryDirectory() as here, located(here, s3) as folder:
        create(kind, folder, Path(here), s3)
        gate = Path(here, "gate")
        options = ("--appends", str(appends), "--gate", str(gate), *(("--s3", s3) if s3 else ()))
        started = []
        for number in range(writers):
            prefix = "same" if same else f"w{number}"
            log = Path(here, f"w{number}.log")
            started.append(Writer(kind, folder, log, "--prefix", prefix, *options))
        for writer in started:
            writer.wait_for(1)
        gate.touch()
        for writer in started:
            writer.process.wait()
        logs = [writer.log() for writer in started]
        outcome = judge("append", kind, logs, table_of(kind, folder, s3).rows())
    warm = [second for log in logs for second in log.seconds[1:]]
    late = [second for log in logs for second in log.seconds[-(appends // 10 or 1) :]]
    outcome.median = statistics.median(warm) if warm else 0.0
    outcome.last = statistics.median(late) if late else 0.0
    return outcome


def killed(kind: str, kills: int, seed: int) -> Outcome:
    """Kill a writer again and again, beside one that goes on; look into the table each time."""
    chance = random.Random(seed)
    with TemporaryDirectory() as here:
        folder = f"{here}/table"
        create(kind, folder, Path(here))
        endless = ("--appends", str(ENDLESS))
        steady = Writer(kind, folder, Path(here, "steady.log"), "--prefix", "s", *endless)
        victims, wrong = [], 0
        try:
            for number in range(kills):
                log = Path(here, f"k{number}.log")
                victims.append(Writer(kind, folder, log, "--prefix", f"k{number}", *endless))
                kill_within(victims[-1], chance)
                said = {batch for one in (*victims, steady) for batch in one.log().ok}
                counts = table_of(kind, folder).rows()
                wrong += sum(counts[batch] != ROWS for batch in said | set(counts))
            steady.wait_for(steady.log().ended + 2)
        finally:
            steady.kill()
        logs = [one.log() for one in (*victims, steady)]
        outcome = judge("kill", kind, logs, table_of(kind, folder).rows())
    outcome.wrong += wrong
    outcome.kills = kills + 1
    return outcome


def kill_within(victim: Writer, chance: random.Random) -> None:
    """Kill it at any moment of the five appends that come after its second one."""
    try:
        victim.wait_for(2)
        pace = (victim.log().seconds or [1.0])[-1]
        time.sleep(chance.uniform(0, 5 * pace))
    finally:
        victim.kill()


def filled(kind: str) -> Outcome:
    """Append with ever less and more room on the disk; the last appends have enough again."""
    with TemporaryDirectory() as here, small_disk(Path(here, "disk")) as disk:
        folder = f"{disk}/table"
        create(kind, folder, Path(here))
        rooms = [str(room) for room in ROOMS]
        log = Path(here, "w.log")
        writer = Writer(kind, folder, log, "--appends", str(len(ROOMS)), "--room", *rooms)
        writer.wait_for(len(ROOMS))
        writer.process.wait()
        return judge("disk", kind, [writer.log()], table_of(kind, folder).rows())


def create(kind: str, folder: str, logs: Path, s3: str | None = None) -> None:
    """Make the table, in a process of its own."""
    if not s3:
        Path(folder).mkdir()
    options = ("--s3", s3) if s3 else ()
    writer = Writer(kind, folder, logs / "create.log", "--create", *options)
    if writer.process.wait():
        raise ChildProcessError(writer.path.with_suffix(".stderr").read_text()[-2000:])


def table_of(kind: str, folder: str, s3: str | None = None) -> TableFormat:
    """Return the table as this process sees it."""
    return FORMATS[kind](folder, s3)


@contextmanager
def located(here: str, s3: str | None) -> Iterator[str]:
    """Return the folder of a table; a catalog in SQLite stays on the local disk."""
    if not s3:
        yield f"{here}/table"
        return
    os.environ["KWIRE_CATALOG"] = here
    try:
        yield f"s3://tables/{Path(here).name}"
    finally:
        del os.environ["KWIRE_CATALOG"]


@contextmanager
def small_disk(folder: Path, megabytes: int = 16) -> Iterator[Path]:
    """Mount a file system of its own, which needs root."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    subprocess.run(mount, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def object_store() -> Iterator[str]:
    """Start moto's server with a bucket `tables`; return its address."""
    with create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    os.environ.update(dict.fromkeys(keys, "testing"), AWS_REGION="us-east-1")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    silent = subprocess.DEVNULL
    server = subprocess.Popen(command, stdout=silent, stderr=silent)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            try:
                fsspec.filesystem("s3", endpoint_url=address).mkdir("tables")
                break
            except OSError:
                time.sleep(0.2)
        yield address
    finally:
        server.kill()
        server.wait()
