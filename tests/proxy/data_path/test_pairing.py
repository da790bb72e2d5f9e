"""A response finds its request; what is passed over, foreign or never answered is seen."""

from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.proxy import NoticeKind, Outcome
from tests.support.proxy.dialogue import Dialogue, answered, asked


def vote(correlation_id: int) -> bytes:
    return asked(VoteRequest(), 2, correlation_id)


def granted(correlation_id: int) -> bytes:
    return answered(VoteResponse(), 2, correlation_id)


def test_a_flow_has_the_times_and_sizes_of_both_frames() -> None:
    dialogue = Dialogue()
    dialogue.ask(vote(5))
    dialogue.now += 8
    dialogue.answer(granted(5))
    (flow,) = dialogue.flows
    assert (flow.api, flow.version, flow.correlation_id) == ("Vote", 2, 5)
    assert (flow.at, flow.latency) == (1_000_001.0, 9.0)
    assert (flow.request_size, flow.response_size) == (len(vote(5)) - 4, len(granted(5)) - 4)
    assert flow.outcome is Outcome.ANSWERED
    assert flow.problems == []


def test_pipelined_requests_are_paired_in_order_even_with_one_id_twice() -> None:
    dialogue = Dialogue()
    dialogue.ask(vote(1), vote(1), vote(2))
    dialogue.answer(granted(1), granted(1), granted(2))
    assert [flow.asked for flow in dialogue.flows] == [1.0, 2.0, 3.0]
    assert all(flow.outcome is Outcome.ANSWERED for flow in dialogue.flows)


def test_a_request_that_is_passed_over_is_lost_and_the_later_one_paired() -> None:
    dialogue = Dialogue()
    dialogue.ask(vote(1), vote(2))
    dialogue.answer(granted(2))
    assert [(flow.correlation_id, flow.outcome) for flow in dialogue.flows] == [
        (1, Outcome.LOST),
        (2, Outcome.ANSWERED),
    ]
    assert dialogue.flows[0].problems == ["passed over: correlation id 2 was answered first"]


def test_a_response_that_nobody_asked_for_passes_and_is_told_once() -> None:
    dialogue = Dialogue()
    dialogue.ask(vote(1))
    assert dialogue.answer(granted(9), granted(8)) == granted(9) + granted(8)
    dialogue.answer(granted(1))
    assert [notice.kind for notice in dialogue.notices] == [NoticeKind.UNREADABLE]
    assert "correlation id 9" in dialogue.notices[0].text
    assert [flow.outcome for flow in dialogue.flows] == [Outcome.ANSWERED]


def test_requests_without_a_response_end_with_the_connection() -> None:
    dialogue = Dialogue()
    dialogue.ask(vote(1), vote(2)[:-3])
    dialogue.hang_up()
    assert [flow.outcome for flow in dialogue.flows] == [Outcome.LOST, Outcome.LOST]
    assert dialogue.flows[0].problems == ["the connection ended: the client closed"]
    assert dialogue.flows[0].request_copy == vote(1)[4:]
    assert dialogue.copies.held == 0


def sender(dialogue: Dialogue) -> str:
    """Return how the last request names who sent it."""
    dialogue.answer(answered(ApiVersionsResponse(), 4, 0), answered(VoteResponse(), 2, 1))
    return dialogue.flows[-1].sender


def test_a_node_is_known_by_its_raft_client_id() -> None:
    dialogue = Dialogue()
    dialogue.ask(asked(VoteRequest(), 2, 1, "raft-client-3001"))
    assert dialogue.connection.peer == 3001
    assert sender(dialogue) == "node 3001"


def test_a_number_is_a_node_once_it_asks_what_only_nodes_ask() -> None:
    dialogue = Dialogue()
    dialogue.ask(asked(ApiVersionsRequest(), 4, 0, "0"))
    assert dialogue.connection.peer is None
    assert sender(dialogue) == "0"
    dialogue.ask(asked(BrokerHeartbeatRequest(broker_id=0), 2, 1, "0"))
    assert dialogue.connection.peer == 0


def test_bare_sasl_tokens_are_neither_read_nor_copied() -> None:
    from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

    token = b"\0alice\0open sesame"
    sent = len(token).to_bytes(4, "big") + token
    dialogue = Dialogue()
    dialogue.ask(asked(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1))
    dialogue.answer(answered(SaslHandshakeResponse(), 0, 1))
    assert dialogue.ask(sent) == sent
    assert dialogue.answer(bytes(4)) == bytes(4)
    dialogue.ask(asked(ApiVersionsRequest(), 4, 2))
    dialogue.answer(answered(ApiVersionsResponse(), 4, 2))
    assert [flow.api for flow in dialogue.flows] == ["SaslHandshake", "ApiVersions"]
    (told,) = dialogue.notices
    assert told.text == "1 bare tokens passed unread after SaslHandshake v0"
    assert b"sesame" not in repr(dialogue.events).encode()
