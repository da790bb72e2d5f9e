"""`kwire log history` and `blame`: what they print of a folder, and what they refuse."""

import shutil
from pathlib import Path

import pytest

from kwire.capture import CaptureFile, RecordEncoder
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.testing.background import BackgroundQuorum
from tests.support.cli.command import Command
from tests.support.metadata_history.recordings import forwarded, recorded
from tests.support.paths import FIXTURES

LOGS = FIXTURES / "logdirs"
HISTORY = LOGS / "kafka-3.9.1-history"
LOG = str(HISTORY)
SEGMENT = "__cluster_metadata-0/00000000000000000000.log"


def places(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [(row["offset"], row["path"], row["before"], row["after"]) for row in rows]


def test_a_topics_path_has_its_configuration_too(kwire: Command) -> None:
    run = kwire("log", "history", "/topics/orders", "-d", LOG, "--json")
    assert run.code == 0
    path = "/configs/TOPIC:orders/retention.ms"
    configs = [row for row in places(run.json["changes"]) if row[1] == path]
    assert configs == [
        (13, path, None, "60000"),
        (14, path, "60000", "120000"),
        (29, path, "120000", None),
    ]
    assert {row["path"] for row in run.json["changes"]} == {
        *(f"/partitions/orders-{number}" for number in range(3)),
        "/topics/orders",
        path,
    }
    assert run.json["notes"] == []


@pytest.mark.parametrize(
    "path", ["/configs/BROKER:1", "/configs/B*1", "/image/configs/BROKER:1/log.cleaner.threads"]
)
def test_whole_paths_and_globs_are_those_of_the_shell(kwire: Command, path: str) -> None:
    run = kwire("log", "history", path, "-d", LOG, "--json")
    own = "/configs/BROKER:1/log.cleaner.threads"
    assert places(run.json["changes"]) == [(30, own, None, "2")]
    assert kwire("shell", "-d", LOG, "cat", own).out == "2\n"
    assert kwire("shell", "-d", LOG, "--at", "29", "cat", own).code == 1


@pytest.mark.parametrize("command", ["history", "blame"])
def test_a_path_that_cannot_have_been_meant_is_wrong_usage(kwire: Command, command: str) -> None:
    run = kwire("log", command, "/topcs/orders", "-d", LOG)
    assert run.code == 2
    assert run.error.startswith("no path begins with /topcs; these do: /acls, /brokers, ")


def test_people_get_a_table(kwire: Command) -> None:
    run = kwire("log", "history", "/quotas", "-d", LOG)
    lines = [line.split() for line in run.out.splitlines()]
    assert lines[0] == ["Offset", "Time", "Epoch", "Leader", "Path", "Field", "Before", "After"]
    (row,) = lines[1:]
    assert row[2:] == ["1", "1", "/quotas/user(alice)/producer_byte_rate", "-", "-", "1024.0"]
    run = kwire("log", "history", "/scram", "-d", LOG)
    assert (run.code, run.out) == (0, "nothing changed under /scram\n")
    run = kwire("log", "history", "/voters", "-d", LOG)
    assert run.out.splitlines()[1].startswith("formatting  ")


def test_blame_at_an_offset_is_that_of_the_log_there(kwire: Command) -> None:
    def last(*options: str) -> list[tuple[object, object]]:
        run = kwire("log", "blame", "/configs/TOPIC:orders", "-d", LOG, "--json", *options)
        return [(row["offset"], row["after"]) for row in run.json["values"]]

    assert last("--at", "13") == [(13, "60000")]
    assert last("--at", "28") == [(14, "120000")]
    assert last() == []
    run = kwire("log", "blame", "/topics/orders", "-d", LOG, "--at", "99")
    assert run.error == f"{LOG} cannot show offset 99: it has offsets 0 to 38."


def test_values_of_a_checkpoint_are_marked(kwire: Command, tmp_path: Path) -> None:
    names = ("00000000000000000178-0000000001.checkpoint", "00000000000000000116.log")
    for name in names:
        shutil.copyfile(LOGS / "kafka-4.3.1" / "__cluster_metadata-0" / name, tmp_path / name)
    run = kwire("log", "blame", "/voters", "-d", str(tmp_path))
    assert [line.split()[0] for line in run.out.splitlines()] == ["Offset", "≤177", "≤177"]
    assert "not known before offset 178" in run.err
    run = kwire("log", "history", "-d", str(tmp_path))
    assert (run.code, run.out) == (0, "nothing changed under /\n")


def test_since_leaves_out_what_is_older(kwire: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = kwire("log", "history", "-d", LOG, "--json").json["changes"]
    middle = next(row["time"] for row in rows if row["offset"] == 22)
    assert middle is not None
    now = 1_795_834_771.454 + 3600  # an hour after the second leader's first record
    monkeypatch.setattr("time.time", lambda: now)
    later = kwire("log", "history", "-d", LOG, "--json", "--since", "60m").json["changes"]
    assert [row["offset"] for row in later] == [
        row["offset"] for row in rows if (row["offset"] or 0) >= 22
    ]
    run = kwire("log", "history", "-d", LOG, "--since", "yesterday")
    assert run.error == "--since yesterday: write 30m, 2h or 7d."


def test_what_precedes_damage_is_printed(kwire: Command, tmp_path: Path) -> None:
    shutil.copytree(HISTORY, tmp_path / "copy")
    segment = tmp_path / "copy" / SEGMENT
    data = bytearray(segment.read_bytes())
    data[-20] ^= 1
    segment.write_bytes(data)
    run = kwire("log", "history", "/configs", "-d", str(tmp_path / "copy"))
    assert run.code == 1
    assert "120000" in run.out
    assert run.error.startswith(f"{segment}, byte ")
    run = kwire("log", "history", "/configs", "-d", str(tmp_path / "copy"), "--json")
    assert run.code == 1
    assert run.json["changes"]
    assert f"read up to the damage: {segment}, byte " in run.json["notes"][-1]
    assert f"{segment}, byte " in " ".join(run.err.split())
    segment.write_bytes(data[:-20])
    run = kwire("log", "history", "/configs", "-d", str(tmp_path / "copy"))
    assert run.code == 0
    assert "bytes of the log are no whole batch" in run.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["topics/orders", "-d", LOG], "'topics/orders': a path begins with /"),
        (["/", "-d", LOG, "--bootstrap-controller", "h:1"], "give --directory or the options"),
        (["/"], "give --bootstrap-controller, --profile, or a file."),
        (["/", "-d", str(FIXTURES / "logdirs")], "has no metadata log"),
        (["/topics/{a", "-d", LOG], "has a brace that does not end"),
    ],
)
def test_what_makes_no_sense_is_refused(kwire: Command, arguments: list[str], reason: str) -> None:
    run = kwire("log", "history", *arguments)
    assert run.code == 2
    assert reason in run.err


def test_a_recording_names_who_asked(kwire: Command, tmp_path: Path) -> None:
    rows = kwire("log", "history", "/topics/orders", "-d", LOG, "--json").json["changes"]
    assert all("principal" not in row for row in rows)
    config = AlterableConfig(name="retention.ms", value="120000")
    resource = AlterConfigsResource(resource_type=2, resource_name="orders", configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    envelope, answer = forwarded(request, IncrementalAlterConfigsResponse(), "alice")
    run = kwire("log", "history", "/configs/TOPIC:orders", "-d", LOG, "-o", "tsv")
    at = kwire("log", "dump", "--json", str(HISTORY / SEGMENT)).out.splitlines()[14]
    time = int(at.split('"timestamp":')[1].split(",")[0])
    file, encoder = CaptureFile(tmp_path / "night.avro"), RecordEncoder()
    for record in recorded(envelope, answer, at=time - 40, version=0):
        file.write(encoder.encode(record))
    file.close()
    run = kwire(
        *("log", "history", "/configs/TOPIC:orders", "-d", LOG),
        *("--recording", str(tmp_path), "--json"),
    )
    causes = [(row["principal"], row["clientId"], row["match"]) for row in run.json["changes"]]
    assert causes == [(None, None, None), ("User:alice", "tool", "content"), (None, None, None)]
    run = kwire(
        *("log", "blame", "/topics/orders", "-d", LOG, "--at", "14"),
        *("--recording", str(tmp_path / "night.avro")),
    )
    by_alice = [line for line in run.out.splitlines() if "User:alice" in line]
    assert len(by_alice) == 1
    assert "IncrementalAlterConfigs v1" in by_alice[0]
    assert "not recorded" in run.out


def test_a_running_quorum_is_asked(kwire: Command) -> None:
    with BackgroundQuorum(1) as quorum:
        controllers = ("--bootstrap-controller", quorum.bootstrap_controllers)
        assert (
            kwire("quotas", "set", "--user", "alice", "producer_byte_rate=5", *controllers).code
            == 0
        )
        run = kwire("log", "history", "/quotas", *controllers, "--json")
        (row,) = run.json["changes"]
        leader = kwire("shell", *controllers, "cat", "/raft/leader").out
        assert (row["after"], f"{row['leaderId']}\n", row["origin"]) == (5.0, leader, "log")
        before = f"controllers:{quorum.bootstrap_controllers}@{row['offset'] - 1}"
        latest = f"controllers:{quorum.bootstrap_controllers}@latest"
        run = kwire("diff", before, latest, "--json")
        assert [item["new"] for item in run.json["differences"]] == [{"producer_byte_rate": 5.0}]
        raft = ("--at", str(row["offset"]), "cat", "/raft/kraftVersion", "/raft/leader")
        assert kwire("shell", *controllers, *raft).out == f"1\n{leader}"
