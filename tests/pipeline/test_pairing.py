"""Requests and responses that stand side by side meet in their batch, and only they."""

from typing import Any

from kwire.pipeline.decoding import decode_batch
from tests.support.pipeline.captured_rows import answered, asked, batch, row


def paired(*rows: dict[str, Any]) -> list[bool]:
    return [entry["paired"] for entry in decode_batch(batch(list(rows))).to_pylist()]


def test_a_response_knows_what_its_request_says() -> None:
    request = asked(1, notes=["delayed"], node_id=3000)
    first, second = decode_batch(batch([request, answered(1, node_id=3000)])).to_pylist()
    assert (first["paired"], first["asked"], second["paired"]) == (True, None, True)
    told = second["asked"]
    assert {name: told[name] for name in ("notes", "ending", "size")} == {
        "notes": ["delayed"],
        "ending": "ANSWERED",
        "size": request["size"],
    }
    assert all(told[name] == first[name] for name in told)


def test_what_stands_apart_or_differs_is_not_paired() -> None:
    assert paired(asked(1), asked(2), answered(2), answered(1)) == [False, True, True, False]
    assert paired(answered(1), asked(1)) == [False, False]
    assert paired(asked(1), answered(1), answered(1)) == [True, True, False]
    assert paired(asked(1)) == [False]
    for name, value in {"capture": "x", "connection": 8, "client_id": "x", "node_id": 1}.items():
        assert paired(asked(1), answered(1, **{name: value})) == [False, False], name
    assert paired(row(1, kind="NOTICE"), answered(1)) == [False, False]
