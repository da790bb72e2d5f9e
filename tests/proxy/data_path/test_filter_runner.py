"""Filters act in order; messages that they do not want or change pass unchanged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.codec.declaration import Request, Response
from kwire.errors import InvalidValue
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.net.frames import decode_request, decode_response
from kwire.proxy import (
    Answer,
    Call,
    ClientConnection,
    Close,
    Copies,
    Delay,
    Drop,
    Filter,
    Filters,
    NoticeKind,
    Outcome,
    Stall,
    at,
)
from kwire.proxy.flows.interest import Direction
from tests.support.proxy.data_path.streams import REQUESTS, RESPONSES, cuts
from tests.support.proxy.dialogue import answered, asked, pieces
from tests.support.proxy.filter_dialogue import HeldDialogue, through
from tests.support.proxy.observing_filter import ObservingFilter

VOTE = asked(VoteRequest(cluster_id="c"), 2, 1)
VOTED = answered(VoteResponse(), 2, 1)
DESCRIBE = asked(DescribeQuorumRequest(), 2, 2)
DESCRIBED = answered(DescribeQuorumResponse(error_code=41), 2, 2)


class Slow(Filter):
    def on_vote_request(self, request: VoteRequest, call: Call) -> Delay:
        return Delay(5.0)


@settings(max_examples=60)
@given(cuts, cuts)
def test_what_no_filter_changes_passes_as_it_came_however_it_is_cut(
    request_cuts: list[int], response_cuts: list[int]
) -> None:
    look = ObservingFilter()
    dialogue = through(look)
    asks, answers = b"".join(REQUESTS), b"".join(RESPONSES)
    assert dialogue.ask(*pieces(asks, request_cuts)) == asks
    assert dialogue.answer(*pieces(answers, response_cuts)) == answers
    assert len(look.seen) == len(REQUESTS) + len(RESPONSES)
    assert [flow.problems for flow in dialogue.flows if flow.problems] == []
    assert (dialogue.memory.held, dialogue.copies.held) == (0, 0)


@settings(max_examples=150)
@given(st.binary(max_size=200), st.binary(max_size=200), cuts)
def test_of_any_bytes_no_more_waits_than_an_unfinished_frame(
    asks: bytes, answers: bytes, places: list[int]
) -> None:
    dialogue = through(ObservingFilter())
    dialogue.ask(*pieces(asks, places))
    dialogue.answer(*pieces(answers, places))
    assert asks.startswith(dialogue.at_node)
    assert answers.startswith(dialogue.at_client)
    if not dialogue.requests.unfinished or dialogue.requests.lost:
        assert dialogue.at_node == asks
    if not dialogue.responses.unfinished or dialogue.responses.lost:
        assert dialogue.at_client == answers
    dialogue.hang_up()
    assert (dialogue.memory.held, dialogue.copies.held) == (0, 0)


def test_a_frame_that_kwire_would_write_otherwise_passes_as_it_came() -> None:
    long_varint = VOTE.replace(b"\x02c", b"\x82\x00c")  # the length of "c" in two bytes
    frame = (len(long_varint) - 4).to_bytes(4, "big") + long_varint[4:] + b"behind"
    frame = (len(frame) - 4).to_bytes(4, "big") + frame[4:]
    assert through(ObservingFilter()).ask(frame) == frame


def test_a_change_reaches_the_node_with_header_tags_and_left_over_bytes_kept() -> None:
    class Rename(Filter):
        def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            request.cluster_id = "another cluster"

    head = VOTE[4:14] + b"me"
    body = VOTE[4 + len(head) + 1 :]
    content = head + b"\x01\x05\x02ab" + body + b"behind"
    sent = through(Rename()).ask(len(content).to_bytes(4, "big") + content)
    assert sent[4 : 4 + len(head) + 5] == head + b"\x01\x05\x02ab"
    assert sent.endswith(b"behind")
    seen = decode_request(sent[4:])
    assert isinstance(seen.body, VoteRequest)
    assert (seen.body.cluster_id, seen.left_over) == ("another cluster", 6)


def test_a_held_request_keeps_those_behind_it_waiting_in_order() -> None:
    dialogue = through(Slow())
    assert dialogue.ask(VOTE + DESCRIBE) == b""
    dialogue.now_is(4.9)
    assert dialogue.at_node == b""
    dialogue.now_is(5.0)
    assert dialogue.at_node == VOTE + DESCRIBE
    dialogue.answer(VOTED, DESCRIBED)
    assert [flow.notes for flow in dialogue.flows] == [("delayed 5 s by Slow",), ()]


def test_an_answer_waits_for_the_answers_to_earlier_requests() -> None:
    class Answers(Filter):
        def on_describe_quorum_request(self, request: DescribeQuorumRequest, call: Call) -> Answer:
            return Answer(DescribeQuorumResponse(error_code=41))

    dialogue = through(Answers())
    later = asked(VoteRequest(), 2, 3)
    assert dialogue.ask(VOTE + DESCRIBE + later) == VOTE + later
    assert dialogue.at_client == b""
    for piece in pieces(VOTED, [3, 9, 12]):
        assert dialogue.at_client == VOTED[: len(dialogue.at_client)]
        dialogue.answer(piece)
    assert dialogue.at_client == VOTED + DESCRIBED
    dialogue.answer(answered(VoteResponse(), 2, 3))
    notes = [(flow.outcome, flow.notes) for flow in dialogue.flows]
    assert notes[1] == (Outcome.ANSWERED, ("answered by Answers",))
    assert not dialogue.notices


def test_an_answer_never_cuts_a_response_that_is_passing() -> None:
    class AnswersLater(Filter):
        def on_describe_quorum_request(self, request: DescribeQuorumRequest, call: Call) -> Delay:
            return Delay(5.0, Answer(DescribeQuorumResponse(error_code=41)))

    dialogue = through(AnswersLater())
    dialogue.ask(VOTE + DESCRIBE)
    dialogue.answer(VOTED[:12])
    dialogue.now_is(5.0)
    assert dialogue.at_client == VOTED[:12]
    assert dialogue.answer(VOTED[12:]) == VOTED + DESCRIBED


def test_an_answer_to_the_only_request_goes_out_at_once() -> None:
    class Refuse(Filter):
        def on_request(self, request: Request, call: Call) -> Answer:
            return Answer(VoteResponse(error_code=41))

    dialogue = through(Refuse())
    assert dialogue.ask(VOTE) == b""
    assert dialogue.at_client == answered(VoteResponse(error_code=41), 2, 1)


def test_a_response_is_replaced_or_changed_and_its_request_is_known() -> None:
    class Change(Filter):
        def on_vote_request(self, request: VoteRequest, call: Call) -> None: ...

        def on_vote_response(self, response: VoteResponse, call: Call) -> None:
            assert isinstance(call.request, VoteRequest)
            response.error_code = 87 if call.request.cluster_id == "c" else 0

        def on_describe_quorum_response(self, response: Response, call: Call) -> Answer:
            return Answer(DescribeQuorumResponse(error_message="no"))

    dialogue = through(Change())
    dialogue.ask(VOTE + DESCRIBE)
    dialogue.answer(VOTED + DESCRIBED)
    sent = [
        answered(VoteResponse(error_code=87), 2, 1),
        answered(DescribeQuorumResponse(error_message="no"), 2, 2),
    ]
    assert dialogue.at_client == b"".join(sent)
    # Recordings and viewers have what the client got, too.
    assert [flow.response_copy for flow in dialogue.flows] == [frame[4:] for frame in sent]
    assert [flow.response_size for flow in dialogue.flows] == [len(frame) - 4 for frame in sent]
    assert dialogue.copies.held == 0


@pytest.mark.parametrize("direction", list(Direction))
def test_a_dropped_message_reaches_nobody_and_the_next_one_does(direction: Direction) -> None:
    class Lose(Filter):
        apis = frozenset({"Vote"})

        def on_request(self, request: Request, call: Call) -> Drop | None:
            return Drop() if direction is Direction.REQUEST else None

        def on_response(self, response: Response, call: Call) -> Drop | None:
            return Drop() if direction is Direction.RESPONSE else None

    dialogue = through(Lose())
    dialogue.ask(VOTE + DESCRIBE)
    if direction is Direction.RESPONSE:
        assert dialogue.at_node == VOTE + DESCRIBE
        dialogue.answer(VOTED)
    else:
        assert dialogue.at_node == DESCRIBE
    assert dialogue.answer(DESCRIBED) == DESCRIBED
    assert f"{direction.value} dropped by Lose" in dialogue.flows[0].notes
    assert not dialogue.notices


def test_close_and_stall_do_what_they_say_and_leave_nothing_behind() -> None:
    class End(Filter):
        def on_vote_request(self, request: VoteRequest, call: Call) -> Stall:
            return Stall()

        def on_describe_quorum_request(self, request: Request, call: Call) -> Close:
            return Close()

    dialogue = through(End())
    dialogue.ask(VOTE, DESCRIBE)
    assert dialogue.at_node == b""
    assert dialogue.reasons == ["closed by End"]
    dialogue.hang_up()
    assert [flow.outcome for flow in dialogue.flows] == [Outcome.LOST, Outcome.LOST]
    assert (dialogue.memory.held, dialogue.copies.held) == (0, 0)


def test_a_filter_asks_the_node_itself_and_the_client_sees_nothing_of_it() -> None:
    class Ask(Filter):
        async def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            await call.pause(1.0)
            told = await call.ask(DescribeQuorumRequest(), version=2)
            assert isinstance(told, DescribeQuorumResponse)
            request.cluster_id = told.error_message

    dialogue = through(Ask())
    dialogue.ask(VOTE + DESCRIBE)
    dialogue.now_is(1.0)
    own = decode_request(dialogue.at_node[4:])
    assert isinstance(own.body, DescribeQuorumRequest)
    number = own.header.correlation_id
    assert number not in (1, 2)
    dialogue.at_node = b""
    reply = answered(DescribeQuorumResponse(error_message="cluster"), 2, number)
    assert dialogue.answer(*pieces(reply, [2, 7, 11])) == b""
    vote = decode_request(dialogue.at_node[4 : -len(DESCRIBE)])
    assert isinstance(vote.body, VoteRequest)
    assert vote.body.cluster_id == "cluster"
    assert dialogue.answer(VOTED, DESCRIBED) == VOTED + DESCRIBED
    assert dialogue.flows[0].notes == ("asked by a filter",)
    assert not dialogue.notices


def test_a_request_of_a_filter_never_cuts_a_frame_that_is_passing() -> None:
    class Ask(Filter):
        async def on_vote_response(self, response: VoteResponse, call: Call) -> None:
            await call.ask(DescribeQuorumRequest(), 2)

    dialogue = through(Ask())
    dialogue.ask(VOTE + DESCRIBE[:17])
    dialogue.answer(VOTED)
    assert dialogue.at_node == VOTE + DESCRIBE[:17]
    dialogue.ask(DESCRIBE[17:])
    assert dialogue.at_node.startswith(VOTE + DESCRIBE)
    assert len(dialogue.at_node) > len(VOTE + DESCRIBE)


@pytest.mark.parametrize("drop", [False, True])
def test_a_broken_filter_is_told_once_and_its_frame_forwarded_or_dropped(drop: bool) -> None:
    class Broken(Filter):
        def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            request.cluster_id = "half changed"
            raise KeyError("no such thing")

    dialogue = through(Broken(), drop_on_error=drop)
    again = asked(VoteRequest(), 2, 5)
    assert dialogue.ask(VOTE, again) == (b"" if drop else VOTE + again)
    (notice,) = dialogue.notices
    assert notice.kind is NoticeKind.FILTER_FAILED
    fate = "dropped" if drop else "sent on as it came"
    assert notice.text.startswith(
        f"Vote v2: Broken.on_vote_request failed, the message is {fate}: KeyError"
    )


def test_a_coroutine_that_awaits_something_else_is_a_broken_filter() -> None:
    class Foreign:
        def __await__(self):  # type: ignore[no-untyped-def]
            yield self

    class Waits(Filter):
        async def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            await Foreign()

    dialogue = through(Waits())
    assert dialogue.ask(VOTE) == VOTE
    assert "await call.pause, call.ask and" in dialogue.notices[0].text


@pytest.mark.parametrize("value", ["no number", 1 << 40, None])
def test_a_value_that_has_no_bytes_is_not_sent(value: object) -> None:
    class Nonsense(Filter):
        def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            request.voter_id = value  # type: ignore[assignment]  # what a script may do

    dialogue = through(Nonsense())
    assert dialogue.ask(VOTE) == VOTE
    dialogue.hang_up()
    assert (
        dialogue.flows[0]
        .problems[0]
        .startswith("Nonsense.on_vote_request left a message that cannot be encoded")
    )


def test_what_cannot_be_decoded_and_what_is_unknown_passes() -> None:
    short = (len(VOTE) - 5).to_bytes(4, "big") + VOTE[4:-1]
    unknown = bytes.fromhex("0000000c 270f 0003 00000002 ffff beef".replace(" ", ""))
    dialogue = through(ObservingFilter())
    assert dialogue.ask(short, unknown) == short + unknown
    dialogue.hang_up()
    assert dialogue.flows[0].problems[0].startswith("not filtered: VoteRequest v2")


@pytest.mark.parametrize("memory", [Copies(20, 1000), Copies(1000, 20)])
def test_frames_above_the_memory_pass_without_filters(memory: Copies) -> None:
    frame = asked(VoteRequest(cluster_id="c" * 100), 2, 7)
    dialogue = HeldDialogue(filters=Filters([Slow()]), memory=memory)
    assert dialogue.ask(*pieces(frame, range(0, 200, 7)), DESCRIBE) == frame + DESCRIBE
    assert dialogue.ask(frame) == frame + DESCRIBE + frame
    assert memory.held == 0
    dialogue.hang_up()
    for flow in (dialogue.flows[0], dialogue.flows[2]):
        assert flow.problems[0].startswith("not filtered")
    (notice,) = dialogue.notices
    assert notice.kind is NoticeKind.NOT_FILTERED
    assert notice.text.startswith("Vote v2 passed as it came: ")


def test_a_crowd_behind_a_held_frame_stops_the_reading_until_it_has_gone() -> None:
    dialogue = through(Slow())
    produced = asked(ProduceRequest(acks=0, transactional_id="t" * 30_000), 9, 3)
    dialogue.ask(VOTE, *[produced] * 40)
    assert dialogue.crowds == [(Direction.REQUEST, True)]
    dialogue.now_is(5.0)
    assert dialogue.crowds[1:] == [(Direction.REQUEST, False)]
    assert dialogue.at_node == VOTE + produced * 40


def test_requests_meet_filters_first_to_last_and_responses_last_to_first() -> None:
    order: list[str] = []

    class Mark(Filter):
        def __init__(self, mark: str) -> None:
            self.mark = mark

        def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            order.append(self.mark)

        def on_vote_response(self, response: VoteResponse, call: Call) -> None:
            order.append(self.mark)

    dialogue = through(Mark("a"), Mark("b"))
    dialogue.ask(VOTE)
    dialogue.answer(VOTED)
    assert order == ["a", "b", "b", "a"]


def test_what_is_wanted_is_known_beforehand_by_api_version_and_direction() -> None:
    class Some(Filter):
        @at("1-2")
        def on_vote_request(self, request: VoteRequest, call: Call) -> None: ...

    filters = Filters([Some()])
    wanted = [bool(filters.handlers(52, version, Direction.REQUEST)) for version in range(4)]
    assert wanted == [False, True, True, False]
    assert not filters.handlers(52, 1, Direction.RESPONSE)
    assert not filters.handlers(9999, 1, Direction.REQUEST)


def test_a_method_named_after_no_message_is_refused_with_the_likely_name() -> None:
    class Typo(Filter):
        def on_fetsch_request(self, request: Request, call: Call) -> None: ...

    with pytest.raises(InvalidValue, match=r"did you mean on_fetch_request\?"):
        Filters([Typo()])
    with pytest.raises(InvalidValue, match="no API is called 'Fetsch'"):
        Filters([type("Other", (Filter,), {"apis": {"Fetsch"}})()])


def test_filters_may_be_replaced_while_traffic_flows() -> None:
    dialogue = through(Slow())
    dialogue.filters.replace([])
    assert dialogue.ask(VOTE) == VOTE


@pytest.mark.parametrize(("verdict", "reached"), [(None, True), (Close(), False), (Stall(), False)])
def test_a_client_is_let_through_to_the_node_or_not(verdict: Close | None, reached: bool) -> None:
    class Door(Filter):
        def on_connect(self, connection: ClientConnection) -> Close | None:
            return verdict

    dialogue = through(Door())
    calls: list[int] = []
    dialogue.runner.connect(lambda: calls.append(1))
    assert bool(calls) is reached
    assert dialogue.reasons == (["refused by Door"] if verdict == Close() else [])


def test_api_versions_that_fell_back_to_v0_are_changed_as_v0() -> None:
    class Touch(Filter):
        def on_api_versions_response(self, response: ApiVersionsResponse, call: Call) -> None:
            response.api_keys = []

    dialogue = through(Touch())
    dialogue.ask(asked(ApiVersionsRequest(), 4, 9))
    body = ApiVersionsResponse(error_code=35)
    fallen = body.encode(0)
    frame = (len(fallen) + 4).to_bytes(4, "big") + (9).to_bytes(4, "big") + fallen
    dialogue.answer(frame)
    assert decode_response(dialogue.at_client[4:], 18, 4).version == 0
