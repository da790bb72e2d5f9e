"""`kwire demo` runs from the first JVM to the last, and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from real_kafka import KafkaUnavailable, class_path, java, required
from tests.support.cli.command import KWIRE, Command


@pytest.fixture(scope="module")
def kafka_is_here() -> None:
    """Skip where the demo cannot run, unless that is a failure."""
    try:
        java()
        class_path("4.3.1")
    except KafkaUnavailable as missing:
        if required():
            raise
        pytest.skip(str(missing))


def demo(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command as a process whose temporary files, its nodes' included, are in the folder."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.Popen(
        [KWIRE, "demo", *arguments], env=environment, stdout=PIPE, stderr=STDOUT, text=True
    )


def left_behind(folder: Path) -> list[str]:
    """Files in the folder, and processes that have its name in their command lines."""
    files = [str(path) for path in folder.iterdir() if path.name.startswith("kwire-")]
    lines = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(process.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return files + [line for line in lines if str(folder) in line]


WATCH = r"kwire watch (127\.0\.0\.1:\d+)"

SESSION = ["DescribeQuorum", "AddRaftVoter", "DescribeQuorum", "RemoveRaftVoter", "DescribeQuorum"]
"""What the demo's admin asks for, beside where to ask it."""


def asked(out: str) -> list[str]:
    """The APIs of the demo's own client, in their order."""
    rpcs = [
        found[1]
        for line in out.splitlines()
        if (found := re.search(r"kwire-demo → .{6,}?(\w+) v\d", line))
    ]
    return [api for api in rpcs if api not in ("ApiVersions", "DescribeCluster")]


def test_the_demo_needs_no_java(tmp_path: Path) -> None:
    with demo(tmp_path, "--seconds", "0") as run:
        out, _ = run.communicate(timeout=120)
    assert run.returncode == 0, out
    assert asked(out) == SESSION
    assert re.search(r"^\d\d:.* → 300\d +ControllerRegistration v", out, re.MULTILINE)
    assert "voters 3000,3001,3002,3003, leader" in out
    assert out.rstrip().endswith("Every RPC was decoded; the voters are what they were.")
    assert left_behind(tmp_path) == []


@pytest.mark.cluster
@pytest.mark.usefixtures("kafka_is_here")
def test_the_demo_changes_the_voters_through_the_proxy_and_shows_it(tmp_path: Path) -> None:
    with demo(tmp_path, "--kafka", "--seconds", "3") as run:
        out, _ = run.communicate(timeout=240)
    assert run.returncode == 0, out
    assert asked(out) == SESSION
    for api in ("Fetch", "BrokerHeartbeat", "BrokerRegistration", "ControllerRegistration"):
        assert re.search(rf"^\d\d:.* → 300\d +{api} v", out, re.MULTILINE), api
    assert out.count("CurrentVoters:") == 3
    assert "voters 3000,3001,3002,3003 + observer 1" in out
    assert out.rstrip().endswith("Every RPC was decoded; the voters are what they were.")
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("real", "moment", "number"),
    [
        pytest.param((), "starts", signal.SIGINT, id="while it starts"),
        pytest.param((), "── Describe", signal.SIGTERM, id="while it runs"),
        pytest.param(
            ("--kafka",),
            "starting broker 1",
            signal.SIGINT,
            marks=pytest.mark.cluster,
            id="while Kafka starts",
        ),
        pytest.param(
            ("--kafka",),
            "── Describe",
            signal.SIGTERM,
            marks=pytest.mark.cluster,
            id="while Kafka runs",
        ),
    ],
)
def test_ctrl_c_leaves_nothing_running(
    tmp_path: Path,
    real: tuple[str, ...],
    moment: str,
    number: signal.Signals,
    request: pytest.FixtureRequest,
) -> None:
    if real:
        request.getfixturevalue("kafka_is_here")
    with demo(tmp_path, *real, "--keep") as run:
        assert run.stdout
        for line in run.stdout:
            if moment in line:
                break
        run.send_signal(number)
        rest, _ = run.communicate(timeout=120)
    assert run.returncode == 130, rest
    assert "Traceback" not in rest
    assert left_behind(tmp_path) == []


def test_a_demo_that_is_kept_is_watched(tmp_path: Path) -> None:
    with demo(tmp_path, "--keep") as run:
        try:
            assert run.stdout
            feed = next(found[1] for line in run.stdout if (found := re.match(WATCH, line)))
            watch = [KWIRE, "watch", feed, "--plain"]
            with subprocess.Popen(watch, stdout=PIPE, stderr=PIPE, text=True) as viewer:
                assert viewer.stdout
                seen = next((line for line in viewer.stdout if "Fetch v" in line), "")
                viewer.kill()
        finally:
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=120)
    assert "→ 300" in seen
    assert left_behind(tmp_path) == []


def test_the_demo_ends_when_nobody_reads_it_any_more(tmp_path: Path) -> None:
    with demo(tmp_path, "--keep") as run:
        assert run.stdout
        run.stdout.readline()
        run.stdout.close()
        assert run.wait(timeout=120) in (0, 1, 130)
    assert left_behind(tmp_path) == []


def test_without_a_checkout_the_demo_says_what_it_needs(
    kwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "real_kafka", None)
    run = kwire("demo", "--kafka")
    assert run.code == 1
    assert "clone the repository and run `make demo`" in run.error
