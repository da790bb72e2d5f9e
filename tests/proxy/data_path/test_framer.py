"""Framers change no byte, cut as it may come, and see every frame that is one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy import Copies, Direction, Interest, Outcome
from tests.support.proxy.data_path.streams import REQUESTS, RESPONSES, cuts
from tests.support.proxy.dialogue import Dialogue, answered, asked, pieces


@given(cuts, cuts)
def test_forwarded_bytes_and_flows_do_not_depend_on_how_the_stream_is_cut(
    request_cuts: list[int], response_cuts: list[int]
) -> None:
    dialogue = Dialogue()
    asks, answers = b"".join(REQUESTS), b"".join(RESPONSES)

    assert dialogue.ask(*pieces(asks, request_cuts)) == asks
    assert dialogue.answer(*pieces(answers, response_cuts)) == answers

    flows = sorted(dialogue.flows, key=lambda flow: flow.correlation_id)
    assert [(flow.key, flow.version, flow.client_id) for flow in flows] == [
        (18, 4, "raft-client-3001"),
        (52, 2, "raft-client-3001"),
        (55, 2, None),
        (0, 9, "producer"),
        (0, 2, ""),
    ]
    assert [flow.request_copy for flow in flows] == [frame[4:] for frame in REQUESTS]
    copies = [flow.response_copy for flow in flows if flow.outcome is Outcome.ANSWERED]
    assert copies == [frame[4:] for frame in RESPONSES]
    assert flows[3].outcome is Outcome.NO_RESPONSE
    assert not dialogue.notices
    assert dialogue.copies.held == 0


@settings(max_examples=300)
@given(st.binary(max_size=200), st.binary(max_size=200), cuts)
def test_any_bytes_pass_untouched(asks: bytes, answers: bytes, places: list[int]) -> None:
    dialogue = Dialogue()
    assert dialogue.ask(*pieces(asks, places)) == asks
    assert dialogue.answer(*pieces(answers, places)) == answers
    dialogue.hang_up()
    assert dialogue.copies.held == 0


@given(st.lists(st.binary(min_size=4, max_size=60), max_size=6), cuts)
def test_any_frames_pass_untouched_and_are_counted(bodies: list[bytes], places: list[int]) -> None:
    stream = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    dialogue = Dialogue()
    assert dialogue.ask(*pieces(stream, places)) == stream
    assert dialogue.answer(*pieces(stream, places)) == stream
    assert dialogue.responses.frames == len(bodies)
    dialogue.hang_up()
    assert dialogue.copies.held == 0


def test_the_predicate_chooses_what_is_copied() -> None:
    def responses_of_votes(key: int, version: int, direction: Direction) -> Interest:
        wanted = (key, direction) == (52, Direction.RESPONSE)
        return Interest.TAP if wanted else Interest.PASS

    dialogue = Dialogue(wants=responses_of_votes)
    dialogue.ask(*REQUESTS)
    dialogue.answer(*RESPONSES)
    copied = [flow.api for flow in dialogue.flows if flow.response_copy is not None]
    assert copied == ["Vote"]
    assert all(flow.request_copy is None for flow in dialogue.flows)


def test_a_long_frame_is_copied_up_to_the_limit_and_passes_whole() -> None:
    dialogue = Dialogue(copies=Copies(copy_limit=20))
    frame = asked(VoteRequest(cluster_id="c" * 100), 2, 7)
    assert dialogue.ask(*pieces(frame, range(0, 200, 7))) == frame
    dialogue.answer(answered(VoteResponse(), 2, 7))
    (flow,) = dialogue.flows
    assert flow.request_copy == frame[4:24]
    assert flow.request_size == len(frame) - 4


def test_a_full_memory_drops_the_copy_and_says_so() -> None:
    dialogue = Dialogue(copies=Copies(memory_limit=50))
    frame = asked(VoteRequest(cluster_id="c" * 100), 2, 7)
    assert dialogue.ask(*pieces(frame, range(0, 200, 7))) == frame
    dialogue.answer(answered(VoteResponse(), 2, 7))
    (flow,) = dialogue.flows
    assert flow.request_copy is None
    assert flow.problems == ["not copied: the memory for copies is used up"]
    assert (dialogue.copies.dropped, dialogue.copies.held) == (1, 0)


def test_a_claimed_size_takes_no_memory() -> None:
    dialogue = Dialogue()
    head = (100 * 1024 * 1024).to_bytes(4, "big") + asked(VoteRequest(), 2, 1)[4:]
    assert dialogue.ask(head) == head
    assert dialogue.copies.held == len(head) - 4
    assert dialogue.requests.unfinished


LONG = 101 * 1024 * 1024


@pytest.mark.parametrize("split", [LONG, 4, 6, 8], ids=["at once", "size", "id", "head"])
def test_a_response_of_a_request_has_any_length(split: int) -> None:
    """Kafka limits requests only: the rest of the connection is read on behind such a response."""
    dialogue = Dialogue(copies=Copies(copy_limit=20))
    dialogue.ask(asked(VoteRequest(), 2, 7), asked(VoteRequest(), 2, 8))
    frame = LONG.to_bytes(4, "big") + (7).to_bytes(4, "big") + bytes(LONG - 4)
    after = answered(VoteResponse(), 2, 8)
    assert dialogue.answer(frame[:split], frame[split:], after) == frame + after
    first, second = dialogue.flows
    assert (first.response_size, second.outcome) == (LONG, Outcome.ANSWERED)
    assert first.response_copy == frame[4:24]
    assert not dialogue.notices


def test_a_long_response_of_no_request_is_no_frame() -> None:
    dialogue = Dialogue()
    dialogue.ask(asked(VoteRequest(), 2, 7))
    frame = LONG.to_bytes(4, "big") + (9).to_bytes(4, "big") + b"more"
    assert dialogue.answer(frame[:5], frame[5:]) == frame
    assert dialogue.responses.lost
    (notice,) = dialogue.notices
    assert notice.text.startswith(f"a frame of {LONG} bytes, 1 to {100 * 1024 * 1024} allowed")
