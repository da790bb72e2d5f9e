"""An export of vectors is complete or not there, and always the same."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

import kwire
from kwire.batches import read_batches
from kwire.codec.declaration import Message
from kwire.codec.examples import ExampleKind
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.vectors import FolderNotEmpty, NotJudged, export, export_vectors
from kwire.vectors.export import ROWS, judged_lines
from kwire.vectors.mutants import Mutation, mutants

FEW: list[type[Message]] = [VoteRequest, VoteResponse, AddRaftVoterRequest]


@pytest.fixture
def few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have only a few messages, so that an export takes no time."""
    monkeypatch.setattr(export, "all_messages", lambda: iter(FEW))


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


@pytest.mark.costly
def test_every_version_of_every_message_is_there_with_the_shape_of_the_manifest(
    tmp_path: Path,
) -> None:
    manifest = export_vectors(tmp_path / "all")
    assert json.loads((tmp_path / "all/manifest.json").read_bytes()) == manifest
    expected = {(cls.__name__, each) for cls in all_classes() for each in cls.versions}
    assert manifest["versions"] == len(expected)
    for name, shape in ROWS.items():
        rows = (tmp_path / "all" / name).read_bytes().splitlines()
        assert len(rows) == manifest["files"][name]["rows"]
        for row in rows:
            msgspec.json.decode(row, type=shape)
        schema = manifest["files"][name]["schema"]
        for row in rows[::500]:
            jsonschema.validate(json.loads(row), schema)
        if name != "batches.jsonl":
            assert {(row["name"], row["version"]) for row in map(json.loads, rows)} == expected


def all_classes() -> list[type[Message]]:
    return [kwire.message(name) for name in kwire.messages.registry.names()]


@pytest.mark.usefixtures("few_messages")
def test_an_export_into_a_folder_that_is_there_stays_in_its_file_system(tmp_path: Path) -> None:
    (tmp_path / "mounted").mkdir()
    beside: list[list[Path]] = []
    export_vectors(tmp_path / "mounted", lambda: beside.append([*tmp_path.iterdir()]))
    assert beside == [[tmp_path / "mounted"]] * len(FEW)


@pytest.mark.usefixtures("few_messages")
def test_two_exports_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    for folder in ("one", "two"):
        export_vectors(tmp_path / folder)
    first, second = (
        {file.name: file.read_bytes() for file in (tmp_path / folder).iterdir()}
        for folder in ("one", "two")
    )
    assert first == second
    assert first.keys() == {*ROWS, "manifest.json"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


@pytest.mark.usefixtures("few_messages")
def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(FolderNotEmpty, match="is not empty: export into a new folder"):
        export_vectors(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.usefixtures("few_messages")
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_export_that_is_stopped_leaves_nothing(
    tmp_path: Path, error: type[BaseException]
) -> None:
    def stop() -> None:
        assert [*tmp_path.iterdir()]
        raise error

    with pytest.raises(error):
        export_vectors(tmp_path / "vectors", stop)
    assert not [*tmp_path.iterdir()]


def test_bytes_that_kafka_did_not_judge_are_not_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len([*judged_lines(VoteResponse)]) == len(VoteResponse.versions)
    monkeypatch.setattr(export, "vector_rows", lambda cls, version, release: iter(()))
    with pytest.raises(NotJudged, match="has not judged VoteResponse v0"):
        next(judged_lines(VoteResponse))


def test_every_damage_is_done_once_to_each_field() -> None:
    made = {(mutation, field): data.hex() for mutation, field, data in mutants(*OF_RESPONSE)}
    assert made == {
        (Mutation(name), field): data.replace(" ", "")
        for name, field, data in (
            ("last-byte-missing", "", f"{THROTTLE} 0003 {MESSAGE}"),
            ("second-half-missing", "", f"{THROTTLE} 0003 1365 7272 6f72 5f"),
            ("byte-after-end", "", f"{THROTTLE} 0003 {MESSAGE} 00 00"),
            ("too-long", "errorMessage", f"{THROTTLE} 0003 ffffffff07 {MESSAGE[2:]} 00"),
            ("not-utf-8", "errorMessage", f"{THROTTLE} 0003 {MESSAGE[:2]} ff {MESSAGE[4:]} 00"),
            ("tags-out-of-order", "", f"{THROTTLE} 0003 {MESSAGE} 02 e9070162 e8070161"),
            ("tag-twice", "", f"{THROTTLE} 0003 {MESSAGE} 02 e8070161 e8070162"),
            ("tag-too-long", "", f"{THROTTLE} 0003 {MESSAGE} 01 e807 feffffff07"),
            ("too-many-tags", "", f"{THROTTLE} 0003 {MESSAGE} feffffff07"),
            ("longer-varint", "", f"{THROTTLE} 0003 {MESSAGE} 8000"),
            ("varint-of-six-bytes", "", f"{THROTTLE} 0003 {MESSAGE} 808080808000"),
        )
    }


OF_RESPONSE = AddRaftVoterResponse, 0
THROTTLE = "01000001"
MESSAGE = "13" + "error_message-3-ü".encode().hex()


def test_all_kinds_of_damage_and_all_examples_occur() -> None:
    names = ("ConsumerGroupHeartbeatResponse", "MetadataRequest", "CreateTopicsRequest")
    classes = map(kwire.message, names)
    pairs = [(cls, version) for cls in classes for version in (cls.versions.first, 5)]
    kinds = {
        mutation
        for cls, version in pairs
        if version in cls.versions
        for mutation, _, _ in mutants(cls, version)
    }
    assert kinds == set(Mutation)
    rows = [json.loads(row) for vectors, _ in judged_lines(VoteRequest) for row in vectors]
    assert {row["example"] for row in rows} == set(ExampleKind)


def test_batches_read_as_kafka_reads_them() -> None:
    rows = lines(Path(export.__file__ or "").with_name("batches.jsonl"))
    assert len(rows) > 50
    for row in rows:
        read = [*read_batches(bytes.fromhex(row["hex"]))]
        assert len(read) == len(row["batches"]), row["name"]
        for batch, expected in zip(read, row["batches"], strict=True):
            records = [*batch.records()]
            assert [record.offset for record in records] == [
                record["offset"] for record in expected["records"]
            ]
            assert [record.value for record in records] == [
                None if record["value"] is None else b64decode(record["value"])
                for record in expected["records"]
            ], row["name"]
