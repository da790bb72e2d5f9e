"""One line a flow: what has no words of its own, what is in an envelope, what got no answer."""

from kwire.messages.a00_produce import ProduceRequest, ProduceResponse, TopicProduceData
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from kwire.messages.data.default_principal_data import DefaultPrincipalData
from kwire.proxy import summarize
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.flows.dialogue_flows import decoded, rpc


def test_an_envelope_tells_who_asks_what() -> None:
    principal = DefaultPrincipalData(type="User", name="alice").encode(0)
    request = EnvelopeRequest(
        request_data=asked(UnregisterBrokerRequest(broker_id=7), 0, 9)[4:],
        request_principal=bytes(2) + principal,
        client_host_address=bytes([10, 0, 0, 7]),
    )
    answer = answered(UnregisterBrokerResponse(error_code=102), 0, 9)[4:]
    assert summarize(rpc(request, EnvelopeResponse(response_data=answer), 0)) == (
        "UnregisterBroker v0 of User:alice at 10.0.0.7: forget broker 7: BROKER_ID_NOT_REGISTERED"
    )
    assert summarize(rpc(request, EnvelopeResponse(error_code=31), 0)) == (
        "UnregisterBroker v0 of User:alice at 10.0.0.7: forget broker 7:"
        " CLUSTER_AUTHORIZATION_FAILED"
    )


def test_a_request_without_an_answer_says_so() -> None:
    assert summarize(decoded(asked(UnregisterBrokerRequest(broker_id=7), 0, 1))) == (
        "forget broker 7: no response"
    )


def test_what_has_no_words_of_its_own_is_told_by_names_sizes_and_errors() -> None:
    topics = [CreatableTopic(name=name) for name in ("orders", "bills", "cats", "dogs", "eels")]
    request = asked(CreateTopicsRequest(topics=topics), 7, 1)
    result = CreatableTopicResult(name="orders", error_code=36, error_message="it is there")
    response = answered(CreateTopicsResponse(topics=[result]), 7, 1)
    assert summarize(decoded(request, response)) == (
        f"topic orders bills cats and 2 more, {len(request) - 4} B → {len(response) - 4} B:"
        " TOPIC_ALREADY_EXISTS (it is there)"
    )


def test_a_producer_that_wants_no_answer_is_told_from_one_that_got_none() -> None:
    produce = ProduceRequest(acks=0, topic_data=[TopicProduceData(name="orders")])
    request = asked(produce, 9, 1)
    assert summarize(decoded(request)) == f"topic orders, {len(request) - 4} B, acks=0"
    answer = answered(ProduceResponse(), 9, 1)
    assert summarize(decoded(asked(produce.replace(acks=1), 9, 1), answer)).endswith(
        f"→ {len(answer) - 4} B"
    )


def test_an_undecodable_request_still_has_a_line() -> None:
    frame = bytearray(asked(VoteRequest(), 2, 1))
    frame[4:8] = (9999).to_bytes(2, "big") + bytes(2)
    size = len(frame) - 4
    assert summarize(decoded(bytes(frame))) == f"{size} B: no response"


def test_names_from_the_wire_cannot_command_a_terminal() -> None:
    request = CreateTopicsRequest(topics=[CreatableTopic(name="\x1b[2J")])
    assert "\x1b" not in summarize(rpc(request, CreateTopicsResponse(), 7))
