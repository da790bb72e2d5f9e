"""Requests and answers are matched whatever the pieces the bytes arrive in."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.errors import DecodeError, FrameError, WireError
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.exchange import Exchange, SentRequest
from kwire.net.frames import ResponseFrame, encode_response

Got = list[tuple[SentRequest, ResponseFrame | WireError]]


def exchange() -> tuple[Exchange, Got, list[SentRequest]]:
    """One that asked DescribeQuorum v2, then DescribeCluster v1."""
    ours = Exchange(client_id="test")
    first, _ = ours.send(DescribeQuorumRequest(), 2)
    second, _ = ours.send(DescribeClusterRequest(), 1)
    return ours, [], [first, second]


def answers(first: int, second: int) -> bytes:
    quorum = encode_response(DescribeQuorumResponse(error_message="?"), 2, correlation_id=first)
    cluster = encode_response(DescribeClusterResponse(cluster_id="c"), 1, correlation_id=second)
    return quorum + cluster


@given(st.sets(st.integers(min_value=1, max_value=60)))
def test_answers_come_out_in_order_however_the_bytes_are_cut(cuts: set[int]) -> None:
    ours, got, asked = exchange()
    stream = answers(0, 1)
    edges = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    for start, end in pairwise(edges):
        ours.receive(stream[start:end], lambda a, b: got.append((a, b)))
    assert [one for one, _ in got] == asked
    bodies = [answer.body for _, answer in got if isinstance(answer, ResponseFrame)]
    assert bodies == [
        DescribeQuorumResponse(error_message="?"),
        DescribeClusterResponse(cluster_id="c"),
    ]
    assert ours.pending == 0


def test_answers_in_another_order_are_refused_naming_what_is_due() -> None:
    ours, got, _ = exchange()
    with pytest.raises(FrameError, match=r"correlation id 1 where 0 \(DescribeQuorum v2\) is due"):
        ours.receive(answers(1, 0), lambda a, b: got.append((a, b)))
    assert got == []


def test_an_answer_that_nobody_asked_for_is_refused() -> None:
    with pytest.raises(FrameError, match="id 0, which no request had"):
        Exchange(client_id=None).receive(answers(0, 1), lambda a, b: None)


def test_an_answer_too_short_for_a_correlation_id_is_refused() -> None:
    ours, _, _ = exchange()
    with pytest.raises(FrameError, match="3 bytes has no correlation id"):
        ours.receive(bytes.fromhex("00000003 000000"), lambda a, b: None)


def test_a_body_that_cannot_be_read_is_handed_on_and_the_next_one_is_read() -> None:
    ours, got, _ = exchange()
    broken = bytes.fromhex("00000007 00000000 00 0000")
    whole = encode_response(DescribeClusterResponse(cluster_id="c"), 1, correlation_id=1)
    ours.receive(broken + whole, lambda a, b: got.append((a, b)))
    assert isinstance(got[0][1], DecodeError)
    assert isinstance(got[1][1], ResponseFrame)


def test_correlation_ids_start_over_behind_the_largest_int32() -> None:
    ours = Exchange(client_id=None)
    ours._next_id = 0x7FFFFFFF
    ids = [ours.send(DescribeQuorumRequest(), 2)[0].correlation_id for _ in range(2)]
    assert ids == [0x7FFFFFFF, 0]


def test_a_request_without_an_answer_is_not_waited_for() -> None:
    ours, got = Exchange(client_id="test"), Got()
    told, _ = ours.send(DescribeQuorumRequest(), 2, answered=False)
    asked, _ = ours.send(DescribeClusterRequest(), 1)
    answer = encode_response(DescribeClusterResponse(), 1, correlation_id=asked.correlation_id)
    ours.receive(answer, lambda a, b: got.append((a, b)))
    assert [one for one, _ in got] == [asked]
    assert (told.correlation_id, asked.correlation_id) == (0, 1)
