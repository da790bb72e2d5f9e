"""Recorded conversations for the tests of replay, made by hand."""

from __future__ import annotations

from itertools import count

from kwire.capture import CaptureRecord
from kwire.codec.declaration import Request, Response
from kwire.net.frames import encode_request, encode_response
from kwire.proxy import ClientConnection, Flow, Outcome
from kwire.proxy.capture.records import event_records

_numbers = count()


def flow(
    request: Request,
    response: Response | None,
    version: int,
    *,
    at: float = 0.0,
    latency: float = 0.1,
    number: int = 1,
    client_id: str = "me",
) -> Flow:
    """An RPC on connection `number`, lost where there is no response."""
    key = type(request).key
    assert key is not None
    asked = encode_request(request, version, correlation_id=7, client_id=client_id)[4:]
    answer = None if response is None else encode_response(response, version, correlation_id=7)[4:]
    return Flow(
        ClientConnection(
            number=number, node_id=1, client="127.0.0.1:5", upstream="127.0.0.1:9", at=0.0
        ),
        key,
        version,
        7,
        client_id,
        at,
        at,
        len(asked),
        answered=None if answer is None else at + latency,
        response_size=None if answer is None else len(answer),
        request_copy=asked,
        response_copy=answer,
        outcome=Outcome.LOST if answer is None else Outcome.ANSWERED,
    )


def records(*flows: Flow) -> list[list[CaptureRecord]]:
    """The records of each."""
    return [list(event_records(ended, next(_numbers), "a-recording")) for ended in flows]
