"""Flows as the proxy hands them out, made by hand for the tests of what shows them."""

from __future__ import annotations

from kwire.codec.declaration import Request, Response
from kwire.net.frames import encode_request, encode_response
from kwire.proxy import ClientConnection, DecodedFlow, Flow, Outcome

AT = 1_795_246_073.056


def connection(node_id: int | None = 3000, peer: int | None = 1) -> ClientConnection:
    """Connection 7, of node 1 with controller 3000."""
    return ClientConnection(
        number=7,
        node_id=node_id,
        client="127.0.0.1:50000",
        upstream="127.0.0.1:9093",
        at=AT,
        client_id="raft-client-1",
        peer=peer,
    )


def flow(
    request: Request,
    response: Response | None,
    version: int,
    *,
    latency: float = 0.0042,
    on: ClientConnection | None = None,
) -> DecodedFlow:
    """An RPC that was answered, or lost where there is no response."""
    asked = encode_request(request, version, correlation_id=5, client_id="raft-client-1")[4:]
    answer = encode_response(response, version, correlation_id=5)[4:] if response else None
    key = type(request).key
    assert key is not None
    return DecodedFlow(
        Flow(
            on or connection(),
            key,
            version,
            5,
            "raft-client-1",
            AT,
            100.0,
            len(asked),
            answered=100.0 + latency if answer else None,
            response_size=len(answer) if answer else None,
            request_copy=asked,
            response_copy=answer,
            outcome=Outcome.ANSWERED if answer else Outcome.LOST,
        )
    )
