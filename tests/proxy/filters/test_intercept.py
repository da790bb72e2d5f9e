"""Held messages: requests, and responses if the expression is about them."""

import pytest

from kwire.errors import InvalidValue
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.net.frames import decode_response
from kwire.proxy import Call, Close, Copies, Drop, Filter, Filters, Flow, Outcome
from kwire.proxy.filters.intercept import Intercept
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.language import parse
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import HeldDialogue

VOTE, OTHER_VOTE = (asked(VoteRequest(), 2, number) for number in (1, 2))
GRANTED, OTHER_GRANTED = (answered(VoteResponse(), 2, number) for number in (1, 2))
REFUSED = answered(VoteResponse(error_code=87), 2, 1)


class Holding(HeldDialogue):
    """A dialogue in which some messages are held. told: the flows that began to wait."""

    def __init__(self, match: str, *before: Filter, memory: Copies | None = None) -> None:
        self.intercepted: list[Flow] = []
        self.stop = Intercept(parse(match), self.intercepted.append)
        filters = Filters([self.stop, *before])
        super().__init__(filters=filters, memory=memory or Copies())


def test_a_response_waits_and_what_is_behind_it_waits_too() -> None:
    dialogue = Holding("~api Vote & ~response")
    assert dialogue.ask(VOTE, OTHER_VOTE) == VOTE + OTHER_VOTE
    assert dialogue.answer(GRANTED, OTHER_GRANTED) == b""
    assert [one.message for one in dialogue.stop.waiting] == [VoteResponse()] * 2
    assert dialogue.intercepted[0].latency is not None
    assert dialogue.intercepted[0].outcome is Outcome.PENDING
    held = dialogue.memory.held
    assert held == len(GRANTED + OTHER_GRANTED)
    assert dialogue.stop.release()
    assert dialogue.at_client == GRANTED
    assert dialogue.stop.release(flow=dialogue.intercepted[1])
    assert dialogue.at_client == GRANTED + OTHER_GRANTED
    assert dialogue.memory.held == 0
    assert [flow.outcome for flow in dialogue.flows] == [Outcome.ANSWERED] * 2


@pytest.mark.parametrize(
    ("match", "answer", "waits"),
    [
        ("~err *", GRANTED, []),
        ("~err *", REFUSED, [Direction.RESPONSE]),
        ("~lat >=1s", GRANTED, [Direction.RESPONSE]),
        ("~lat >1m", GRANTED, []),
        ("response.error_code==87 & request.voter_id==-1", REFUSED, [Direction.RESPONSE]),
        ("response.error_code==87 & request.voter_id==1", REFUSED, []),
        ("~api Vote", REFUSED, [Direction.REQUEST]),
        ("~api Vote & !~response | ~err 41", REFUSED, [Direction.REQUEST]),
        ("~api Vote | ~err *", REFUSED, [Direction.REQUEST, Direction.RESPONSE]),
    ],
)
def test_the_expression_says_which_message_waits(
    match: str, answer: bytes, waits: list[Direction]
) -> None:
    dialogue = Holding(match)
    seen = []
    dialogue.ask(VOTE)
    if dialogue.stop.release():
        seen.append(Direction.REQUEST)
    dialogue.answer(answer)
    if dialogue.stop.release():
        seen.append(Direction.RESPONSE)
    assert seen == waits
    assert (dialogue.at_node, dialogue.at_client) == (VOTE, answer)


def test_a_held_response_is_edited() -> None:
    dialogue = Holding("~response")
    dialogue.ask(VOTE)
    dialogue.answer(GRANTED)
    (flow,) = dialogue.intercepted
    with pytest.raises(InvalidValue, match="VoteResponse has no field 'voter_id'"):
        dialogue.stop.edit(flow, "voter_id", 1)
    with pytest.raises(InvalidValue, match="error_code cannot be that at version 2"):
        dialogue.stop.edit(flow, "error_code", 1 << 40)
    dialogue.stop.edit(flow, "error_code", 87)
    assert decode_response(dialogue.stop.waiting[0].frame, 52, 2).body == VoteResponse(
        error_code=87
    )
    dialogue.stop.release()
    assert dialogue.at_client == REFUSED
    assert flow.notes == ("changed by a filter",)


def test_an_edit_that_would_make_a_message_much_longer_is_refused() -> None:
    dialogue = Holding("~api CreateTopics")
    frame = asked(CreateTopicsRequest(topics=[CreatableTopic(name="a")] * 1000), 7, 1)
    dialogue.ask(frame)
    (flow,) = dialogue.intercepted
    with pytest.raises(InvalidValue, match=r"topics\.name would make the message 4999000 bytes"):
        dialogue.stop.edit(flow, "topics.name", "A" * 5000)
    for letter in "ABC":  # each in the place of the one before
        dialogue.stop.edit(flow, "topics.name", letter * 3000)
    dialogue.stop.release()
    assert len(dialogue.at_node) == len(frame) + 1000 * (2999 + 1)


def test_an_edit_that_is_no_hexadecimal_is_refused() -> None:
    dialogue = Holding("~api Envelope")
    dialogue.ask(asked(EnvelopeRequest(client_host_address=b"\x7f"), 0, 1))
    with pytest.raises(InvalidValue, match="'zz' is not in hexadecimal"):
        dialogue.stop.edit(dialogue.intercepted[0], "client_host_address", "zz")
    dialogue.stop.edit(dialogue.intercepted[0], "client_host_address", "0a")
    dialogue.stop.release()
    assert dialogue.at_node == asked(EnvelopeRequest(client_host_address=b"\n"), 0, 1)


def test_an_api_versions_that_fell_back_is_edited_in_its_own_version() -> None:
    dialogue = Holding("~response")
    dialogue.ask(asked(ApiVersionsRequest(), 4, 1))
    dialogue.answer(answered(ApiVersionsResponse(error_code=35), 4, 1))
    (waiting,) = dialogue.stop.waiting
    dialogue.stop.edit(waiting.flow, "error_code", 35)
    assert decode_response(waiting.frame, 18, 4).version == 0
    dialogue.stop.release()
    assert decode_response(dialogue.at_client[4:], 18, 4).version == 0


def test_a_held_response_is_dropped_or_its_connection_killed() -> None:
    dialogue = Holding("~response")
    dialogue.ask(VOTE, OTHER_VOTE)
    dialogue.answer(GRANTED, OTHER_GRANTED)
    dialogue.stop.release(Drop())
    assert dialogue.at_client == b""
    assert dialogue.flows[0].notes == ("response dropped by Intercept",)
    dialogue.stop.release(Close())
    assert dialogue.reasons == ["closed by Intercept"]
    dialogue.hang_up()
    assert dialogue.memory.held == dialogue.copies.held == 0


def test_what_another_filter_left_and_cannot_be_sent_is_not_edited() -> None:
    class Spoil(Filter):
        def on_vote_response(self, response: VoteResponse, call: Call) -> None:
            response.error_code = "much"  # type: ignore[assignment]

    dialogue = Holding("~response", Spoil())
    dialogue.ask(VOTE)
    dialogue.answer(GRANTED)
    with pytest.raises(InvalidValue, match="a filter left what cannot be sent"):
        dialogue.stop.edit(dialogue.intercepted[0], "error_code", 1)
    dialogue.stop.release()
    assert dialogue.at_client == GRANTED


def test_a_response_for_which_there_is_no_room_is_not_held() -> None:
    memory = Copies(1000, 1000)
    dialogue = Holding("~response", memory=memory)
    dialogue.ask(VOTE, OTHER_VOTE)
    assert memory.take(1000 - len(GRANTED))
    dialogue.answer(GRANTED, OTHER_GRANTED)
    assert len(dialogue.stop.waiting) == 1
    dialogue.stop.release()
    assert dialogue.at_client == GRANTED + OTHER_GRANTED
    assert dialogue.flows[0].problems == ["not filtered: the memory for held frames is used up"]
    assert memory.held == 1000 - len(GRANTED)


@pytest.mark.parametrize("match", ["~api Vote", "~api Vote & ~response"])
@pytest.mark.parametrize("early", [False, True])
def test_a_client_that_has_said_its_last_waits_for_nobody(match: str, early: bool) -> None:
    dialogue = Holding(match)
    if early:
        dialogue.runner.input_ended(Direction.REQUEST)
    dialogue.ask(VOTE)
    dialogue.answer(*[] if dialogue.stop.waiting else [GRANTED])
    if not early:
        assert dialogue.reasons == []
        dialogue.runner.input_ended(Direction.REQUEST)
    assert dialogue.reasons == ["the client closed while its Vote was held"]
    dialogue.hang_up()
    assert dialogue.stop.waiting == ()
    assert dialogue.memory.held == dialogue.copies.held == 0
    (flow,) = dialogue.flows
    assert flow.problems[0].endswith("was held at the end")
