"""Fewer flows with which a client still fails."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.messages.a12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kwire.proxy import Flow
from kwire.proxy.capture.replay.reduction import reduced, without_repeats
from tests.support.proxy.capture.replay.recorded_flows import flow


def beat(group: str, error: int = 0) -> Flow:
    return flow(HeartbeatRequest(group_id=group), HeartbeatResponse(error_code=error), 4)


FLOWS = [beat(str(number)) for number in range(40)]


@given(st.sets(st.integers(0, 39), min_size=1, max_size=6))
def test_no_flow_is_left_that_is_not_needed(needed: set[int]) -> None:
    runs: list[list[Flow]] = []
    wanted = [FLOWS[number] for number in sorted(needed)]

    def fails(flows: list[Flow]) -> bool:
        runs.append(flows)
        return all(one in flows for one in wanted)

    steps = list(reduced(FLOWS, fails))
    assert steps[-1] == wanted
    assert all(len(after) < len(before) for before, after in pairwise(steps))
    assert len(runs) < 80


def test_nothing_is_tried_where_nothing_can_be_left_out() -> None:
    def fails(flows: list[Flow]) -> bool:
        raise AssertionError(flows)

    assert list(reduced(FLOWS[:1], fails)) == []
    assert list(reduced([], fails)) == []


def test_a_client_that_never_fails_alike_keeps_all() -> None:
    assert list(reduced(FLOWS, lambda flows: False)) == []


def test_the_end_of_a_row_of_equal_answers_is_left_out() -> None:
    flows = [beat("a"), beat("b"), beat("a"), beat("a", 27), beat("a", 27), beat("a", 27)]
    assert without_repeats(flows) == flows[:4]
    lost = beat("a", 27)
    lost.response_copy = None
    assert without_repeats([*flows, lost]) == [*flows, lost]


@pytest.mark.parametrize("node", [1, 2])
def test_the_answers_of_another_node_are_another_row(node: int) -> None:
    other = beat("a")
    other.connection.node_id = node
    assert len(without_repeats([beat("a"), other])) == node
