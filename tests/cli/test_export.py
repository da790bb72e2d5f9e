"""`kwire export` and `kwire diff`: files, folders, and a running quorum."""

import shutil
from pathlib import Path

import pytest

from kwire.testing.background import BackgroundQuorum
from tests.support.cli.command import Command
from tests.support.paths import FIXTURES

LOGDIRS = FIXTURES / "logdirs"
FOLDER = LOGDIRS / "kafka-4.3.1-without-elr" / "__cluster_metadata-0"
CHECKPOINT = FOLDER / "00000000000000000132-0000000001.checkpoint"


@pytest.fixture
def exported(kwire: Command, tmp_path: Path) -> Path:
    """The export of a folder that Kafka wrote."""
    file = tmp_path / "nightly.yaml"
    file.write_text(kwire("export", str(FOLDER)).out)
    return file


def test_a_folder_does_not_differ_from_its_own_export(kwire: Command, exported: Path) -> None:
    run = kwire("diff", str(exported), str(FOLDER))
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        "no difference in features, topics, configs, quotas, scramCredentials, acls\n"
    )


def test_json_and_yaml_are_the_same_document(
    kwire: Command, exported: Path, tmp_path: Path
) -> None:
    as_json = tmp_path / "nightly.json"
    as_json.write_text(kwire("export", "--json", "--assignments", str(FOLDER)).out)
    assert kwire("diff", str(exported), str(as_json)).code == 0
    assert kwire("export", "-o", "json", "--assignments", str(FOLDER)).out == as_json.read_text()


def test_a_changed_file_differs_in_just_that(kwire: Command, exported: Path) -> None:
    text = exported.read_text().replace("retention.ms: '100000'", "retention.ms: 60000")
    exported.write_text(text)
    run = kwire("diff", str(exported), str(FOLDER), "--json")
    assert run.code == 1
    assert run.json == {
        "equal": False,
        "old": str(exported),
        "new": str(FOLDER),
        "compared": ["features", "topics", "configs", "quotas", "scramCredentials", "acls"],
        "notCompared": [],
        "differences": [
            {
                "change": "changed",
                "section": "topics",
                "name": "orders",
                "field": "configs.retention.ms",
                "old": "60000",
                "new": "100000",
            }
        ],
    }
    shown = kwire("diff", str(exported), str(FOLDER))
    assert [line.split() for line in shown.out.splitlines()] == [
        ["Change", "Section", "Name", "Field", "Old", "New"],
        ["changed", "topics", "orders", "configs.retention.ms", "60000", "100000"],
    ]
    assert shown.code == 1


def test_what_is_there_on_one_side_only_is_shown_with_its_fields(
    kwire: Command, exported: Path
) -> None:
    before = kwire("export", str(FOLDER), "--only", "scramCredentials").out
    exported.write_text(before.partition("- user")[0].rstrip() + " []\n")
    run = kwire("diff", str(exported), str(FOLDER))
    assert run.out.splitlines()[1].split() == [
        *("added", "scramCredentials", "alice", "SCRAM-SHA-256", "-", "-", "iterations=4096")
    ]


def test_sections_that_a_file_lacks_are_not_compared(
    kwire: Command, exported: Path, tmp_path: Path
) -> None:
    some = tmp_path / "some.yaml"
    some.write_text(kwire("export", str(FOLDER), "--only", "topics,ACLS").out)
    run = kwire("diff", str(some), str(CHECKPOINT))
    assert run.out.splitlines() == [
        "no difference in topics, acls",
        "not compared, since one side lacks it: features, configs, quotas, scramCredentials",
    ]
    assert kwire("diff", str(some), str(FOLDER), "--json").json["notCompared"] == [
        "features",
        "configs",
        "quotas",
        "scramCredentials",
    ]
    none = kwire("diff", str(some), str(exported), "--only", "quotas")
    assert (none.code, none.error) == (2, f"{some} and {exported} have no quotas in common.")


def test_replicas_are_compared_where_they_are_asked_for(
    kwire: Command, exported: Path, tmp_path: Path
) -> None:
    exported.write_text(kwire("export", str(FOLDER), "--assignments").out)
    placed = exported.read_text()
    assert "  - [1, 2]\n" in placed or "  - [2, 1]\n" in placed
    exported.write_text(placed.replace("- [1, 2]", "- [2, 1]"))
    run = kwire("diff", str(exported), str(FOLDER), "-o", "tsv")
    fields = {line.split("\t")[3] for line in run.out.splitlines()}
    assert run.code == 1
    assert fields
    assert all(field.startswith("assignments.") for field in fields)
    plain = tmp_path / "plain.yaml"
    plain.write_text(kwire("export", str(FOLDER)).out)
    assert kwire("diff", str(plain), str(FOLDER), "--assignments").code == 0


def test_a_running_cluster_does_not_differ_from_its_own_export(
    kwire: Command, tmp_path: Path
) -> None:
    nightly = tmp_path / "nightly.yaml"
    with BackgroundQuorum(1) as quorum:
        controllers = quorum.bootstrap_controllers
        run = kwire("export", "--bootstrap-controller", controllers)
        assert (run.code, run.err) == (0, "")
        nightly.write_text(run.out)
        same = kwire("diff", str(nightly), "--bootstrap-controller", controllers)
        assert (same.code, same.err) == (0, "")
        twice = kwire("diff", f"controllers:{controllers}", f"controllers:{controllers}")
        assert twice.code == 0
        other = kwire("diff", f"controllers:{controllers}", str(FOLDER), "-o", "name")
        assert {"orders", "solo"} <= set(other.out.splitlines())
    gone = kwire("diff", str(nightly), "--bootstrap-controller", controllers, "--json")
    assert gone.code == 2
    assert gone.json["error"] == "CONNECTION_FAILED"


def test_a_cluster_may_be_a_profile(
    kwire: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    monkeypatch.setenv("KWIRE_CONFIG", str(config))
    with BackgroundQuorum(1) as quorum:
        config.write_text(
            f'[profiles.test]\nbootstrap_controllers = "{quorum.bootstrap_controllers}"\n'
            '[profiles.brokers]\nbootstrap_servers = "127.0.0.1:1"\n'
        )
        nightly = tmp_path / "nightly.yaml"
        nightly.write_text(kwire("export", "-P", "test").out)
        assert kwire("diff", "profile:test", str(nightly)).code == 0
        monkeypatch.setenv("KWIRE_PROFILE", "test")
        assert kwire("diff", str(nightly)).code == 0
    run = kwire("export", "-P", "brokers")
    assert run.code == 2
    assert run.error.startswith("profile brokers has no bootstrap_controllers")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["export"], "give --bootstrap-controller, --profile, or a file."),
        (["export", "x", "-P", "y"], "give a SOURCE or the options of a cluster, not both."),
        (["export", str(FOLDER), "--only", "topcis"], "--only topcis: there is no such section"),
        (["export", "--bootstrap-controller", "nowhere"], "'nowhere' is no address"),
        (["diff", "a", "b", "-P", "c"], "give OLD and NEW, or OLD and the options of a cluster."),
        (["diff", "a"], "give --bootstrap-controller, --profile, or a file."),
        (["diff", "controllers:nowhere", "a"], "'nowhere' is no address"),
        (
            ["diff", "a", "localhost:9093"],
            "there is no file localhost:9093; of controllers write controllers:localhost:9093.",
        ),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    arguments: list[str], sentence: str, kwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KWIRE_PROFILE", raising=False)
    run = kwire(*arguments)
    assert run.code == 2
    assert run.error.startswith(sentence)


def test_trouble_is_no_difference(kwire: Command, exported: Path, tmp_path: Path) -> None:
    missing = kwire("diff", str(tmp_path / "missing"), str(exported))
    assert missing.code == 2
    assert missing.error == f"cannot read {tmp_path / 'missing'}: No such file or directory"
    broken = tmp_path / "broken.checkpoint"
    broken.write_bytes(CHECKPOINT.read_bytes()[:-10])
    run = kwire("diff", str(exported), str(broken), "--json")
    assert run.code == 2
    assert run.json["error"] == "FILE_ERROR"
    assert str(broken) in run.json["message"]
    exported.write_text("version: 1\ntopics: many")
    assert kwire("diff", str(exported), str(FOLDER)).error == (
        f"{exported}: line 2: topics: this must be a list"
    )


def test_an_export_that_fails_is_one_json_object(kwire: Command, tmp_path: Path) -> None:
    shutil.copy(CHECKPOINT, tmp_path / "broken.checkpoint")
    with (tmp_path / "broken.checkpoint").open("r+b") as file:
        file.truncate(100)
    run = kwire("export", "--json", str(tmp_path / "broken.checkpoint"))
    assert run.code == 1
    assert run.json["error"] == "FILE_ERROR"


def test_an_export_is_not_exported_again(kwire: Command, exported: Path) -> None:
    run = kwire("export", str(exported))
    assert (run.code, run.error) == (2, f"{exported} is an exported document already.")
