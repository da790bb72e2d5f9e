"""Filters and rules on requests that a broker forwards in an Envelope."""

from dataclasses import dataclass, field

import pytest

from kwire.codec.declaration import Request
from kwire.errors import InvalidValue
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from kwire.net.address import Address
from kwire.net.frames import decode_request, decode_response
from kwire.proxy import Answer, Call, Close, Filter, Filters, Flow, Outcome
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.filters.intercept import Intercept
from kwire.proxy.filters.rules import read_rules
from kwire.proxy.flows.flow import Effect
from kwire.proxy.flows.language import parse
from tests.support.proxy.addresses.address_books import InstantListeners
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import HeldDialogue, rule_filters, through

CREATE = CreateTopicsRequest(topics=[CreatableTopic(name="orders", num_partitions=1)])
CREATED = CreateTopicsResponse(topics=[CreatableTopicResult(name="orders")])
EXISTS = CreateTopicsResponse(topics=[CreatableTopicResult(name="orders", error_code=36)])


def forwarded(request: Request = CREATE, version: int = 7, number: int = 1) -> bytes:
    """Return what a broker sends for its client's request 77."""
    data = asked(request, version, 77, "admin-5")[4:]
    envelope = EnvelopeRequest(request_data=data, request_principal=b"p", client_host_address=b"h")
    return asked(envelope, 0, number, "broker-1")


def returned(response: CreateTopicsResponse = CREATED, number: int = 1) -> bytes:
    """Return the controller's response in an Envelope."""
    data = answered(response, 7, 77)[4:]
    return answered(EnvelopeResponse(response_data=data), 0, number)


def inner_request(frame: bytes) -> Request:
    """Return the request in a broker's Envelope."""
    envelope = decode_request(frame[4:]).body
    assert isinstance(envelope, EnvelopeRequest)
    assert (envelope.request_principal, envelope.client_host_address) == (b"p", b"h")
    inner = decode_request(envelope.request_data)
    assert (inner.header.correlation_id, inner.header.client_id) == (77, "admin-5")
    return inner.body


def inner_response(frame: bytes) -> CreateTopicsResponse:
    """Return the response in a controller's Envelope."""
    envelope = decode_response(frame[4:], 58, 0).body
    assert isinstance(envelope, EnvelopeResponse)
    assert envelope.response_data is not None
    inner = decode_response(envelope.response_data, 19, 7)
    assert inner.header.correlation_id == 77
    assert isinstance(inner.body, CreateTopicsResponse)
    return inner.body


@dataclass
class Both(Filter):
    """Counts what it sees, and changes what is inside."""

    name = "Both"
    seen: list[str] = field(default_factory=list)

    def on_envelope_request(self, request: EnvelopeRequest, call: Call) -> None:
        self.seen.append(f"{call.flow.api} {call.flow.client_id}")
        assert call.envelope is None

    def on_create_topics_request(self, request: CreateTopicsRequest, call: Call) -> None:
        assert call.envelope is not None
        assert isinstance(call.envelope.message, EnvelopeRequest)
        assert call.envelope.call.flow.api == "Envelope"
        self.seen.append(f"{call.flow.api} v{call.version} {call.flow.client_id}")
        request.topics[0].num_partitions = 3
        call.note("three")

    def on_create_topics_response(self, response: CreateTopicsResponse, call: Call) -> None:
        assert isinstance(call.request, CreateTopicsRequest)
        response.topics[0].num_partitions = call.request.topics[0].num_partitions


def test_a_filter_changes_what_is_inside_and_the_rest_stays() -> None:
    both = Both()
    dialogue = through(both)
    request = inner_request(dialogue.ask(forwarded()))
    assert isinstance(request, CreateTopicsRequest)
    assert request.topics == [CreatableTopic(name="orders", num_partitions=3)]
    changed = inner_response(dialogue.answer(returned()))
    assert changed.topics == [CreatableTopicResult(name="orders", num_partitions=3)]
    assert both.seen == ["Envelope broker-1", "CreateTopics v7 admin-5"]
    (flow,) = dialogue.flows
    assert (flow.api, flow.outcome) == ("Envelope", Outcome.ANSWERED)
    assert flow.notes == ("in the envelope: three",) + ("changed by a filter",) * 2
    assert flow.problems == []


def test_what_no_filter_changes_passes_as_it_came() -> None:
    class Look(Filter):
        def on_request(self, request: Request, call: Call) -> None: ...

    dialogue = through(Look())
    frame = forwarded(CreateTopicsRequest(topics=[], timeout_ms=1))
    assert dialogue.ask(frame) == frame
    assert dialogue.answer(returned()) == returned()
    assert dialogue.flows[0].effects == (Effect.HELD, Effect.HELD)


def test_nothing_is_decoded_where_nobody_wants_anything_inside() -> None:
    assert not Filters([Intercept(parse("~api CreateTopics"), lambda flow: None)]).look_inside
    assert not Filters([]).look_inside
    assert Filters([Both()]).look_inside


def test_an_answer_and_a_refusal_are_made_of_the_envelope() -> None:
    class Refuse(Filter):
        def on_create_topics_request(self, request: CreateTopicsRequest, call: Call) -> Answer:
            return Answer(EXISTS)

        def on_create_topics_response(
            self, response: CreateTopicsResponse, call: Call
        ) -> Answer | None:
            return None

        def on_delete_topics_request(self, request: Request, call: Call) -> Close:
            return Close()

    dialogue = through(Refuse())
    assert dialogue.ask(forwarded()) == b""
    assert inner_response(dialogue.at_client) == EXISTS
    assert dialogue.flows[0].notes == ("answered by Refuse",)


def test_a_response_inside_is_replaced() -> None:
    class Replace(Filter):
        def on_create_topics_response(self, response: CreateTopicsResponse, call: Call) -> Answer:
            return Answer(EXISTS)

    dialogue = through(Replace())
    dialogue.ask(forwarded())
    assert inner_response(dialogue.answer(returned())) == EXISTS


def test_an_envelope_that_the_controller_refused_has_nothing_inside() -> None:
    dialogue = through(Both())
    dialogue.ask(forwarded())
    refused = answered(EnvelopeResponse(error_code=31), 0, 1)
    assert dialogue.answer(refused) == refused
    assert dialogue.flows[0].problems == []


@pytest.mark.parametrize("data", [b"", b"\x00\x13", bytes.fromhex("270f000000000001ffff")])
def test_nonsense_inside_passes_and_is_said(data: bytes) -> None:
    dialogue = through(Both())
    frame = asked(EnvelopeRequest(request_data=data), 0, 1, "broker-1")
    assert dialogue.ask(frame) == frame
    assert dialogue.answer(returned()) == returned()
    problems = dialogue.flows[0].problems
    assert len(problems) == 2
    assert problems[0].startswith("not filtered: in the envelope: ")


def test_nonsense_inside_does_not_concern_filters_that_do_not_look_inside() -> None:
    class Outside(Filter):
        looks_inside = False

        def on_envelope_request(self, request: EnvelopeRequest, call: Call) -> None: ...

    dialogue = through(Outside())
    frame = asked(EnvelopeRequest(request_data=b"\x00"), 0, 1, "broker-1")
    assert dialogue.ask(frame) == frame
    dialogue.answer(returned())
    assert dialogue.flows[0].problems == []


def test_a_broken_filter_inside_is_told_and_the_frame_goes_on() -> None:
    class Broken(Filter):
        def on_create_topics_request(self, request: CreateTopicsRequest, call: Call) -> None:
            request.topics[0].name = 5  # type: ignore[assignment]
            if request.timeout_ms == 1:
                raise RuntimeError("oh")

    dialogue = through(Broken())
    assert dialogue.ask(forwarded()) == forwarded()
    first = CreateTopicsRequest(topics=CREATE.topics, timeout_ms=1)
    frame = forwarded(first, number=2)
    assert dialogue.ask(frame) == forwarded() + frame
    dialogue.hang_up()
    problems = [flow.problems[0] for flow in dialogue.flows]
    assert problems[0].startswith("Broken.on_create_topics_request left CreateTopics")
    assert problems[1] == "Broken.on_create_topics_request failed: RuntimeError: oh"
    assert "Broken.on_create_topics_request left CreateTopics" in dialogue.notices[0].text
    assert "sent on as it came: RuntimeError: oh; reported once" in dialogue.notices[1].text


def under(match: str, *lines: str) -> HeldDialogue:
    """Return a dialogue under one rule."""
    text = "".join(f"\n    {line}" for line in lines)
    rules = read_rules(f"rules:\n  - match: '{match}'{text}")
    return HeldDialogue(filters=Filters(rule_filters(rules, lambda: 0.0, 0.0)))


def test_a_rule_refuses_what_is_inside_in_its_own_form() -> None:
    dialogue = under("~api CreateTopics & ~client admin-*", "error: POLICY_VIOLATION")
    assert dialogue.ask(forwarded()) == b""
    (result,) = inner_response(dialogue.at_client).topics
    assert (result.name, result.error_code) == ("orders", 44)


def test_a_rule_patches_what_is_inside() -> None:
    dialogue = under("~topic orders", "patch: {topics.num_partitions: 6}")
    request = inner_request(dialogue.ask(forwarded()))
    assert isinstance(request, CreateTopicsRequest)
    assert request.topics[0].num_partitions == 6


@pytest.mark.parametrize(
    ("match", "line", "client"),
    [
        ("~client broker-1", "error: INVALID_REQUEST", 42),
        ("~api Envelope", "error: INVALID_REQUEST", 42),
    ],
)
def test_a_rule_that_means_the_envelope_acts_on_it(match: str, line: str, client: int) -> None:
    dialogue = under(match, line)
    dialogue.ask(forwarded())
    envelope = decode_response(dialogue.at_client[4:], 58, 0).body
    assert envelope == EnvelopeResponse(error_code=client)


@pytest.mark.parametrize("match", ["~to 3000", "~api CreateTopics", "~api CreateTopics,Envelope"])
def test_a_rule_acts_once_on_an_envelope(match: str) -> None:
    dialogue = under(match, "delay: 2s")
    dialogue.ask(forwarded())
    dialogue.now_is(2.0)
    assert dialogue.at_node == forwarded()
    dialogue.hang_up()
    assert dialogue.flows[0].effects == (Effect.HELD, Effect.DELAYED)


@pytest.mark.parametrize(
    "match",
    ["~api CreateTopics", "~topic orders", "~client admin-5", "topics.num_partitions==1", "~v 7"],
)
def test_an_envelope_is_held_for_what_is_in_it(match: str) -> None:
    told: list[Flow] = []
    stop = Intercept(parse(match), told.append)
    dialogue = through(stop)
    assert dialogue.ask(forwarded()) == b""
    assert [flow.api for flow in told] == ["Envelope"]
    stop.release()
    assert dialogue.at_node == forwarded()
    assert dialogue.answer(returned()) == returned()


def test_what_is_inside_of_a_held_envelope_is_edited() -> None:
    told: list[Flow] = []
    stop = Intercept(parse("~api CreateTopics | ~err *"), told.append)
    dialogue = through(stop)
    dialogue.ask(forwarded())
    stop.edit(told[0], "CreateTopicsRequest.topics.num_partitions", 9)
    for path, value, said in (
        ("CreateTopicsRequest.nothing", 1, "CreateTopicsRequest has no field 'nothing'"),
        ("CreateTopicsRequest.timeout_ms", "x", "cannot be that at version 7"),
        ("CreateTopicsResponse.throttle_time_ms", 1, "has no field 'CreateTopicsResponse'"),
    ):
        with pytest.raises(InvalidValue, match=said):
            stop.edit(told[0], path, value)
    stop.release()
    request = inner_request(dialogue.at_node)
    assert isinstance(request, CreateTopicsRequest)
    assert request.topics == [CreatableTopic(name="orders", num_partitions=9)]
    dialogue.answer(returned(EXISTS))
    stop.edit(told[0], "CreateTopicsResponse.topics.0.error_code", 0)
    stop.release()
    assert inner_response(dialogue.at_client) == CREATED


def test_what_is_held_of_an_answer_is_what_rules_left_inside() -> None:
    stop = Intercept(parse("~err POLICY_VIOLATION"), lambda flow: None)
    rule = "rules: [{match: ~api CreateTopics, direction: response, error: POLICY_VIOLATION}]"
    dialogue = through(stop, *rule_filters(read_rules(rule), lambda: 0.0, 0.0))
    dialogue.ask(forwarded())
    assert dialogue.answer(returned()) == b""
    stop.release()
    (result,) = inner_response(dialogue.at_client).topics
    assert result.error_code == 44


def test_the_answer_in_an_envelope_is_held_for_its_error() -> None:
    stop = Intercept(parse("~err TOPIC_ALREADY_EXISTS"), lambda flow: None)
    dialogue = through(stop)
    dialogue.ask(forwarded(number=1) + forwarded(number=2))
    assert dialogue.answer(returned(number=1)) == returned(number=1)
    assert dialogue.answer(returned(EXISTS, 2)) == returned(number=1)
    stop.release()
    assert dialogue.at_client == returned(number=1) + returned(EXISTS, 2)


def test_addresses_inside_are_rewritten_too() -> None:
    openings = InstantListeners()
    dialogue = through(RewriteEndpoints(openings.book))
    added = AddRaftVoterRequest(
        voter_id=3001, listeners=[Listener(name="CONTROLLER", host="here", port=9093)]
    )
    request = inner_request(dialogue.ask(forwarded(added, 1)))
    assert isinstance(request, AddRaftVoterRequest)
    assert request.listeners == [Listener(name="CONTROLLER", host="proxy.example.org", port=20_001)]


@pytest.mark.parametrize(("error_code", "believed"), [(0, [Address("here", 9093)]), (31, [])])
def test_addresses_inside_count_when_the_answer_inside_accepts_them(
    error_code: int, believed: list[Address]
) -> None:
    openings = InstantListeners()
    dialogue = through(RewriteEndpoints(openings.book))
    added = AddRaftVoterRequest(listeners=[Listener(name="C", host="here", port=9093)])
    dialogue.ask(forwarded(added, 1))
    ((named, _),) = openings.requests
    assert not named.by_node
    data = answered(AddRaftVoterResponse(error_code=error_code), 1, 77)[4:]
    dialogue.answer(answered(EnvelopeResponse(response_data=data), 0, 1))
    assert named.flow is dialogue.flows[0]
    assert openings.believed == believed
