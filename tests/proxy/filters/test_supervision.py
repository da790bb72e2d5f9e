"""Methods of filters that do what they must not: nothing hangs, and each is named in a report."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy import Call, ClientConnection, Filter, Filters, NoticeKind, Outcome, Stall
from kwire.proxy.flows.flow import Effect
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.faulty_filters import FAULTY_METHODS, filter_of, raises, returns, sets
from tests.support.proxy.filter_dialogue import HeldDialogue, through
from tests.support.proxy.notices import notice_texts

VOTE = asked(VoteRequest(), 2, 1)
GRANTED = answered(VoteResponse(), 2, 1)


class Good(Filter):
    """Notes that it has seen the message."""

    def on_vote_request(self, request: VoteRequest, call: Call) -> None:
        call.note("seen")


def filter_notices(
    dialogue: HeldDialogue, kind: NoticeKind = NoticeKind.FILTER_FAILED
) -> list[str]:
    return notice_texts(dialogue.notices, kind)


@pytest.mark.parametrize("drops", [False, True], ids=["forward", "drop"])
@pytest.mark.parametrize("direction", ["request", "response"])
def test_a_method_that_does_what_it_must_not_is_told_once(
    direction: str, drops: bool, subtests: pytest.Subtests
) -> None:
    for what, (method, says) in FAULTY_METHODS.items():
        with subtests.test(what):
            assert_told_once(method, says, direction, drops)


def assert_told_once(method: Any, says: str, direction: str, drops: bool) -> None:
    dialogue = through(filter_of(method, direction), drop_on_error=drops)
    second = asked(VoteRequest(), 2, 2), answered(VoteResponse(), 2, 2)
    for request, response in ((VOTE, GRANTED), second):
        dialogue.ask(request)
        if not (drops and direction == "request"):
            dialogue.answer(response)
    assert dialogue.at_node == (b"" if drops and direction == "request" else VOTE + second[0])
    assert dialogue.at_client == (b"" if drops else GRANTED + second[1])
    assert dialogue.reasons == []
    (text,) = filter_notices(dialogue)
    assert text.startswith(f"Vote v2: Wrong.on_vote_{direction} ")
    assert says in text
    assert ("the message is dropped" if drops else "sent on as it came") in text
    problems = [" ".join(flow.problems) for flow in dialogue.flows]
    assert [f"Wrong.on_vote_{direction} " in problem for problem in problems] == [True, True]
    dialogue.hang_up()
    assert (dialogue.memory.held, dialogue.copies.held) == (0, 0)


def test_one_of_several_methods_is_meant_where_nobody_can_say_which() -> None:
    dialogue = through(filter_of(sets(topics=5), "request"), Good())
    assert dialogue.ask(VOTE) == VOTE
    (text,) = filter_notices(dialogue)
    assert "one of Wrong.on_vote_request, Good.on_vote_request left a message" in text


def test_the_filters_behind_a_wrong_one_still_see_the_message() -> None:
    dialogue = through(filter_of(returns(5), "request"), Good())
    dialogue.ask(VOTE)
    dialogue.answer(GRANTED)
    assert dialogue.flows[0].notes == ("seen",)


@pytest.mark.parametrize("value", [5, True, VoteResponse(), SystemExit(1)], ids=repr)
@pytest.mark.parametrize("drops", [False, True])
def test_a_client_is_let_in_or_refused_where_on_connect_is_wrong(
    value: object, drops: bool
) -> None:
    class Doorman(Filter):
        def on_connect(self, connection: ClientConnection) -> Any:
            if isinstance(value, BaseException):
                raise value
            return value

    dialogue = HeldDialogue(filters=Filters([Doorman()], drop_on_error=drops))
    let_in: list[bool] = []
    dialogue.runner.connect(lambda: let_in.append(True))
    assert (let_in, dialogue.reasons) == (([], ["refused by Doorman"]) if drops else ([True], []))
    (text,) = filter_notices(dialogue)
    assert text.startswith("Doorman.on_connect failed, the client is ")


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_a_filter_whose_wants_fails_sees_nothing(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    class Unsure(Filter):
        def wants(self, *arguments: object) -> bool:
            raise error("no idea")

        def on_request(self, request: object, call: Call) -> Stall:
            return Stall()

    dialogue = through(Unsure())
    assert dialogue.ask(VOTE) == VOTE
    assert [record.message for record in caplog.records] == [
        f"Unsure.wants failed: {error.__name__}: no idea"
    ]


def test_a_coroutine_that_fails_at_the_end_of_its_connection_harms_nobody() -> None:
    class Clings(Filter):
        async def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            try:
                await call.pause(1000)
            finally:
                await call.pause(1000)

    dialogue = through(Clings())
    dialogue.ask(VOTE)
    dialogue.hang_up()
    assert "coroutine ignored GeneratorExit" in filter_notices(dialogue)[0]
    assert dialogue.flows[0].outcome is Outcome.LOST


def test_who_waits_is_resumed_once() -> None:
    resumes: list[Callable[[None], None]] = []

    class Waits(Filter):
        async def on_vote_request(self, request: VoteRequest, call: Call) -> None:
            await call.until(resumes.append)
            await call.until(resumes.append)

    dialogue = through(Waits())
    dialogue.ask(VOTE)
    resumes[0](None)
    resumes[0](None)
    assert dialogue.at_node == b""
    resumes[1](None)
    assert dialogue.at_node == VOTE


def test_ctrl_c_in_a_method_ends_the_proxy() -> None:
    with pytest.raises(KeyboardInterrupt):
        through(filter_of(raises(KeyboardInterrupt()), "request")).ask(VOTE)


class Names(Filter):
    """Gives a request another cluster id, or none. marks: it notes its changes itself."""

    def __init__(self, cluster_id: str | None = None, *, marks: bool = False) -> None:
        self.cluster_id, self.marks_changes = cluster_id, marks

    def on_vote_request(self, request: VoteRequest, call: Call) -> None:
        if self.cluster_id is not None:
            request.cluster_id = self.cluster_id


LOOKS, CHANGES, MARKS = Names(), Names("one"), Names("two", marks=True)


@pytest.mark.parametrize(
    ("filters", "is_told"),
    [
        ([LOOKS], False),
        ([CHANGES], True),
        ([MARKS], False),
        ([MARKS, LOOKS], False),
        ([LOOKS, MARKS, LOOKS], False),
        ([MARKS, CHANGES], True),
        ([CHANGES, MARKS], True),
        ([CHANGES, MARKS, LOOKS], True),
        ([CHANGES, MARKS, LOOKS, MARKS], True),
    ],
)
def test_only_changes_that_filters_do_not_note_themselves_are_noted_for_them(
    filters: list[Filter], is_told: bool
) -> None:
    dialogue = through(*filters)
    dialogue.ask(VOTE)
    dialogue.answer(GRANTED)
    assert (Effect.CHANGED in dialogue.flows[0].effects) is is_told


class Slow(Filter):
    """Takes its time, on the clock of the dialogue, before and behind what it awaits."""

    def __init__(self) -> None:
        self.takes = iter([0.05, 0.05, 0.25, 0.05, 0.1, 0.3, 0.05, 0.6])
        self.dialogue: HeldDialogue | None = None

    async def on_vote_request(self, request: VoteRequest, call: Call) -> None:
        self._work()
        waiting: Awaitable[None] = call.until(lambda resume: resume(None))
        await waiting
        self._work()

    def _work(self) -> None:
        assert self.dialogue is not None
        self.dialogue.time += next(self.takes)


def test_a_method_that_blocks_is_named_with_its_time() -> None:
    """Time each part between two awaits by itself; half as long again is not reported."""
    slow = Slow()
    dialogue = slow.dialogue = through(slow)
    texts = []
    for number in range(4):
        dialogue.ask(asked(VoteRequest(), 2, number))
        texts.append(filter_notices(dialogue, NoticeKind.FILTER_SLOW))
    first, second = (
        f"Vote v2: Slow.on_vote_request took {seconds} s, and every connection waited for it;"
        " reported again when it takes twice as long"
        for seconds in ("0.25", "0.6")
    )
    assert texts == [[], [first], [first], [first, second]]
