"""`kwire storage` formats and shows a node's directories, in the words of kafka-storage."""

import json
from pathlib import Path

import pytest

from kwire.messages.metadata_versions import DEFAULT, NAMES
from kwire.text.ids import parse_uuid
from tests.support.cli.command import Command

CLUSTER = "4L6g3nShT-eMCtK--X86sw"
FIRST = "1@127.0.0.1:29101:JEXY6aqzQY-32P5TStzaFg"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text(
        "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
        f"listeners=CONTROLLER://127.0.0.1:29101\nlog.dirs={tmp_path}/data\n"
    )
    return path


def test_a_node_is_formatted_and_shown(kwire: Command, config: Path, tmp_path: Path) -> None:
    run = kwire("storage", "format", "-c", str(config), "-t", CLUSTER, "--standalone")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        f"Formatted dynamic metadata voter directory {tmp_path}/data"
        " with metadata.version 4.3-IV0.\n"
    )
    run = kwire("storage", "info", "-c", str(config))
    assert run.code == 0
    assert run.out.startswith(f"Found log directory:\n  {tmp_path}/data\n\nFound metadata: {{")
    assert f"cluster.id={CLUSTER}, directory.id=" in run.out


def test_scripts_get_json(kwire: Command, config: Path, tmp_path: Path) -> None:
    flags = ["--initial-controllers", FIRST, "-r", "3.9", "--json"]
    run = kwire("storage", "format", "-c", str(config), "-t", CLUSTER, *flags)
    assert json.loads(run.out) == {
        "clusterId": CLUSTER,
        "metadataVersion": "3.9-IV0",
        "initialControllers": [FIRST],
        "directories": [
            {
                "path": f"{tmp_path}/data",
                "kind": "dynamic metadata voter directory",
                "directoryId": "JEXY6aqzQY-32P5TStzaFg",
            }
        ],
    }
    found = json.loads(kwire("storage", "info", "-c", str(config), "--json").out)
    assert found["metadata"]["directory.id"] == "JEXY6aqzQY-32P5TStzaFg"
    assert found["problems"] == []


def test_what_is_formatted_already_is_an_error_unless_it_may_be_left(
    kwire: Command, config: Path
) -> None:
    command = ["storage", "format", "-c", str(config), "-t", CLUSTER, "-N"]
    assert kwire(*command).code == 0
    run = kwire(*command)
    assert run.code == 1
    assert "is already formatted; --ignore-formatted leaves it" in run.err
    run = kwire(*command, "--ignore-formatted")
    assert (run.code, run.out) == (0, "All of the log directories are already formatted.\n")


@pytest.mark.parametrize(
    ("flags", "code", "reason"),
    [
        ([], 1, "give --standalone"),
        (["-s", "-N"], 2, "Give one of --standalone"),
        (["-I", "nonsense"], 2, "id@host:port:directory-id"),
        (["-s", "-f", "kraft.version"], 2, "name=level"),
        (["-s", "-r", "1.0"], 1, "no metadata.version is called '1.0'"),
    ],
)
def test_flags_that_make_no_sense_have_a_sentence_and_an_exit_code(
    kwire: Command, config: Path, flags: list[str], code: int, reason: str
) -> None:
    run = kwire("storage", "format", "-c", str(config), "-t", CLUSTER, *flags)
    assert run.code == code
    assert reason in " ".join(run.err.split())
    assert not (config.parent / "data").exists()


def test_info_of_an_unformatted_node_exits_with_1(kwire: Command, config: Path) -> None:
    run = kwire("storage", "info", "-c", str(config))
    assert run.code == 1
    assert run.out == f"Found problem:\n  {config.parent}/data does not exist\n\n"


def test_a_properties_file_that_is_missing_or_wrong_is_named(
    kwire: Command, config: Path, tmp_path: Path
) -> None:
    run = kwire("storage", "info", "-c", str(tmp_path / "missing"))
    reason = f"cannot read {tmp_path}/missing: No such file or directory"
    assert (run.code, run.err) == (1, f"Error: {reason}\n")
    config.write_text("node.id=1\n")
    run = kwire("storage", "info", "-c", str(config))
    assert run.err == f"Error: {config}: process.roles must be broker, controller or both\n"
    config.write_bytes(b"\xff\xfe\x00")
    run = kwire("storage", "info", "-c", str(config))
    assert run.err == f"Error: {config} is no text in UTF-8\n"


def test_random_ids_are_ids(kwire: Command) -> None:
    drawn = {kwire("storage", "random-uuid").out.strip() for _ in range(20)}
    assert len(drawn) == 20
    assert all(parse_uuid(text) and not text.startswith("-") for text in drawn)


def test_help_names_the_release_of_a_new_cluster(kwire: Command) -> None:
    words = " ".join(kwire("storage", "format", "--help").out.split())
    assert f"By default {NAMES[DEFAULT]}." in words


def test_users_come_from_a_file_and_never_from_an_argument(
    kwire: Command, config: Path, tmp_path: Path
) -> None:
    words = ("storage", "format", "-c", str(config), "-t", "A" * 22, "--standalone")
    credential = "SCRAM-SHA-256=[name=alice,password=sesame]"
    for old in ("--add-scram", "-S"):
        run = kwire(*words, old, credential)
        assert (run.code, f"No such option: {old}" in run.err) == (2, True)
        assert "sesame" not in run.err
    wrong = credential.replace("name=alice,", "")
    run = kwire(*words, "--add-scram-file", "-", stdin=wrong.encode())
    assert (run.code, "sesame" in run.err) == (2, False)
    assert "--add-scram-file: a SCRAM credential needs a name" in run.error
    assert "no SCRAM credential in -" in kwire(*words, "--add-scram-file", "-", stdin=b"\n").error
    users = tmp_path / "users"
    users.write_text(f"{credential}\n\n{credential.replace('alice', 'bob')}\n")
    assert kwire(*words, "--add-scram-file", str(users)).code == 0
    checkpoint = next((config.parent / "data").rglob("bootstrap.checkpoint")).read_bytes()
    assert b"alice" in checkpoint
    assert b"bob" in checkpoint
