"""`kwire capture info` counts versions, slow calls, errors, gaps and connections, without Spark."""

from pathlib import Path

import msgspec

from kwire.codec.declaration import Response
from kwire.messages.a52_vote import VoteResponse
from kwire.net.frames import encode_response
from tests.support.capture.capture_records import old_clients, record, write
from tests.support.cli.command import Command


def answered(event: int, response: Response, milliseconds: int, **changes: object) -> list[object]:
    frame = encode_response(response, 2, correlation_id=event)[4:]
    asked = record(event, **changes)
    return [
        asked,
        msgspec.structs.replace(
            asked,
            kind="RESPONSE",
            frame=frame,
            size=len(frame),
            ending=None,
            monotonic_ns=asked.monotonic_ns + milliseconds * 1_000_000,
        ),
    ]


def test_those_that_kafka_4_refuses_come_first(kwire: Command, tmp_path: Path) -> None:
    write(tmp_path / "one.avro", old_clients())
    run = kwire("capture", "info", str(tmp_path))
    assert run.code == 0
    assert run.out.split("versions that Kafka 4 does not answer")[1].splitlines()[1:4] == [
        "ClientId  Api    Lowest  Highest  Needed  Blocked  Calls  Clients",
        "till      Fetch  3       4        4       2        3      2",
        "",
    ]
    found = kwire("capture", "info", str(tmp_path), "--json").json
    assert found["versions"][0] == {
        "clientId": "till", "api": "Fetch", "lowest": 3, "highest": 4, "needed": 4, "blocked": 2,
        "calls": 3, "clients": 2,
    }  # fmt: skip
    assert len(found["versions"]) == 4
    assert [one["file"] for one in found["files"]] == [str(tmp_path / "one.avro")]


def test_slow_calls_errors_gaps_and_nodes(kwire: Command, tmp_path: Path) -> None:
    refused = VoteResponse(error_code=104)
    records = [
        *answered(0, VoteResponse(), 5),
        *answered(1, refused, 30, client_id="till"),
        *answered(9, VoteResponse(), 7, connection=8),
        record(10, ending="LOST", connection=8),
    ]
    write(tmp_path / "one.avro", records)  # type: ignore[arg-type]
    found = kwire("capture", "info", str(tmp_path), "--json").json
    assert found["slowest"] == [
        {"api": "Vote", "calls": 4, "slowestMs": 30.0, "event": 1, "clientId": "till"}
    ]
    assert found["errors"] == [
        {"api": "Vote", "clientId": "till", "failure": "INCONSISTENT_CLUSTER_ID", "calls": 1},
        {"api": "Vote", "clientId": "raft-client-1", "failure": "LOST", "calls": 1},
    ]
    (gap,) = found["gaps"]
    assert (gap["missing"], gap["after"] < gap["before"]) == (7, True)
    assert found["nodes"] == [
        {"upstream": "127.0.0.1:9093", "nodeId": 3000, "connections": 2, "calls": 4}
    ]
    shown = kwire("capture", "info", str(tmp_path)).out
    assert "Kafka 4 answers all versions that were used (2 by client and API)" in shown
    assert "events that are missing in a recording" in shown


def test_frames_that_cannot_be_read_are_no_success(kwire: Command, tmp_path: Path) -> None:
    asked, answer = answered(0, VoteResponse(), 5)
    cut = msgspec.structs.replace(answer, frame=b"")  # type: ignore[type-var]
    write(tmp_path / "one.avro", [asked, cut])  # type: ignore[list-item]
    errors = kwire("capture", "info", str(tmp_path), "--json").json["errors"]
    assert [one["failure"] for one in errors] == ["CUT"]


def test_damage_is_told_and_the_rest_is_counted(kwire: Command, tmp_path: Path) -> None:
    path = tmp_path / "one.avro"
    write(path, old_clients(), block=2)
    path.write_bytes(path.read_bytes()[:-3])
    run = kwire("capture", "info", str(path))
    assert run.code == 1
    assert "connections by node" in run.out
    assert "one.avro" in run.err
