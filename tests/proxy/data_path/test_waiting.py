"""Frames that filters hold: each waits for itself, all leave in order, and none is lost."""

from collections.abc import Callable
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.errors import LocalError
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.frames import request_head
from kwire.proxy import Call, Delay, Drop, Filter
from kwire.proxy.filters.filter import FilterVerdict
from kwire.proxy.flows.interest import Direction
from tests.support.proxy.data_path.streams import cuts
from tests.support.proxy.dialogue import answered, asked, pieces
from tests.support.proxy.filter_dialogue import through


def vote(number: int) -> bytes:
    return asked(VoteRequest(cluster_id=str(number)), 2, number)


class Slow(Filter):
    def on_vote_request(self, request: VoteRequest, call: Call) -> Delay:
        return Delay(5.0)


class Holding(Filter):
    """Holds every Vote until the test lets it go. waiting: by correlation id."""

    def __init__(self) -> None:
        self.waiting: dict[int, Callable[[FilterVerdict], None]] = {}

    async def on_vote_request(self, request: VoteRequest, call: Call) -> FilterVerdict:
        return await self._hold(call)

    async def on_vote_response(self, response: VoteResponse, call: Call) -> FilterVerdict:
        return await self._hold(call)

    async def _hold(self, call: Call) -> FilterVerdict:
        def begin(resume: Callable[[FilterVerdict], None]) -> None:
            self.waiting[call.flow.correlation_id] = resume

        return await call.until(begin)


def test_delays_of_requests_that_follow_each_other_do_not_add_up() -> None:
    dialogue = through(Slow())
    dialogue.ask(vote(1), vote(2))
    dialogue.now_is(3.0)
    dialogue.ask(vote(3))
    dialogue.now_is(5.0)
    assert dialogue.at_node == vote(1) + vote(2)
    dialogue.now_is(8.0)
    assert dialogue.at_node == vote(1) + vote(2) + vote(3)


@settings(max_examples=100)
@given(
    st.permutations(range(6)),
    st.lists(st.booleans(), min_size=6, max_size=6),
    cuts,
    st.integers(0, 6),
)
def test_frames_leave_in_the_order_in_which_they_came_whichever_is_decided_first(
    decided: list[int], dropped: list[bool], places: list[int], early: int
) -> None:
    holding = Holding()
    dialogue = through(holding)
    passing = [asked(ApiVersionsRequest(), 0, 100 + number) for number in range(6)]
    stream = b"".join(vote(number) + passing[number] for number in range(6))
    chunks = pieces(stream, places)
    half = len(chunks) // 2
    dialogue.ask(*chunks[:half])
    order = [number for number in decided if number in holding.waiting][:early]
    for number in order:
        holding.waiting.pop(number)(Drop() if dropped[number] else None)
    dialogue.ask(*chunks[half:])
    for number in decided:
        if number not in order:
            holding.waiting.pop(number)(Drop() if dropped[number] else None)
    expected = ((b"" if dropped[n] else vote(n)) + passing[n] for n in range(6))
    assert dialogue.at_node == b"".join(expected)
    assert dialogue.memory.held == 0


def test_the_answer_to_a_filter_does_not_wait_behind_a_held_response() -> None:
    class Asking(Holding):
        async def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            if request.cluster_id == "2":
                await call.ask(ApiVersionsRequest(), 0)

    holding = Asking()
    dialogue = through(holding)
    dialogue.ask(vote(1))
    dialogue.answer(answered(VoteResponse(), 2, 1))
    dialogue.ask(vote(2))
    number = request_head(dialogue.at_node[len(vote(1)) + 4 :]).correlation_id
    dialogue.answer(answered(ApiVersionsResponse(), 0, number))
    assert dialogue.at_node.endswith(vote(2))
    assert dialogue.at_client == b""
    holding.waiting[1](None)
    assert dialogue.at_client == answered(VoteResponse(), 2, 1)


def _resume_with(value: int, resume: Callable[[int], None]) -> None:
    resume(value)


def test_filters_that_get_at_once_what_they_wait_for_hold_nothing() -> None:
    values: list[int] = []

    class Impatient(Filter):
        async def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            for value in range(2000):
                values.append(await call.until(partial(_resume_with, value)))
            for _ in range(2):
                try:
                    await call.ask(ApiVersionsRequest(), 0)
                except LocalError:
                    values.append(-1)

    dialogue = through(Impatient())
    dialogue.runner.input_ended(Direction.RESPONSE)  # the node answers nothing any more
    assert dialogue.ask(vote(1)) == vote(1)
    assert values == [*range(2000), -1, -1]


def test_filters_of_one_frame_may_let_another_go_while_they_run() -> None:
    holding = Holding()

    class Next(Filter):
        def on_api_versions_request(self, request: ApiVersionsRequest, call: Call) -> None:
            for resume in holding.waiting.values():
                resume(None)

    dialogue = through(holding, Next())
    last = asked(ApiVersionsRequest(), 0, 9)
    assert dialogue.ask(vote(1) + vote(2)) == b""
    assert dialogue.ask(last) == vote(1) + vote(2) + last


def test_of_a_connection_that_ends_nothing_goes_on() -> None:
    holding, seen = Holding(), list[int]()

    class Behind(Filter):
        def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            seen.append(call.flow.correlation_id)

    dialogue = through(holding, Slow(), Behind())
    dialogue.ask(vote(1), vote(2))
    holding.waiting[1](None)  # it waits for the delay now
    dialogue.hang_up()
    assert [alarm.cancelled for alarm in dialogue.alarms] == [True]
    holding.waiting[2](None)
    assert (seen, dialogue.at_node, dialogue.memory.held) == ([], b"", 0)
    problem = "the request was held at the end"
    assert [problem in flow.problems for flow in dialogue.flows] == [True, True]


def test_a_crowd_that_has_gone_is_not_counted_for_the_next_held_frame() -> None:
    dialogue = through(Slow())
    long = asked(VoteRequest(cluster_id="c" * 30_000), 2, 7)
    passing = asked(ApiVersionsRequest(client_software_name="s" * 30_000), 3, 8)
    dialogue.ask(*[long, passing] * 30)
    dialogue.now_is(5.0)
    assert dialogue.at_node == (long + passing) * 30
    dialogue.ask(*[vote(1), passing] * 10)
    dialogue.now_is(10.0)
    assert dialogue.crowds == [(Direction.REQUEST, True), (Direction.REQUEST, False)]
