"""`kwire capture versions` counts the versions that clients use, without Spark."""

from pathlib import Path

from tests.support.capture.capture_records import old_clients, write
from tests.support.cli.command import Command

WORDS = "ClientId Api Lowest Highest Needed Blocked Calls Clients"


def test_those_that_kafka_4_refuses_come_first(kwire: Command, tmp_path: Path) -> None:
    write(tmp_path / "one.avro", old_clients())
    run = kwire("capture", "versions", str(tmp_path))
    assert run.code == 0
    head, *lines = (line.split() for line in run.out.splitlines())
    assert head == WORDS.split()
    assert lines == [
        ["till", "Fetch", "3", "4", "4", "2", "3", "2"],
        ["-", "Fetch", "12", "12", "4", "0", "1", "1"],
        ["till", "API", "9999", "1", "1", "0", "0", "1", "1"],
        ["till", "Vote", "2", "2", "0", "0", "1", "1"],
    ]
    (first, *_), names = kwire("capture", "versions", str(tmp_path), "--json").json["versions"], {
        "clientId": "till", "api": "Fetch", "lowest": 3, "highest": 4, "needed": 4, "blocked": 2,
        "calls": 3, "clients": 2,
    }  # fmt: skip
    assert first == names


def test_damage_is_told_and_the_rest_is_counted(kwire: Command, tmp_path: Path) -> None:
    path = tmp_path / "one.avro"
    write(path, old_clients(), block=2)
    path.write_bytes(path.read_bytes()[:-3])
    run = kwire("capture", "versions", str(path), "-o", "tsv")
    assert run.code == 1
    assert run.out.splitlines()
    assert "one.avro" in run.err


def test_a_capture_without_calls_says_so(kwire: Command, tmp_path: Path) -> None:
    write(tmp_path / "one.avro", [one for one in old_clients() if one.kind == "NOTICE"])
    run = kwire("capture", "versions", str(tmp_path / "one.avro"))
    assert (run.code, run.out) == (0, "No call is in these captures.\n")
