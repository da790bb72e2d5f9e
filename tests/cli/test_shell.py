"""`kwire shell`: one command and its exit code, and a session on a terminal."""

import signal
import sys
from pathlib import Path
from uuid import UUID

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.logdir.names import OffsetAndEpoch, snapshot_name
from kwire.logdir.snapshots import build_snapshot, write_snapshot
from kwire.messages.records.topic import TopicRecord
from tests.support.cli.command import Command
from tests.support.cli.terminal import ended, session, terminated
from tests.support.eventually import eventually_blocking
from tests.support.paths import FIXTURES

LOG = str(FIXTURES / "logdirs" / "kafka-4.3.1-brokers")


def test_one_command_prints_and_ends(kwire: Command) -> None:
    run = kwire("shell", "--directory", LOG, "ls", "/image/topics")
    assert (run.code, run.out, run.err) == (0, "byId\nbyName\n", "")
    segment = f"{LOG}/__cluster_metadata-0/00000000000000000000.log"
    assert kwire("shell", "-s", segment, "at").out == (
        "offset 158, epoch 1, time 2026-11-21T11:05:56.060Z\n"
    )


def test_a_missing_path_is_exit_code_1(kwire: Command) -> None:
    run = kwire("shell", "--directory", LOG, "cat", "/nix", "/image/topics/byName/orders/name")
    assert (run.code, run.out) == (1, "orders\n")
    assert run.err == "cat: /nix: no such file or directory.\n"


def test_json_is_one_object(kwire: Command) -> None:
    run = kwire("shell", "--directory", LOG, "--json", "cat", "/image/features/metadataVersion")
    assert run.json["nodes"] == [{"path": "/image/features/metadataVersion", "value": "4.3-IV0"}]
    run = kwire("shell", "--directory", LOG, "find", "/local", "--json")
    assert [row["path"] for row in run.json["nodes"]][:2] == ["/local", "/local/commitId"]


def test_an_offset_may_be_chosen(kwire: Command) -> None:
    run = kwire("shell", "--directory", LOG, "--at", "20", "--json", "cat", "/image/provenance")
    assert run.json["offset"] <= 20
    run = kwire("shell", "--directory", LOG, "--at", "999", "ls")
    assert run.error == f"{LOG} cannot show offset 999: it has offsets 0 to 158"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["ls"], "give exactly one of"),
        (["-d", LOG, "-q", "localhost:1", "ls"], "give exactly one of"),
        (["-d", LOG, "--config", "x", "ls"], "--config goes with"),
        (["-d", LOG, "rm"], "'rm' is no command that runs by itself"),
        (["-d", LOG, "cd", "/"], "'cd' is no command that runs by itself"),
        (["-d", LOG, "--json", "ls"], "ls prints no JSON"),
        (["-d", LOG, "--json"], "--json needs a command"),
        (["-q", "localhost", "ls"], "is no address"),
        (["-q", "localhost:1", "--config", "missing", "ls"], "cannot read missing"),
    ],
)
def test_wrong_options_are_one_sentence(kwire: Command, options: list[str], reason: str) -> None:
    run = kwire("shell", *options)
    assert run.code == 2
    assert reason in run.err.replace("\n", " ")


def test_a_controller_that_is_not_there_is_not_waited_for(kwire: Command) -> None:
    run = kwire("shell", "-q", "127.0.0.1:1", "--timeout", "600", "ls")
    assert run.code == 1
    assert run.error.startswith("127.0.0.1:1 refused the connection: nothing listens there")


def test_text_of_others_does_not_command_the_terminal(kwire: Command, tmp_path: Path) -> None:
    record = TopicRecord(name="\x1b[2Jt", topic_id=UUID(int=1))
    id = OffsetAndEpoch(offset=9, epoch=1)
    batches = build_snapshot([VersionedRecord(record=record, version=0)], epoch=1, now=1)
    write_snapshot(tmp_path, id, batches)
    run = kwire("shell", "-s", str(tmp_path / snapshot_name(id)), "ls", "/image/topics/byName")
    assert run.out == "\\x1b[2Jt\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_session_completes_recalls_and_ends() -> None:
    with session("shell", "-d", LOG) as (terminal, pid):
        terminal.shows("/> ")
        terminal.type("cd /ima\ttop\tbyN\t\n")
        terminal.shows("/image/topics/byName> ")
        terminal.type("garbage")
        terminal.shows("garbage")
        # readline may miss a signal while it is not reading yet.
        eventually_blocking(lambda: "^C" in terminal.answer("\x03"))
        terminal.type("cat nix\n")
        terminal.shows("cat: nix: no such file or directory.")
        terminal.type("cat orders\n")
        terminal.shows("is a folder")
        terminal.type("at 20\n")
        terminal.shows("@1")
        terminal.type("at 9999\n")
        terminal.shows("Error: ")
        terminal.type("at latest\n")
        terminal.shows("offset 158")
        terminal.type("history 1\n")
        terminal.shows("history 1\r\n    6  history 1\r\n/image/topics/byName> ")
        terminal.type("\x04")  # a terminal that does not read lines yet would take it for a NUL
        assert ended(pid) == 0
    with session("shell", "-d", LOG) as (terminal, pid):
        terminal.shows("/> ")
        # -15: a second one came when Python was ending.
        code = eventually_blocking(lambda: terminated(pid), lambda code: code is not None)
        assert code in (130, -signal.SIGTERM)
