"""A client's request and the Envelope that forwards it find each other, and no others."""

import pytest

from kwire.messages.a19_create_topics import CreateTopicsRequest, CreateTopicsResponse
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.net.frames import encode_request
from kwire.proxy import DecodedFlow
from kwire.proxy.flows.chains import are_partners, head_of_client
from tests.support.proxy.flows.decoded_flows import flow


def asked(at: float = 100.0, correlation_id: int = 5) -> DecodedFlow:
    decoded = flow(CreateTopicsRequest(), CreateTopicsResponse(), 7, latency=1.0)
    decoded.flow.at, decoded.flow.correlation_id = at, correlation_id
    return decoded


def envelope(at: float = 100.5) -> DecodedFlow:
    inner = encode_request(CreateTopicsRequest(), 7, correlation_id=5, client_id="raft-client-1")
    request = EnvelopeRequest(request_data=inner[4:], client_host_address=bytes(4))
    decoded = flow(request, EnvelopeResponse(), 0)
    decoded.flow.at = at
    return decoded


def test_an_envelope_and_the_request_in_it_are_partners() -> None:
    assert head_of_client(envelope()) == head_of_client(asked()) == (19, 7, 5, "raft-client-1")
    assert are_partners(envelope(), asked())
    assert are_partners(asked(), envelope())


@pytest.mark.parametrize(
    "other",
    [asked(correlation_id=6), asked(at=98.0), asked(at=101.0), envelope()],
    ids=["another correlation id", "ended before", "began later", "another Envelope"],
)
def test_others_are_not(other: DecodedFlow) -> None:
    assert not are_partners(envelope(), other)


def test_a_request_without_an_answer_may_still_be_under_way() -> None:
    lost = asked(at=70.0)
    lost.flow.answered = None
    assert are_partners(lost, envelope())
