"""`kwire demo` runs from the first controller to the last line, and leaves nothing behind."""

import re
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

import pytest

from kwire.capture import read_capture
from kwire.cli.demo.session import FEED_PORT
from tests.support.cli.command import KWIRE, Command
from tests.support.cli.demo_run import (
    SESSION,
    free_ports,
    interrupt,
    left_behind,
    session_apis,
    start_demo,
)

DEMO = (KWIRE, "demo")
WATCH = r"kwire watch (127\.0\.0\.1:\d+)"


def test_the_demo_needs_no_java(tmp_path: Path) -> None:
    capture = tmp_path / "demo.avro"
    with start_demo([*DEMO, "--seconds", "0", "-w", str(capture)], tmp_path) as run:
        out, _ = run.communicate(timeout=120)
    assert run.returncode == 0, out
    assert len([*read_capture(capture)]) > 100
    assert session_apis(out) == SESSION
    assert re.search(r"^\d\d:.* → 300\d +ControllerRegistration v", out, re.MULTILINE)
    assert "voters 3000,3001,3002,3003, leader" in out
    assert out.rstrip().endswith("Every RPC was decoded; the voters are what they were.")
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        pytest.param("starts", signal.SIGINT, id="while it starts"),
        pytest.param("── Describe", signal.SIGTERM, id="while it runs"),
    ],
)
def test_ctrl_c_leaves_nothing_running(tmp_path: Path, moment: str, number: signal.Signals) -> None:
    interrupt([*DEMO, "--keep"], tmp_path, moment, number)


def test_a_demo_opens_with_who_leads_and_who_there_is(tmp_path: Path) -> None:
    """Nodes that do not listen yet, or do not lead, are counted: they are no failures."""
    with start_demo([*DEMO, "--seconds", "0"], tmp_path) as run:
        out, _ = run.communicate(timeout=120)
    start = out.partition("── Describe")[0].splitlines()
    assert [line for line in start if " refused: " in line or "NOT_LEADER" in line] == []
    shown = {line.split()[5] for line in start if re.match(r"\d\d:", line)}
    assert shown == {"Vote", "BeginQuorumEpoch", "ControllerRegistration"}
    told = next(line for line in start if line.startswith("Not shown while they started: "))
    assert re.search(r"other RPCs: \d+", told)


def test_a_demo_has_the_ports_that_it_is_given_unless_one_is_taken(tmp_path: Path) -> None:
    first = free_ports(4)
    with start_demo([*DEMO, "--seconds", "0", "--ports", str(first)], tmp_path) as run:
        out, _ = run.communicate(timeout=120)
    endpoints = re.findall(r"^300\d .* CONTROLLER://127\.0\.0\.1:(\d+)", out, re.MULTILINE)
    assert {*map(int, endpoints)} == {*range(first, first + 4)}
    with socket.create_server(("127.0.0.1", first + 1)):
        refused = subprocess.run(
            [*DEMO, "--ports", str(first)], capture_output=True, text=True, check=False
        )
    assert refused.returncode == 1
    assert f"something listens at 127.0.0.1:{first + 1} already" in refused.stderr


@pytest.mark.cluster
def test_a_demo_that_is_kept_has_a_broker_for_topics(kwire: Command, tmp_path: Path) -> None:
    first = free_ports(5) + 1
    command: list[str | Path] = [*DEMO, "--keep", "--ports", str(first), "--brokers", "1"]
    with start_demo(command, tmp_path) as run:
        try:
            assert run.stdout
            create = next(line for line in run.stdout if line.startswith("kwire topics create"))
            made = kwire(*create.split()[1:])
            listed = kwire("topics", "list", "--bootstrap-server", f"127.0.0.1:{first - 1}")
        finally:
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=120)
    assert made.code == 0, made.err
    assert "orders" in listed.out
    assert left_behind(tmp_path) == []


def test_a_demo_with_ports_has_another_feed_where_that_of_the_first_is(tmp_path: Path) -> None:
    command: list[str | Path] = [*DEMO, "--keep", "--ports", str(free_ports(4))]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first:
        with suppress(OSError):  # it is taken already
            first.bind(("127.0.0.1", FEED_PORT))
        with start_demo(command, tmp_path) as run:
            try:
                assert run.stdout
                found = (re.match(WATCH, line) for line in run.stdout)
                feed = next((one[1] for one in found if one), "")
            finally:
                run.send_signal(signal.SIGINT)
                run.communicate(timeout=120)
    assert feed not in ("", f"127.0.0.1:{FEED_PORT}")


def test_a_demo_that_is_kept_is_watched(tmp_path: Path) -> None:
    with start_demo([*DEMO, "--keep"], tmp_path) as run:
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
    with start_demo([*DEMO, "--keep"], tmp_path) as run:
        assert run.stdout
        run.stdout.readline()
        run.stdout.close()
        assert run.wait(timeout=120) in (0, 1, 130)
    assert left_behind(tmp_path) == []
