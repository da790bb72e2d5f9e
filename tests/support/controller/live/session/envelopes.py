"""Requests in Envelopes, as brokers forward those of their clients."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.forwarding import envelope
from kwire.net.connection import Connection
from kwire.net.frames import decode_response, encode_request


def enveloped(
    request: Request,
    principal: str,
    host: str = "127.0.0.1",
    version: int | None = None,
    *,
    by_delegation_token: bool = False,
    client_id: str | None = None,
) -> EnvelopeRequest:
    """Return the Envelope of a request, as a broker makes it. version: None for the last."""
    last = type(request).versions.last if version is None else version
    data = encode_request(request, last, correlation_id=1, client_id=client_id)[4:]
    return envelope(data, principal, host, by_delegation_token=by_delegation_token)


async def send_enveloped(
    connection: Connection,
    request: Request,
    principal: str,
    host: str = "127.0.0.1",
    version: int | None = None,
    *,
    by_delegation_token: bool = False,
    client_id: str | None = None,
) -> Response | int:
    """Return the answer to a request in an Envelope, or the error of the Envelope itself."""
    sealed = enveloped(
        request,
        principal,
        host,
        version,
        by_delegation_token=by_delegation_token,
        client_id=client_id,
    )
    answer = await connection.send(sealed, timeout=60)
    assert isinstance(answer, EnvelopeResponse)
    if answer.response_data is None:
        return answer.error_code
    last = type(request).versions.last if version is None else version
    return decode_response(answer.response_data, type(request).key or 0, last).body
