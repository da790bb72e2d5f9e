"""Requests and responses meet, in whichever batch they come, and only they."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.tables.pairing import NONE, FramePairing, Pairs
from tests.support.pipeline.captured_rows import answered, asked, batch, damage, notice

Row = dict[str, Any]


def events(pairs: Pairs) -> list[tuple[int | None, int | None]]:
    """The events of request and response of each pair; None for one that is not there."""
    names = pairs.rows["event"].to_pylist()
    return [
        (None if request == NONE else names[request], None if response == NONE else names[response])
        for request, response in zip(pairs.requests, pairs.responses, strict=True)
    ]


def taken(pairing: FramePairing, *rows: Row) -> list[tuple[int | None, int | None]]:
    found = pairing.take(decode_batch(batch(list(rows))))
    return [entry for pairs in found for entry in events(pairs)]


def finished(pairing: FramePairing) -> list[tuple[int | None, int | None]]:
    return [entry for pairs in pairing.finish() for entry in events(pairs)]


def test_pairs_of_a_batch_come_in_the_order_of_their_requests() -> None:
    pairing = FramePairing()
    rows = [asked(3), asked(2), answered(2), notice(9), answered(3), asked(1), answered(1)]
    assert taken(pairing, *rows) == [(3, 3), (2, 2), (1, 1)]
    assert pairing.halves() is None
    assert finished(pairing) == []


def test_a_response_finds_its_request_in_an_earlier_batch() -> None:
    pairing = FramePairing()
    assert taken(pairing, asked(1), asked(2), answered(2)) == [(2, 2)]
    assert taken(pairing, asked(3), notice(4)) == []
    assert taken(pairing, answered(3), asked(5), answered(5), answered(1)) == [
        (5, 5),
        (1, 1),
        (3, 3),
    ]
    assert pairing.halves() is None


def test_a_response_may_come_before_its_request() -> None:
    pairing = FramePairing()
    assert taken(pairing, answered(1)) == []
    assert taken(pairing, asked(1)) == [(1, 1)]
    assert taken(pairing, answered(2), asked(2)) == [(2, 2)]
    assert taken(pairing, answered(3)) == []
    assert taken(pairing, asked(3, ending="LOST")) == [(3, 3)]
    assert pairing.halves() is None


def test_only_requests_that_were_answered_are_waited_for() -> None:
    pairing = FramePairing()
    endings = ("LOST", "NO_RESPONSE", "PENDING", None)
    rows = [asked(number, ending=ending) for number, ending in enumerate(endings)]
    assert taken(pairing, *rows, asked(4)) == [(0, None), (1, None), (2, None), (3, None)]
    assert taken(pairing, asked(5, ending="LOST"), answered(5)) == [(5, 5)]
    halves = pairing.halves()
    assert halves is not None
    assert halves["event"].to_pylist() == [4]


@pytest.mark.parametrize("other", [{"capture": "x"}, {"connection": 8}, {"event": 2}])
def test_frames_of_other_connections_do_not_meet(other: Row) -> None:
    pairing = FramePairing()
    assert taken(pairing, asked(1), answered(1) | other) == []
    assert taken(pairing, asked(7), answered(7)) == [(7, 7)]
    halves = pairing.halves()
    assert halves is not None
    assert halves.num_rows == 2
    assert finished(pairing) == [(1, None), (None, other.get("event", 1))]


def test_notices_and_damage_are_no_halves() -> None:
    pairing = FramePairing()
    assert taken(pairing, notice(1), damage(), notice(1), damage()) == []
    assert taken(pairing) == []
    assert pairing.halves() is None


def test_halves_of_two_slices_meet_as_rows_of_a_batch() -> None:
    first, second, joined = FramePairing(), FramePairing(), FramePairing()
    taken(first, asked(1), asked(2), answered(2), asked(3))
    taken(second, answered(3), answered(4))
    halves = [first.halves(), second.halves()]
    assert [entry for half in halves if half for p in joined.take(half) for entry in events(p)] == [
        (3, 3)
    ]
    assert finished(joined) == [(1, None), (None, 4)]


@given(
    order=st.permutations([(kind, event) for event in range(6) for kind in (asked, answered)]),
    size=st.integers(1, 12),
)
def test_in_any_order_and_in_batches_of_any_size_all_meet(order: list[Any], size: int) -> None:
    pairing, found = FramePairing(), []
    decoded = decode_batch(batch([make(event) for make, event in order]))
    for start in range(0, len(order), size):
        for pairs in pairing.take(decoded.slice(start, size)):
            found += events(pairs)
    assert sorted(found) == [(event, event) for event in range(6)]
    assert pairing.halves() is None
