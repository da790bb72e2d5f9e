"""`kwire quorum explain`: the command on logs, pipes, records and nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli.command import KWIRE, Command
from tests.support.cli.terminal import session
from tests.support.doctor.controllers import controllers_beside
from tests.support.paths import ROOT

KAFKAS = ROOT / "fixtures/logdirs/kafka-4.3.1"

STARTS = "[2026-11-28 01:00:00,000] INFO [ControllerServer id=1] Starting controller (kafka.x)\n"
LEADS = (
    "[2026-11-28 01:00:01,000] INFO [RaftManager id=1] Completed transition to"
    " Leader(localVoterNode=x, epoch=4, epochStartOffset=0) from CandidateState(epoch=4)"
    " (org.apache.kafka.raft.QuorumState)\n"
)
RESIGNS = (
    "[2026-11-28 01:02:03,000] INFO [RaftManager id=1] Did not receive fetch request from the"
    " majority of the voters within 3000ms. Current fetched voters are [], and voters are x"
    " (org.apache.kafka.raft.LeaderState)\n"
)
STRANGE = (
    "[2026-11-28 01:02:04,000] ERROR [RaftManager id=1] Frobnicated \x1b[2J"
    " (org.apache.kafka.raft.KafkaRaftClient)\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text(STARTS + LEADS + RESIGNS + STRANGE)
    return path


def test_the_answer_stands_first_with_evidence_and_remedy(kwire: Command, log: Path) -> None:
    run = kwire("quorum", "explain", "--log", str(log))
    assert run.code == 0
    first, *rest = run.out.splitlines()
    assert first == (
        "Controller 1 led in epoch 4; no other leader is seen. Since 2026-11-28 01:02:03.000"
        " nobody is seen to lead: Leader 1 gave up: no majority of the voters fetched from it"
        " within 3000 ms."
    )
    assert any(line.strip() == f"- {log}:3" for line in rest)
    assert "  > kwire quorum check" in rest
    assert r"not understood: [RaftManager id=1] Frobnicated \x1b[2J" in run.out


def test_a_terminal_shows_how_much_of_a_log_is_read(log: Path) -> None:
    with session("quorum", "explain", "--log", str(log), term="xterm") as (terminal, _):
        terminal.shows("reading server.log")
        terminal.shows("Controller 1 led in epoch 4")


def test_json_has_the_story(kwire: Command, log: Path) -> None:
    document = kwire("quorum", "explain", "--log", str(log), "--json").json
    (leader,) = document["leaders"]
    assert (leader["epoch"], leader["leaderId"]) == (4, 1)
    assert leader["began"] == "2026-11-28T01:00:01.000"
    assert [event["cause"] for event in leader["endedBy"]] == ["leader.lost-majority"]
    assert [event["evidence"] for event in document["notUnderstood"]] == [f"{log}:4"]
    assert document["sources"][0]["nodeIds"] == [1]


def test_a_pipe_is_read(kwire: Command) -> None:
    run = kwire("quorum", "explain", "--log", "-", "--json", stdin=(LEADS + RESIGNS).encode())
    assert run.json["causes"][0]["evidence"] == "stdin:2"


def test_bytes_that_are_no_text_are_escaped(kwire: Command) -> None:
    run = kwire("quorum", "explain", "--log", "-", stdin=STRANGE.encode() + b"\xff\xfe\n")
    assert run.code == 0
    assert "\x1b" not in run.out


def test_a_file_of_something_else_is_said_and_fails(kwire: Command, tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(b"\x89PNG\r\n" + bytes(5000))
    run = kwire("quorum", "explain", "--log", str(path))
    assert run.code == 1
    assert run.out.startswith("No source tells who led.")
    assert f"{path} is no log of Kafka in a layout that is known" in run.out


@pytest.mark.parametrize("option", ["--log", "-d", "--recording"])
def test_a_file_that_is_not_there_is_one_sentence(kwire: Command, option: str) -> None:
    run = kwire("quorum", "explain", option, "/nowhere/x")
    assert (run.code, run.error) == (2, "there is no file /nowhere/x.")


def test_a_directory_is_no_log(kwire: Command, tmp_path: Path) -> None:
    run = kwire("quorum", "explain", "--log", str(tmp_path))
    assert (run.code, run.error) == (2, f"--log {tmp_path}: Is a directory.")


def test_without_a_source_the_options_are_named(kwire: Command) -> None:
    run = kwire("quorum", "explain")
    assert run.error == "give --log, --directory, --recording or --bootstrap-controller."
    assert run.code == 2


def test_an_address_that_is_none_is_told(kwire: Command) -> None:
    run = kwire("quorum", "explain", "--bootstrap-controller", "nowhere")
    assert run.code == 2
    assert run.error.startswith("'nowhere' is no address")


def test_records_and_a_log_are_one_story(kwire: Command, log: Path) -> None:
    run = kwire("quorum", "explain", "--log", str(log), "-d", str(KAFKAS), "--json")
    assert [leader["epoch"] for leader in run.json["leaders"]] == [1, 4]


def test_nodes_that_run_are_asked(kwire: Command) -> None:
    with controllers_beside() as scripted:
        address = scripted.quorum.addresses(1)[0]
        run = kwire("quorum", "explain", "--bootstrap-controller", address, "--json")
    ready = {a["nodeId"]: a["good"] for a in run.json["answers"] if a["question"] == "ready"}
    assert ready == {0: True, 1: True, 2: True}
    assert {leader["leaderId"] for leader in run.json["leaders"]} == {0}


def test_a_log_is_followed_through_a_rotation(log: Path) -> None:
    log.write_text(STARTS)
    arguments = [str(KWIRE), "quorum", "explain", "--log", str(log), "--follow", "--json"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["kind"] == "started"
        with log.open("a") as file:
            file.write(LEADS[:30])
            file.flush()
            file.write(LEADS[30:])
        assert json.loads(process.stdout.readline())["epoch"] == 4
        with log.open("a") as file:
            file.write(STRANGE[:30])  # what a crash leaves
        os.rename(log, log.with_suffix(".1"))
        log.write_text(RESIGNS)
        event = json.loads(process.stdout.readline())
        assert (event["cause"], event["sentence"]) == (
            "leader.lost-majority",
            "Leader 1 gave up: no majority of the voters fetched from it within 3000 ms.",
        )
        assert event["evidence"] == f"{log}:1"
    finally:
        process.kill()
        process.communicate()


def test_a_followed_log_of_something_else_is_said(log: Path) -> None:
    log.write_text("2026-11-28T01:02:03+0100 INFO x\n")
    arguments = [str(KWIRE), "quorum", "explain", "--follow", "--log", str(log)]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Warning: ")
    finally:
        process.kill()
        process.communicate()


def test_only_logs_are_followed(kwire: Command, log: Path) -> None:
    run = kwire("quorum", "explain", "--follow", "--log", str(log), "-d", str(KAFKAS))
    assert run.error == "--follow goes on with logs: give --log, and no other source."
    assert kwire("quorum", "explain", "--follow", "--log", "-").code == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_a_named_pipe_is_not_followed(kwire: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    run = kwire("quorum", "explain", "--follow", "--log", str(tmp_path / "pipe"))
    assert run.error == "--follow needs files: a pipe is read to its end without it."
