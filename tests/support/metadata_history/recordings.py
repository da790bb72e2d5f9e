"""Recorded requests as records of a capture, with the times and the nodes that a test wants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kwire.capture import CaptureRecord
from kwire.codec.declaration import Request, Response
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.data.default_principal_data import DefaultPrincipalData
from kwire.net.frames import encode_request, encode_response
from kwire.proxy.capture.records import event_records
from tests.support.proxy.dialogue import Dialogue, answered, asked


def recorded(
    request: Request,
    response: Response | None,
    *,
    at: float,
    node_id: int = 1,
    client_id: str = "admin",
    version: int = 1,
) -> list[CaptureRecord]:
    """Return the records of a request at a time in milliseconds, answered 100 ms later."""
    dialogue = Dialogue()
    dialogue.connection.node_id = node_id
    dialogue.ask(asked(request, version, 1, client_id))
    if response is not None:
        dialogue.answer(answered(response, version, 1))
    dialogue.hang_up()
    (flow,) = dialogue.flows
    flow.at, flow.asked = at / 1000, 0.0
    flow.answered = None if response is None else 0.1
    return list(event_records(flow, 0, "capture"))


def forwarded(
    request: Request, response: Response, principal: str, *, version: int = 1
) -> tuple[EnvelopeRequest, EnvelopeResponse]:
    """Return the envelope in which a broker forwards a request of the client `tool`."""
    sender = DefaultPrincipalData(type="User", name=principal)
    frame = encode_request(request, version, correlation_id=7, client_id="tool")
    envelope = EnvelopeRequest(
        request_data=frame[4:],
        request_principal=b"\0\0" + sender.encode(0),
        client_host_address=bytes((10, 0, 0, 7)),
    )
    answer = encode_response(response, version, correlation_id=7)
    return envelope, EnvelopeResponse(response_data=answer[4:])


def in_one_capture(*flows: Iterable[CaptureRecord]) -> Iterator[CaptureRecord]:
    """Yield the records of flows with an event of its own each."""
    from msgspec.structs import replace

    for number, records in enumerate(flows):
        for record in records:
            yield replace(record, event=number)
