"""`kwire vectors` prints bytes and JSON of messages, and writes them with mutants to a folder."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from kwire.messages.a52_vote import VoteRequest
from kwire.messages.registry import message
from kwire.vectors import export
from tests.support.cli.command import Command


def test_bytes_and_json_of_a_version(kwire: Command) -> None:
    rows = kwire("vectors", "show", "VoteRequest", "--version", "2", "--json").json["vectors"]
    assert [row["example"] for row in rows] == [
        "defaults", "filled", "nulls", "empty", "lowest", "highest", "unknown-tags",
    ]  # fmt: skip
    for row in rows:
        body = VoteRequest.decode(bytes.fromhex(row["hex"]), 2)
        assert body.encode(2).hex() == row["hex"]
        assert row["json"]["voterId"] == body.voter_id
    printed = kwire("vectors", "show", "VoteRequest", "--version", "2").out.splitlines()
    assert printed[0].split() == ["Name", "Version", "Example", "Hex"]
    assert [line.split()[3] for line in printed[1:]] == [row["hex"] for row in rows]


def test_an_api_has_request_and_response_in_each_version(kwire: Command) -> None:
    rows = kwire("vectors", "show", "52", "-o", "tsv").out.splitlines()
    pairs = {tuple(row.split("\t")[:2]) for row in rows}
    names = ("VoteRequest", "VoteResponse")
    assert pairs == {(name, str(each)) for name in names for each in message(name).versions}


@pytest.mark.parametrize("words", [["NoSuchMessage"], ["VoteRequest", "--version", "x"]])
def test_what_is_not_there_is_refused(kwire: Command, words: list[str]) -> None:
    assert kwire("vectors", "show", *words).code != 0


def test_a_version_that_is_not_there_has_none(kwire: Command) -> None:
    run = kwire("vectors", "show", "VoteRequest", "--version", "99")
    assert (run.code, run.out) == (0, "no such version\n")


@pytest.fixture
def one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have one message, so that an export takes no time."""
    monkeypatch.setattr(export, "all_messages", lambda: iter([VoteRequest]))


@pytest.mark.usefixtures("one_message")
def test_an_export_says_what_is_in_its_folder(kwire: Command, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "vectors"
    printed = kwire("vectors", "export", str(folder), "--json").json
    assert printed["folder"] == str(folder)
    for file in printed["files"]:
        assert len((folder / file["file"]).read_bytes().splitlines()) == file["rows"] > 0
    rows = [json.loads(line) for line in (folder / "vectors.jsonl").read_bytes().splitlines()]
    shown = kwire("vectors", "show", "VoteRequest", "--json").json["vectors"]
    assert [(row["version"], row["example"], row["hex"], row["json"]) for row in rows] == [
        (row["version"], row["example"], row["hex"], row["json"]) for row in shown
    ]


@pytest.mark.usefixtures("one_message")
def test_a_folder_that_is_not_empty_is_refused_in_one_sentence(
    kwire: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    run = kwire("vectors", "export", str(tmp_path))
    assert (run.code, run.out) == (1, "")
    assert run.err == f"Error: {tmp_path} is not empty: export into a new folder\n"
    assert kwire("vectors", "export", str(tmp_path), "--json").json["error"] == "FOLDER_NOT_EMPTY"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("one_message")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_an_export_that_cannot_be_written_names_its_folder(
    kwire: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(export, "_write_rows", fail)
    run = kwire("vectors", "export", str(tmp_path))
    assert run.err == f"Error: cannot write into {tmp_path}: {os.strerror(number)}.\n"
    assert not [*tmp_path.iterdir()]
