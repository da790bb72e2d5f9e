"""Flows that are kept, numbered and marked, and those that are said to be left out."""

from itertools import pairwise

import pytest

from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.messages.a14_sync_group import SyncGroupRequest, SyncGroupResponse
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.proxy import DecodedFlow, Flow
from kwire.trace.collected import EvenSample, is_slow
from kwire.trace.marks import ASSIGNMENT, NODES, VOTERS
from tests.support.trace_pages import collect, flow_of


def plain(number: int, latency: float = 0.001) -> Flow:
    return flow_of(MetadataRequest(), MetadataResponse(), 12, number=number, latency=latency)


def test_all_flows_are_kept_and_numbered_by_time() -> None:
    collected = collect(plain(number) for number in (3, 1, 2))
    assert [(number, flow.at % 10) for number, flow in collected.flows()] == [
        (1, 1.0),
        (2, 2.0),
        (3, 3.0),
    ]
    assert collected.notes(3) == []


def test_errors_slow_calls_and_marks_stay_where_others_are_left_out() -> None:
    telling = {
        100: flow_of(FetchRequest(), FetchResponse(error_code=6), 12, number=100),
        501: plain(501, latency=0.5),
        502: flow_of(MetadataRequest(), None, 12, number=502),
        503: flow_of(AddRaftVoterRequest(), AddRaftVoterResponse(), 1, number=503),
    }
    collected = collect((telling.get(n) or plain(n) for n in range(1000)), room=50)
    flows = collected.flows()
    numbers = [number for number, _ in flows]
    assert len(flows) == 50
    assert {number - 1 for number in numbers} >= set(telling)
    assert all(flow.correlation_id == number - 1 for number, flow in flows)
    # The others are evenly spaced.
    assert max(after - before for before, after in pairwise(numbers)) < 45
    assert collected.notes(50) == [
        "50 of 1,000 RPCs are here: all with an error, a mark or a problem, slow and unanswered"
        " ones, and a part of the others"
    ]


def test_more_telling_flows_than_there_is_room_for_are_thinned_and_it_is_said() -> None:
    slow = (plain(number, latency=1.0) for number in range(300))
    collected = collect(slow, room=40)
    assert len(collected.flows()) == 40
    assert "some of the 300 that have an error" in collected.notes(40)[0]


@pytest.mark.parametrize(("count", "room"), [(0, 3), (3, 3), (7, 3), (1000, 10)])
def test_a_sample_is_even_and_bounded(count: int, room: int) -> None:
    sample: EvenSample[int] = EvenSample(room)
    for item in range(count):
        sample.add(item)
        assert len(sample.kept) <= 2 * room
    kept = sample.thinned(room)
    assert len(kept) == min(count, room)
    assert kept == sorted(kept)
    assert all(
        abs(item - place * count / room) <= 2 * count / room for place, item in enumerate(kept)
    )


def test_waiting_in_the_node_is_not_slow() -> None:
    fetch = flow_of(FetchRequest(max_wait_ms=500), FetchResponse(), 12, latency=0.55)
    late = flow_of(FetchRequest(max_wait_ms=500), FetchResponse(), 12, latency=0.61)
    rebalance = flow_of(SyncGroupRequest(), SyncGroupResponse(), 3, latency=30.0)
    assert [is_slow(DecodedFlow(flow)) for flow in (fetch, late, rebalance, plain(0, 0.2))] == [
        False,
        True,
        False,
        True,
    ]


def test_marks_are_turns_and_not_every_heartbeat() -> None:
    beats = [
        flow_of(
            BrokerHeartbeatRequest(broker_id=1, want_shut_down=stops),
            BrokerHeartbeatResponse(is_fenced=fenced),
            1,
            number=number,
        )
        for number, (fenced, stops) in enumerate(
            [(True, False), (True, False), (False, False), (False, False), (False, True)]
        )
    ]
    members = [
        flow_of(SyncGroupRequest(), SyncGroupResponse(assignment=given), 3, number=7 + len(given))
        for given in (b"", b"x")
    ]
    added = flow_of(AddRaftVoterRequest(), AddRaftVoterResponse(), 1, number=9)
    marks = collect([*beats, *members, added]).marks.kept
    assert [(mark.kind, mark.flow and mark.flow.correlation_id) for mark in marks] == [
        *((NODES, 0), (NODES, 2), (NODES, 4)),
        *((ASSIGNMENT, 8), (VOTERS, 9)),
    ]
