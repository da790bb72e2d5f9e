"""`kwire conform --client`: what it prints of a client, how it ends, and what it refuses."""

import json
import re
import shlex
import signal
import subprocess
from pathlib import Path
from time import sleep

import pytest

from tests.support.cli.command import KWIRE, Command

CLUSTER_ID = f"{KWIRE} cluster id --bootstrap-server {{bootstrap}}"
"""A client that does the same whatever its task is."""
ADMIN = "client/start/7"


def test_a_client_that_does_its_task(kwire: Command, tmp_path: Path) -> None:
    saved = tmp_path / "run.json"
    options = ("--name", "ours", "--save", str(saved))
    run = kwire("conform", "--client", "--exec", CLUSTER_ID, ADMIN, *options)
    assert run.code == 0, run.err
    assert run.out.startswith("ours: client, ")
    assert "client/start  1 PASS" in run.out
    document = json.loads(saved.read_text())
    assert document["server"]["role"] == "client"
    assert "DescribeCluster" in document["server"]["apiVersions"]
    assert kwire("conform", "--from", str(saved)).out == run.out


def test_a_client_that_fails_is_shown_with_its_last_line(kwire: Command) -> None:
    command = "sh -c 'echo error no broker; exit 1' {bootstrap}"
    run = kwire("conform", "--client", "--exec", command, ADMIN)
    assert run.code == 1
    assert re.search(r"came +exit code 1 after \d\.\d s, the last line 'error no broker'", run.out)


def test_the_command_under_a_failure_runs_as_it_is_printed(kwire: Command) -> None:
    command = """sh -c 'echo "error  it'"'"'s"; exit 1' {bootstrap}"""
    run = kwire("conform", "--client", "--exec", command, ADMIN)
    again = re.search(r"bytes +kwire (conform .*)", run.out)
    assert again is not None
    shown = kwire(*shlex.split(again[1]))
    assert shown.out.startswith(f"{ADMIN}  ")
    assert 'the last line "error  it\'s"' in shown.out


@pytest.mark.parametrize("word", ["unsupported", "unsupported:"])
def test_a_task_that_a_client_cannot_do_is_skipped(kwire: Command, word: str) -> None:
    command = f"sh -c 'echo {word} no transactions; exit 77' {{bootstrap}}"
    run = kwire("conform", "--client", "--exec", command, "client/start/6")
    assert "SKIPPED the client cannot do it: no transactions: client/start/6" in run.out
    assert "Nothing was checked: every check was skipped." in run.err


def test_the_bytes_of_a_case_are_shown_decoded(kwire: Command) -> None:
    run = kwire("conform", "--client", "--exec", CLUSTER_ID, "--hex", ADMIN)
    assert run.code == 0, run.err
    assert re.search(r"bytes from node 1, connection 1", run.out)
    assert "ApiVersionsRequest" in run.out or "ApiVersions" in run.out


def test_cases_are_listed(kwire: Command) -> None:
    run = kwire("conform", "--client", "--list", "client/start", "--json")
    cases = json.loads(run.out)["cases"]
    assert [case["task"] for case in cases][:3] == ["produce", "burst", "consume"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--client",), "--client wants --exec"),
        (("--client", "--wait", "--exec", "true {bootstrap}"), "--client wants --exec"),
        (("--client", "--exec", "true"), "--exec has no {bootstrap}"),
        (
            ("--client", "--exec", "sh -c '{bootstrap}"),
            "--exec is no command: No closing quotation",
        ),
        (("--client", "--wait", "client/none"), "no case is called 'client/none'"),
        (("--client", "--wait", "--kip", "853"), "--kip is for servers"),
        (("--client", "--wait", "--as-java"), "--as-java is for servers"),
        (("--exec", "true {bootstrap}"), "--exec and --wait belong to --client"),
    ],
)
def test_wrong_usage(kwire: Command, options: tuple[str, ...], message: str) -> None:
    run = kwire("conform", *options)
    assert run.code == 2
    assert message in re.sub(r"\s+", " ", run.err)


def test_a_command_that_is_not_there(kwire: Command) -> None:
    run = kwire("conform", "--client", "--exec", "no-such-client {bootstrap}", ADMIN)
    assert run.code == 1
    assert "cannot start no-such-client" in run.err


def test_a_client_that_is_started_by_hand() -> None:
    """The case says where; when the client has come and gone, the next one begins there."""
    command = [str(KWIRE), "conform", "--client", "--wait", ADMIN]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as waiting:
        assert waiting.stderr is not None
        address = None
        while not address:
            address = re.search(r"127\.0\.0\.1:\d+", waiting.stderr.readline())
        client = CLUSTER_ID.replace("{bootstrap}", address[0]).split()
        subprocess.run(client, check=True, stdout=-1)
        out, _ = waiting.communicate(timeout=60)
    assert "client/start  1 PASS" in out


def test_the_command_under_a_failure_by_hand_waits_again(kwire: Command) -> None:
    run = kwire("conform", "--client", "--wait", "--patience", "0.1", ADMIN)
    assert f"kwire conform --client --wait --hex {ADMIN}" in run.out, run.out
    assert "topic topic-client-start-7, group group-client-start-7, 3 records" in run.err
    assert "kwire waits 0.1 s" in run.err


def test_ctrl_c_ends_the_client_too(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = f"sh -c 'echo $$ > {pid}; exec sleep 600' {{bootstrap}}"
    words = [str(KWIRE), "conform", "--client", "--exec", command, ADMIN]
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True) as running:
        while not pid.exists() or not pid.read_text().strip():
            sleep(0.05)
        sleep(0.1)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "The run ended early: stopped with Ctrl-C or SIGTERM." in out
    assert re.search(r"^1 check in (?!0\.0 s)", out, re.M)
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
