"""Rows of `calls`, from hand-made frames: pairs, and sides that are missing."""

from typing import Any

import pyarrow as pa

from kwire.messages import a00_produce as produce
from kwire.messages import a01_fetch as fetch
from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.schemas import arrow_schema_of
from kwire.pipeline.tables.captured import CapturedTables
from tests.support.pipeline.captured_rows import (
    AT,
    DIRECTORY,
    answer,
    answered,
    asked,
    batch,
    damage,
    notice,
    rpc,
    vote,
)

Row = dict[str, Any]


def calls(*batches: list[Row]) -> list[Row]:
    """The calls of these batches, without those that halves would be."""
    tables = CapturedTables({"calls"})
    found = [rows for part in batches for _, rows in tables.take(decode_batch(batch(part)))]
    assert all(rows.schema == arrow_schema_of("calls") for rows in found)
    return [call for rows in found for call in rows.to_pylist()]


def test_a_call_has_what_its_two_frames_say() -> None:
    request = asked(1, notes=["delayed"], deeds=["DELAYED"], node_id=3000, client_id="raft")
    (call,) = calls([request, answered(1, node_id=3000, client_id="raft")])
    at = call.pop("at")
    assert int(at.timestamp() * 1e6 + 0.5) == AT + 1
    assert call.pop("errors") == [
        {"path": "error_code", "code": 102, "name": "BROKER_ID_NOT_REGISTERED", "message": None}
    ]
    assert call == {
        "capture": "c",
        "connection": 7,
        "event": 1,
        "node_id": 3000,
        "peer_id": None,
        "client": None,
        "upstream": None,
        "client_id": "raft",
        "api_key": 52,
        "api": "Vote",
        "api_version": 2,
        "correlation_id": 9,
        "outcome": "ANSWERED",
        "latency_ms": 5.0,
        "max_wait_ms": None,
        "request_size": len(vote()),
        "response_size": len(answer(9)),
        "records_bytes": 0,
        "topics": None,
        "error": "BROKER_ID_NOT_REGISTERED",
        "request_status": "DECODED",
        "response_status": "DECODED",
        "problems": [],
        "notes": ["delayed"],
        "deeds": ["DELAYED"],
    }


def test_every_side_is_kept_without_the_other() -> None:
    tables = CapturedTables({"calls"})
    rows = [
        asked(1),
        answered(1),
        asked(2, ending="LOST", problems=["the connection closed"]),
        answered(3),
        asked(4, capture="other"),
        answered(4, node_id=5),
        notice(5),
        damage(),
    ]
    made = [*tables.take(decode_batch(batch(rows))), *tables.finish()]
    found = pa.Table.from_batches([rows for _, rows in made]).sort_by("event").to_pylist()
    columns = ("capture", "event", "outcome", "latency_ms", "request_status", "response_status")
    error = "BROKER_ID_NOT_REGISTERED"
    assert [tuple(call[name] for name in (*columns, "error", "node_id")) for call in found] == [
        ("c", 1, "ANSWERED", 5.0, "DECODED", "DECODED", error, None),
        ("c", 2, "LOST", None, "DECODED", None, None, None),
        ("c", 3, "ORPHAN", None, None, "DECODED", error, None),
        ("other", 4, "ANSWERED", None, "DECODED", None, None, None),
        ("c", 4, "ORPHAN", None, None, "DECODED", error, 5),
    ]
    assert [call["records_bytes"] for call in found] == [0] * 5


def test_a_call_of_two_batches_is_the_call_of_one() -> None:
    request, response = asked(1, client_id="raft"), answered(1, node_id=7)
    (together,) = calls([request, response])
    assert calls([request], [response]) == calls([response], [request]) == [together]
    assert (together["client_id"], together["node_id"]) == ("raft", 7)


def test_frames_that_do_not_decode_are_calls_all_the_same() -> None:
    unknown = {"api_key": 9999}
    rows = [
        *(asked(1, frame=b"\x27\x0f" + vote()[2:], **unknown), answered(1, **unknown)),
        *(asked(2, frame=None), answered(2, frame=answer(9)[:3], size=3)),
        *(asked(3, frame=vote()[:9]), answered(3, api_key=None, api_version=None)),
    ]
    found = calls(rows)
    columns = ("api", "request_status", "response_status", "error", "errors")
    assert [tuple(call[name] for name in columns) for call in found] == [
        ("API 9999", "UNDECODABLE", "UNDECODABLE", None, None),
        ("Vote", "ABSENT", "UNDECODABLE", None, None),
        ("Vote", "CUT", "UNDECODABLE", None, None),
    ]


def test_topics_are_those_of_the_side_with_record_batches() -> None:
    batches = [produce.PartitionProduceData(records=b"x" * 70)] * 2
    sent = produce.TopicProduceData(name="orders", partition_data=batches)
    empty = produce.TopicProduceData(name="payments")
    fetched = fetch.FetchableTopicResponse(
        topic_id=DIRECTORY, partitions=[fetch.PartitionData(records=b"x" * 500)]
    )
    rows = [
        *rpc(1, produce.ProduceRequest(topic_data=[empty, sent]), produce.ProduceResponse(), 9),
        *rpc(2, fetch.FetchRequest(), fetch.FetchResponse(responses=[fetched]), 13),
        *rpc(3, fetch.FetchRequest(), fetch.FetchResponse(), 13),
        asked(4, ending="LOST"),
    ]
    found = {call["event"]: (call["topics"], call["records_bytes"]) for call in calls(rows)}
    by_id = {"topic": None, "topic_id": "AAAAAAAAAAAAAAAAAAAAUA", "records_bytes": 500}
    assert found == {
        1: ([{"topic": "orders", "topic_id": None, "records_bytes": 140}], 140),
        2: ([by_id], 500),
        3: ([], 0),
        4: (None, 0),
    }
