"""Clusters leave nothing behind, whatever ends their owner: close, Ctrl-C, kill -9."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from kwire.testing.local_kafka.guard import Guard
from real_kafka import Launcher, Layout, NodeFailed
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster

OWNER = """
import sys
from real_kafka import Cluster, Layout, launcher
def tell(doing): print(doing, flush=True)
cluster = Cluster(launcher(sys.argv[1]), Layout(controllers=(3000,)), tell)
tell(cluster.site_name)
with cluster:
    sys.stdin.read()
"""


SITE = "kwire-"


def lines_before(start: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines before the one that starts so."""
    return takewhile(lambda line: not line.startswith(start), lines)


def processes_of(text: str) -> list[str]:
    """The command lines of this machine's processes that contain a text."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it ended meanwhile
            continue
        if text in line:
            found.append(line)
    return found


def containers_and_networks(prefix: str) -> list[str]:
    import docker

    client = docker.from_env()
    try:
        containers = client.containers.list(all=True, ignore_removed=True)
        everything = [one.name for one in [*containers, *client.networks.list()]]
        return [name for name in everything if name.startswith(prefix)]
    finally:
        client.close()


def left_of(kafka: Launcher, site_name: str) -> list[str]:
    """Return what exists of a cluster: containers and network, or processes and folder."""
    if kafka.name == "container":
        return containers_and_networks(site_name)
    return processes_of(site_name) + [folder for folder in [site_name] if Path(folder).exists()]


@pytest.mark.both_launchers
def test_a_closed_cluster_leaves_nothing(kafka: Launcher, own_cluster: OwnCluster) -> None:
    with own_cluster(Layout(controllers=(3000,))) as cluster:
        cluster.join_controller(3005)
        assert len(left_of(kafka, cluster.site_name)) == 3
    assert left_of(kafka, cluster.site_name) == []


@pytest.mark.both_launchers
def test_a_cluster_that_does_not_come_up_leaves_nothing(
    kafka: Launcher, own_cluster: OwnCluster
) -> None:
    cluster = own_cluster(Layout(controllers=(3000, 3001)))
    with pytest.raises(NodeFailed):
        cluster.start(deadline=0)
    assert left_of(kafka, cluster.site_name) == []


@pytest.mark.both_launchers
@pytest.mark.parametrize(
    ("end", "moment"),
    [
        (signal.SIGINT, "starting controller 3000"),
        (signal.SIGINT, "controller 3000 answers"),
        (signal.SIGTERM, "controller 3000 answers"),
        (signal.SIGKILL, "starting controller 3000"),
    ],
)
def test_an_owner_that_is_ended_leaves_nothing(
    kafka: Launcher, end: signal.Signals, moment: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, kafka.name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        process_group=0,
    ) as owner:
        assert owner.stdout
        [site_name] = [line.strip() for line in lines_before(moment, owner.stdout) if SITE in line]
        assert left_of(kafka, site_name)
        os.killpg(owner.pid, end)  # as a terminal's Ctrl-C does: the whole group
        assert owner.wait(timeout=60) != 0
    eventually_blocking(lambda: not left_of(kafka, site_name))


def test_the_guard_removes_what_was_kept_and_not_what_was_dropped(tmp_path: Path) -> None:
    kept, dropped = tmp_path / "a folder", tmp_path / "b"
    kept.mkdir()
    dropped.mkdir()
    sleeper = subprocess.Popen(["sleep", "600"], process_group=0)
    with Guard() as guard:
        guard.keep("folder", str(kept))
        guard.keep("folder", str(dropped))
        guard.keep("group", str(sleeper.pid))
        guard.drop("folder", str(dropped))
    assert sleeper.wait(timeout=60) == -signal.SIGKILL
    assert (kept.exists(), dropped.exists()) == (False, True)


def test_the_guard_goes_on_past_what_is_gone_already(tmp_path: Path) -> None:
    with Guard() as guard:
        guard.keep("folder", str(tmp_path / "last"))
        guard.keep("group", "999999999")
        guard.keep("folder", str(tmp_path / "never was"))
        (tmp_path / "last").mkdir()
    assert not (tmp_path / "last").exists()


def test_what_the_guard_does_not_know_yet_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    def keep(guard: Guard, kind: str, name: str) -> None:
        started.append(int(name))
        raise KeyboardInterrupt

    mark = tmp_path / "mark"
    with Guard() as guard, (tmp_path / "log").open("wb") as output:
        with guard.start(["/usr/bin/env", "touch", str(mark)], output=output) as process:
            assert process.wait(timeout=60) == 0
        assert mark.exists()
        mark.unlink()
        monkeypatch.setattr(Guard, "keep", keep)
        with pytest.raises(KeyboardInterrupt):
            guard.start(["/usr/bin/env", "touch", str(mark)], output=output)
    assert not mark.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_a_closed_guard_removes_at_once_what_comes_too_late(tmp_path: Path) -> None:
    """A thread may still prepare a cluster whose owner has given it up."""
    with Guard() as guard:
        pass
    late = tmp_path / "late"
    late.mkdir()
    guard.keep("folder", str(late))
    assert not late.exists()
    sleeper = subprocess.Popen(["sleep", "600"], process_group=0)
    guard.keep("group", str(sleeper.pid))
    assert sleeper.wait(timeout=60) == -signal.SIGKILL
