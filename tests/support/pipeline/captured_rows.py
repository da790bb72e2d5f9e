"""Captured rows for the tests, made by hand."""

from typing import Any
from uuid import UUID

import pyarrow as pa

from kwire.codec.declaration import Request, Response
from kwire.messages.a52_vote import PartitionData, TopicData, VoteRequest, VoteResponse
from kwire.net.frames import encode_request, encode_response
from kwire.pipeline.decoding import CAPTURED

AT = 1_795_246_073_056_000
"""Microseconds of Unix time: 2026-11-21T08:07:53.056Z."""


def row(event: int, **changes: Any) -> dict[str, Any]:
    """A Vote request that was not copied."""
    return {
        **dict.fromkeys(CAPTURED.names),
        "capture": "c",
        "connection": 7,
        "event": event,
        "kind": "REQUEST",
        "at": AT + event,
        "monotonic_ns": 1000 * event,
        "api_key": 52,
        "api_version": 2,
        "correlation_id": event,
        "problems": [],
        "notes": [],
        "deeds": [],
        "file": "night.avro",
        **changes,
    }


def batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """Return the rows as Spark hands them over."""
    return pa.RecordBatch.from_pylist(rows, CAPTURED)


DIRECTORY = UUID(int=80)


def vote() -> bytes:
    partition = PartitionData(replica_id=3, replica_epoch=7, replica_directory_id=DIRECTORY)
    topic = TopicData(topic_name="__cluster_metadata", partitions=[partition])
    return encode_request(VoteRequest(topics=[topic]), 2, correlation_id=9, client_id="raft")[4:]


def answer(correlation_id: int) -> bytes:
    return encode_response(VoteResponse(error_code=102), 2, correlation_id=correlation_id)[4:]


def asked(event: int, **changes: Any) -> dict[str, Any]:
    facts = {"frame": vote(), "size": len(vote()), "correlation_id": 9, "ending": "ANSWERED"}
    return row(event, **(facts | changes))


def answered(event: int, **changes: Any) -> dict[str, Any]:
    frame = answer(9)
    facts = {
        "kind": "RESPONSE",
        "frame": frame,
        "size": len(frame),
        "correlation_id": 9,
        "at": AT + event + 5000,
        "monotonic_ns": 1000 * event + 5_000_000,
    }
    return row(event, **(facts | changes))


def notice(event: int) -> dict[str, Any]:
    return row(event, kind="NOTICE", notice="OPENED", text="opened", api_key=None)


def damage() -> dict[str, Any]:
    """A row for bytes that could not be read: it is of no recording."""
    nothing = dict.fromkeys(CAPTURED.names)
    return nothing | {"kind": "NOTICE", "notice": "DAMAGE", "text": "bytes 3 to 9", "file": "x"}


def rpc(
    event: int, request: Request, response: Response | None, version: int, **changes: Any
) -> list[dict[str, Any]]:
    """A request and its response, if any, as they are recorded."""
    facts = {"api_key": type(request).key, "api_version": version, **changes}
    frame = encode_request(request, version, correlation_id=9, client_id="raft")[4:]
    rows = [asked(event, frame=frame, size=len(frame), **facts)]
    if response is not None:
        frame = encode_response(response, version, correlation_id=9)[4:]
        rows.append(answered(event, frame=frame, size=len(frame), **facts))
    return rows
