"""The frames in C follow what the framers in Python do, however the bytes come."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.messages.a00_produce import ProduceRequest
from kwire.proxy import Direction, Interest, pass_everything
from kwire.proxy.data_path.copies import MEMORY_LIMIT
from kwire.proxy.data_path.moved import MovedFrames
from tests.support.proxy.data_path.conversations import (
    ANSWER,
    ASK,
    FIRST,
    REPLY,
    Step,
    compare,
    request,
    response,
    told,
)
from tests.support.proxy.data_path.moving_dialogue import MovingDialogue
from tests.support.proxy.data_path.native import attack
from tests.support.proxy.dialogue import Dialogue, asked

KEYS = (0, 1, 3, 7, 17, 18, 36, 52, 62, 63, 93, 127, 128, 9999, -1)
CLIENTS = ("me", "me", "me", "other", "7", "raft-client-3001", "\N{SNOWMAN}", "x" * 300, "", None)

keys = st.sampled_from(KEYS)
versions = st.sampled_from((0, 1, 2, 9, 12, 31, 32, 200, -1))


correlations = st.integers(0, 5)
requests = st.builds(
    request, keys, versions, correlations, st.sampled_from(CLIENTS), st.binary(max_size=80)
)
usual = st.builds(
    request, st.sampled_from((1, 3, 18)), st.just(9), correlations, st.just("me"), st.binary()
)
produced = st.builds(
    lambda version, acks, id, number: asked(
        ProduceRequest(acks=acks, transactional_id=id if version >= 3 else None), version, number
    ),
    st.sampled_from((0, 2, 3, 8, 9, 12)),
    st.sampled_from((0, 1, -1)),
    st.sampled_from((None, "t", "t" * 300, "t" * 5000)),
    correlations,
)
responses = st.builds(response, correlations, st.binary(max_size=80))
short = st.builds(
    lambda size, rest: size.to_bytes(4, "big", signed=True) + rest,
    st.integers(-2, 12),
    st.binary(max_size=12),
)

asks = st.tuples(st.just(ASK), st.one_of(usual, usual, produced))
replies = st.tuples(st.just(REPLY), st.binary(max_size=80))
odd = st.one_of(
    st.tuples(st.just(ASK), requests),
    st.tuples(st.just(ASK), st.one_of(short, st.binary(max_size=20))),
    st.tuples(st.just(ANSWER), st.one_of(responses, short, st.binary(max_size=20))),
)
steps = st.builds(
    lambda *parts: [step for part in parts for step in part],
    st.lists(st.one_of(asks, asks, replies), min_size=4, max_size=20),
    st.lists(odd, max_size=1),
    st.lists(st.one_of(asks, replies), max_size=10),
    st.lists(odd, max_size=2),
)
cuts = st.lists(st.integers(0, 400), min_size=1, max_size=30)
interests = st.dictionaries(
    st.tuples(st.sampled_from((0, 1, 3, 18)), st.sampled_from(list(Direction))),
    st.sampled_from(list(Interest)),
)


@settings(max_examples=300)
@given(
    steps,
    cuts,
    interests,
    st.sampled_from((0, 7, 10_000)),
    st.sampled_from((0, MEMORY_LIMIT)),
)
def test_c_and_python_tell_the_same(
    steps: list[Step],
    places: list[int],
    by_key: dict[tuple[int, Direction], Interest],
    copy_limit: int,
    memory_limit: int,
) -> None:
    compare(steps, places, by_key, copy_limit, memory_limit)


def test_a_copy_that_finds_no_room_is_a_problem_of_its_flow_and_counted() -> None:
    def talk(request_size: int, response_size: int, way: Direction) -> None:
        asked = request(3, 9, 1, "me", bytes(request_size))
        steps = [(ASK, asked), (REPLY, bytes(response_size))]
        compare([*steps, *steps], [400], {(3, way): Interest.TAP}, 10_000, memory_limit=50)

    for way in Direction:
        talk(100, 1, way)
        talk(1, 100, way)


def test_what_is_asked_for_meanwhile_is_not_copied() -> None:
    """A client may send hundreds of requests before Python has said that nobody wants them."""
    native = attack.frames(copy_limit=10_000, memory_limit=1_000_000)
    for number in range(3):
        native.feed(0, request(3, 9, number, "me", b"body"), 0.0, 0)
    assert native.copied > 0
    native.feed(1, response(0, bytes(5_000)), 0.0, 0)
    assert native.copied > 5_000
    native.set_interest(3, 9, 1, 1)
    native.feed(1, response(1, bytes(5_000)) + response(2, bytes(5_000)), 0.0, 0)
    [first] = native.events()
    assert (first[1][2], len(first[4] or b"")) == (0, 5_004)
    assert native.copied == 0
    [count] = native.counts()
    assert count[3:6] == (2, 2 * 16, 2 * 5_004)


def test_a_request_that_is_answered_before_its_end_is_told_of_when_it_breaks_off() -> None:
    python, moving = Dialogue(wants=pass_everything), MovingDialogue(wants=pass_everything)
    for dialogue in (python, moving):
        dialogue.ask(FIRST, request(3, 9, 1, "me", bytes(20))[:30])
        dialogue.answer(response(0, b""), response(1, bytes(20))[:10])
    moving.move()
    assert moving._native is not None
    for dialogue in (python, moving):
        dialogue.hang_up()
    assert list(told(moving)) == list(told(python))


def test_a_copy_is_freed_that_nobody_wants_any_more() -> None:
    moved = attack.PLAIN._replace(
        responses=MovedFrames(8, 1, 4, 12, b"answer"),
        pending=[(3, 9, 0, 16, 0.0, 0, b"asked")],
        answering=(3, 9, 1, 16, 0.0, 0, b"asked, too"),
    )
    native = attack.frames(moved)
    assert native.copied == len(b"answeraskedasked, too")
    native.set_interest(3, 9, 1, 1)
    native.feed(1, bytes(4) + response(0, b""), 0.0, 0)
    assert native.events() == []
    assert native.copied == 0
