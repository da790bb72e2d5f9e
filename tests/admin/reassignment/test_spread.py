"""Topics are spread evenly over brokers, and what lies well stays there."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.admin.errors import ReassignmentRefused
from kwire.admin.reassignment.layout import ClusterLayout
from kwire.admin.reassignment.spread import spread
from tests.support.admin.layouts import (
    applied,
    assert_valid,
    broker,
    layout,
    layouts,
    partition,
    racks_of,
    spans,
)


def test_a_new_broker_gets_its_share() -> None:
    states = [partition(f"a-{n}", *((1, 2) if n % 2 else (2, 1))) for n in range(6)]
    plan = spread(layout(*states, brokers=3), ["a"])
    after = Counter(b for state in applied(plan).partitions.values() for b in state.replicas)
    leaders = Counter(state.replicas[0] for state in applied(plan).partitions.values())
    assert after == {1: 4, 2: 4, 3: 4}
    assert leaders == {1: 2, 2: 2, 3: 2}
    assert plan.copies == 4


def test_replicas_on_other_brokers_move_to_those_named() -> None:
    states = [partition("a-0", 1, 2), partition("a-1", 3, 4)]
    plan = spread(layout(*states, brokers=4), ["a"], targets=[3, 4])
    assert {str(move.partition): set(move.new) for move in plan.moves} == {"a-0": {3, 4}}


def test_leaders_that_crowd_one_broker_are_spread_without_a_copy() -> None:
    plan = spread(layout(*(partition(f"a-{n}", 1, 2, 3) for n in range(3)), brokers=3), ["a"])
    assert plan.copies == 0
    assert sorted(state.replicas[0] for state in applied(plan).partitions.values()) == [1, 2, 3]


def test_replicas_in_one_rack_are_spread_over_two() -> None:
    brokers = [broker(1, "x"), broker(2, "x"), broker(3, "y")]
    plan = spread(layout(partition("a-0", 1, 2), brokers=brokers), ["a"])
    ((one, two),) = (move.new for move in plan.moves)
    assert {plan.layout.rack(one), plan.layout.rack(two)} == {"x", "y"}
    assert plan.copies == 1


def test_what_lies_well_stays() -> None:
    states = [partition("a-0", 1, 2), partition("a-1", 2, 3), partition("a-2", 3, 1)]
    assert not spread(layout(*states, brokers=3), ["a"]).moves


def test_too_few_brokers_are_refused() -> None:
    with pytest.raises(ReassignmentRefused, match="a-0 is to have 2 replicas, and only 1 broker"):
        spread(layout(partition("a-0", 1, 2), brokers=3), ["a"], targets=[3])


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(ReassignmentRefused, match="the cluster has no broker 9"):
        spread(layout(partition("a-0", 1, 2), brokers=3), ["a"], targets=[1, 9])


@given(layouts(), st.data())
def test_every_spread_is_valid_or_refused(cluster: ClusterLayout, data: st.DataObject) -> None:
    targets = data.draw(st.none() | st.lists(st.sampled_from(sorted(cluster.brokers)), min_size=1))
    topics = data.draw(st.sampled_from([["a"], [*{key.topic for key in cluster.partitions}]]))
    try:
        plan = spread(cluster, topics, targets=targets)
    except ReassignmentRefused:
        return
    assert_valid(plan)
    after = applied(plan)
    usable = cluster.targets(targets)
    for key, state in after.partitions.items():
        old = cluster.partitions[key].replicas
        if key.topic not in topics:
            assert state.replicas == old
            continue
        assert len(state.replicas) == len(old)
        assert set(state.replicas) <= set(usable)
        assert racks_of(cluster, state.replicas) == min(len(old), racks_of(cluster, usable))
    assert not spread(after, topics, targets=targets).moves


@given(layouts(racks=0, healthy=True))
def test_without_racks_every_topic_and_the_total_are_even(cluster: ClusterLayout) -> None:
    topics = {key.topic for key in cluster.partitions}
    after = applied(spread(cluster, topics)).partitions
    total = Counter(b for state in after.values() for b in state.replicas)
    assert spans(total, cluster.brokers) <= 1
    for topic in topics:
        states = [state for key, state in after.items() if key.topic == topic]
        replicas = Counter(b for state in states for b in state.replicas)
        assert spans(replicas, cluster.brokers) <= 1
        leaders = Counter(state.replicas[0] for state in states)
        # A topic with as many replicas as brokers, or spread at random, can be led from anywhere.
        assert spans(leaders, cluster.brokers) <= 1


@given(st.integers(1, 3), st.integers(1, 3), st.data())
def test_racks_of_one_size_are_even_too(racks: int, size: int, data: st.DataObject) -> None:
    brokers = [broker(id_, f"r{id_ % racks}") for id_ in range(1, racks * size + 1)]
    ids = [node.node_id for node in brokers]
    factor = data.draw(st.integers(1, len(ids)))
    states = [
        partition(f"a-{number}", *data.draw(st.permutations(ids))[:factor])
        for number in range(data.draw(st.integers(1, 8)))
    ]
    after = applied(spread(layout(*states, brokers=brokers), ["a"])).partitions
    replicas = Counter(b for state in after.values() for b in state.replicas)
    assert spans(replicas, ids) <= 1
