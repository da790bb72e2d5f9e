"""The sequence diagram of a few flows."""

from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.net.frames import encode_request
from kwire.trace.mermaid import sequence
from tests.support.trace_pages import collect, flow_of


def test_requests_and_answers_stand_in_the_order_of_their_times() -> None:
    inner = encode_request(FetchRequest(), 12, correlation_id=1, client_id="x")[4:]
    flows = [
        flow_of(FetchRequest(), FetchResponse(error_code=6), 12, number=1, latency=2.5, peer=2),
        flow_of(
            EnvelopeRequest(request_data=inner), EnvelopeResponse(), 0, number=2, client_id="a;#<b>"
        ),
        flow_of(FetchRequest(), None, 12, number=3, peer=2),
    ]
    assert list(sequence(collect(flows).flows())) == [
        "sequenceDiagram",
        "    participant p0 as node 2",
        "    participant p1 as node 1",
        "    participant p2 as a#59;#35;#60;b#62;",
        "    p0->>p1: 1 Fetch v12",
        "    p2->>p1: 2 Envelope v0 with Fetch v12",
        "    p1-->>p2: 2 3.9 ms",
        "    p0->>p1: 3 Fetch v12",
        "    Note over p0,p1: 3 no response",
        "    p1-->>p0: 1 2500 ms: NOT_LEADER_OR_FOLLOWER",
    ]
