"""A broker is drained with the fewest copies, and what it had is spread evenly."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.admin.errors import ReassignmentRefused
from kwire.admin.reassignment.drain import drain as drain_moving
from kwire.admin.reassignment.layout import ClusterLayout
from kwire.admin.reassignment.moving_cluster import moving_cluster
from kwire.admin.reassignment.plan import ReassignmentPlan
from kwire.admin.reassignments import OngoingReassignment
from kwire.admin.topic_partition import TopicPartition
from tests.support.admin.layouts import (
    applied,
    assert_valid,
    broker,
    layout,
    layouts,
    partition,
    racks_of,
)


def drain(
    cluster: ClusterLayout,
    leaving: Sequence[int],
    *,
    targets: Sequence[int] | None = None,
    ongoing: Mapping[TopicPartition, OngoingReassignment] | None = None,
) -> ReassignmentPlan:
    """Plan it for a cluster whose partitions stand still, or move as `ongoing` says."""
    states, brokers = cluster.partitions.values(), cluster.brokers.values()
    moving = moving_cluster("a-cluster", states, brokers, ongoing or {})
    return drain_moving(moving, leaving, targets=targets)


@pytest.mark.parametrize(
    ("replicas", "isr", "moves"),
    [
        ((1, 2), (1,), [((1, 2), (1,), ())]),
        ((1, 3, 2), (1,), []),
        ((1, 2), (), []),
    ],
    ids=["waits for nothing", "waits for 3", "without a leader"],
)
def test_a_move_that_waits_for_nothing_is_planned_again(
    replicas: tuple[int, ...], isr: tuple[int, ...], moves: list[object]
) -> None:
    """As 4.3.1 leaves [2] -> [1] after an unclean election of 1: 2 is gone for good."""
    moving = OngoingReassignment(
        replicas=replicas, adding_replicas=replicas[:-1], removing_replicas=(2,)
    )
    cluster = layout(partition("a-0", *replicas, isr=isr), brokers=4)
    plan = drain(cluster, [2], ongoing={TopicPartition("a", 0): moving})
    assert [(move.old, move.new, move.adding) for move in plan.moves] == moves


def test_only_the_replicas_of_the_broker_move() -> None:
    plan = drain(layout(partition("a-0", 1, 2), partition("a-1", 2, 3), brokers=3), [3])
    assert [(str(move.partition), move.old, move.new) for move in plan.moves] == [
        ("a-1", (2, 3), (2, 1))
    ]
    assert plan.copies == 1


def test_a_new_replica_takes_the_place_of_the_one_that_goes() -> None:
    (move,) = drain(layout(partition("a-0", 1, 3, 2), brokers=4), [3]).moves
    assert move.new == (1, 4, 2)


def test_one_that_has_the_data_leads_where_the_leader_goes() -> None:
    (move,) = drain(layout(partition("a-0", 3, 1, 2), brokers=4), [3]).moves
    assert move.new == (1, 2, 4)


def test_leaderships_of_the_broker_are_shared_out() -> None:
    plan = drain(layout(*(partition(f"a-{n}", 3, 1, 2) for n in range(4)), brokers=4), [3])
    leaders = Counter(move.new[0] for move in plan.moves)
    assert sorted(leaders.items()) == [(1, 2), (2, 1), (4, 1)]


def test_a_replica_stays_in_its_rack_where_the_others_have_theirs() -> None:
    brokers = [broker(1, "x"), broker(2, "y"), broker(3, "z"), broker(4, "x"), broker(5, "z")]
    (move,) = drain(layout(partition("a-0", 1, 2, 3), brokers=brokers), [3]).moves
    assert move.new == (1, 2, 5)


def test_a_chain_of_moves_evens_what_single_moves_cannot() -> None:
    """By single moves one broker would be left with two more than another."""
    states = [*(partition(f"a-{n}", 1, 4, 2) for n in (0, 1)), partition("b-0", 2)]
    states += [partition(f"a-{n}", 1, 4, 3) for n in (2, 3)]
    plan = drain(layout(*states, brokers=5), [1])
    after = Counter(b for state in applied(plan).partitions.values() for b in state.replicas)
    assert after == {2: 3, 3: 3, 4: 4, 5: 3}


def test_several_brokers_leave_at_once() -> None:
    plan = drain(layout(partition("a-0", 1, 2, 3), brokers=5), [2, 3])
    assert [move.new for move in plan.moves] == [(1, 4, 5)]


def test_a_dead_broker_that_is_no_longer_registered_is_drained() -> None:
    plan = drain(layout(partition("a-0", 1, 7, isr=(1,)), brokers=2), [7])
    assert [move.new for move in plan.moves] == [(1, 2)]


def test_too_few_brokers_are_refused_with_the_partition_and_what_to_do() -> None:
    with pytest.raises(ReassignmentRefused) as caught:
        drain(layout(partition("a-0", 1, 2, 3), brokers=3), [3])
    assert str(caught.value) == (
        "a-0 is to have 3 replicas, and only 2 brokers can hold one (1, 2): start another broker,"
        " or choose a lower replication factor"
    )


def test_an_unknown_broker_is_refused() -> None:
    with pytest.raises(ReassignmentRefused, match="no broker 9: its brokers are 1, 2"):
        drain(layout(partition("a-0", 1, 2), brokers=2), [9])


def test_a_fenced_target_is_refused() -> None:
    brokers = [broker(1), broker(2), broker(3, fenced=True)]
    with pytest.raises(ReassignmentRefused, match="broker 3 is fenced and would not copy anything"):
        drain(layout(partition("a-0", 1), brokers=brokers), [1], targets=[2, 3])


def test_a_fenced_broker_gets_nothing() -> None:
    brokers = [broker(1), broker(2, fenced=True), broker(3)]
    (move,) = drain(layout(partition("a-0", 1), brokers=brokers), [1]).moves
    assert move.new == (3,)


@given(layouts(), st.integers(1, 6))
def test_every_drain_is_valid_or_refused(cluster: ClusterLayout, leaving: int) -> None:
    try:
        plan = drain(cluster, [leaving])
    except ReassignmentRefused:
        return
    assert_valid(plan)
    after = applied(plan)
    for key, state in after.partitions.items():
        old = cluster.partitions[key].replicas
        assert leaving not in state.replicas
        assert len(state.replicas) == len(old)
        assert len(set(state.replicas) - set(old)) == (leaving in old)
        usable = (set(cluster.targets()) | set(old)) - {leaving}
        possible = racks_of(cluster, usable)
        assert racks_of(cluster, state.replicas) >= min(racks_of(cluster, old), possible)
    assert not drain(after, [leaving]).moves


@given(layouts(), st.randoms(use_true_random=False))
def test_a_plan_does_not_depend_on_the_order_of_an_answer(
    cluster: ClusterLayout, random: Random
) -> None:
    states, brokers = list(cluster.partitions.values()), list(cluster.brokers.values())
    random.shuffle(states)
    random.shuffle(brokers)
    try:
        moves = drain(cluster, [1]).moves
    except ReassignmentRefused:
        return
    assert drain(ClusterLayout.of(states, brokers), [1]).moves == moves


@given(layouts(racks=0, healthy=True))
def test_no_choice_of_targets_is_more_even(cluster: ClusterLayout) -> None:
    """Try every choice, where they are few enough; without racks any of them is permitted."""
    try:
        plan = drain(cluster, [1])
    except ReassignmentRefused:
        return
    load = Counter(b for state in cluster.partitions.values() for b in state.replicas)
    choices = [sorted(set(cluster.brokers) - {1} - set(move.old)) for move in plan.moves]
    combinations = 1
    for choice in choices:
        combinations *= len(choice)
    if not 1 < combinations <= 500:
        return
    brokers = sorted(set(cluster.brokers) - {1})

    def squares(targets: tuple[int, ...]) -> int:
        after = load + Counter(targets)
        return sum(after[b] ** 2 for b in brokers)

    chosen = tuple(broker for move in plan.moves for broker in move.adding)
    assert squares(chosen) == min(map(squares, product(*choices)))
