"""The replication factor is raised and lowered without moving what may stay."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.admin.errors import ReassignmentRefused
from kwire.admin.reassignment.layout import ClusterLayout
from kwire.admin.reassignment.replication_factor import set_replication_factor
from kwire.errors import InvalidValue
from tests.support.admin.layouts import (
    applied,
    assert_valid,
    broker,
    layout,
    layouts,
    partition,
    racks_of,
)


def test_new_replicas_follow_those_that_are_there() -> None:
    (move,) = set_replication_factor(layout(partition("a-0", 2, 1), brokers=3), 3, ["a"]).moves
    assert move.new == (2, 1, 3)


def test_new_replicas_go_to_other_racks_first() -> None:
    brokers = [broker(1, "x"), broker(2, "x"), broker(3, "y"), broker(4, "y"), broker(5, "z")]
    (move,) = set_replication_factor(layout(partition("a-0", 1), brokers=brokers), 3, ["a"]).moves
    assert move.new == (1, 3, 5)


def test_other_topics_are_left_alone_and_their_load_counts() -> None:
    cluster = layout(partition("a-0", 1), partition("b-0", 2), brokers=3)
    (move,) = set_replication_factor(cluster, 2, ["a"]).moves
    assert (str(move.partition), move.new) == ("a-0", (1, 3))


def test_the_leader_stays_when_replicas_go() -> None:
    cluster = layout(partition("a-0", 1, 2, 3, leader=3, isr=(3,)), brokers=3)
    (move,) = set_replication_factor(cluster, 1, ["a"]).moves
    assert move.new == (3,)


def test_the_preferred_leader_stays_beside_the_leader() -> None:
    cluster = layout(partition("a-0", 1, 2, 3, leader=3), brokers=3)
    (move,) = set_replication_factor(cluster, 2, ["a"]).moves
    assert move.new == (1, 3)


def test_replicas_out_of_sync_go_first() -> None:
    cluster = layout(partition("a-0", 1, 2, 3, isr=(1, 3)), brokers=3)
    (move,) = set_replication_factor(cluster, 2, ["a"]).moves
    assert move.new == (1, 3)


def test_replicas_that_share_a_rack_go_before_others() -> None:
    brokers = [broker(1, "x"), broker(2, "y"), broker(3, "x")]
    cluster = layout(partition("a-0", 1, 2, 3), brokers=brokers)
    (move,) = set_replication_factor(cluster, 2, ["a"]).moves
    assert move.new == (1, 2)


def test_without_a_leader_the_first_in_sync_stays() -> None:
    cluster = layout(partition("a-0", 1, 2, 3, leader=None, isr=(2,)), brokers=3)
    (move,) = set_replication_factor(cluster, 1, ["a"]).moves
    assert move.new == (2,)


@pytest.mark.parametrize("factor", [0, -1, 32_768])
def test_a_factor_that_kafka_does_not_have_is_refused(factor: int) -> None:
    with pytest.raises(InvalidValue, match="a replication factor is 1 to 32767"):
        set_replication_factor(layout(partition("a-0", 1), brokers=1), factor, ["a"])


def test_more_replicas_than_brokers_are_refused() -> None:
    with pytest.raises(ReassignmentRefused, match="a-0 is to have 4 replicas, and only 3 brokers"):
        set_replication_factor(layout(partition("a-0", 1), brokers=3), 4, ["a"])


def test_an_unknown_topic_is_refused() -> None:
    with pytest.raises(ReassignmentRefused, match="the cluster has no topic b"):
        set_replication_factor(layout(partition("a-0", 1), brokers=3), 2, ["a", "b"])


@given(layouts(), st.integers(1, 6))
def test_every_factor_is_reached_or_refused(cluster: ClusterLayout, factor: int) -> None:
    try:
        plan = set_replication_factor(cluster, factor, ["a"])
    except ReassignmentRefused:
        return
    assert_valid(plan)
    after = applied(plan)
    for key, state in after.partitions.items():
        old = cluster.partitions[key]
        if key.topic != "a":
            assert state.replicas == old.replicas
            continue
        assert len(state.replicas) == factor
        shorter, longer = sorted([set(old.replicas), set(state.replicas)], key=len)
        assert shorter <= longer
        if len(old.replicas) <= factor:
            assert state.replicas[: len(old.replicas)] == old.replicas
        else:
            assert old.leader is None or old.leader in state.replicas
            assert set(old.isr) & set(state.replicas) or not old.isr
    assert not set_replication_factor(after, factor, ["a"]).moves


@given(layouts(healthy=True), st.integers(1, 6))
def test_where_all_are_in_sync_the_racks_stay_as_many_as_they_can(
    cluster: ClusterLayout, factor: int
) -> None:
    try:
        plan = set_replication_factor(cluster, factor, ["a"])
    except ReassignmentRefused:
        return
    for move in plan.moves:
        old, new = racks_of(cluster, move.old), racks_of(cluster, move.new)
        assert new >= min(old, factor)
        if move.adding:
            assert new == min(old + len(move.adding), racks_of(cluster, cluster.brokers))


@given(layouts(racks=0, healthy=True), st.integers(2, 6))
def test_no_new_replica_would_be_better_elsewhere(cluster: ClusterLayout, factor: int) -> None:
    try:
        plan = set_replication_factor(cluster, factor, ["a"])
    except ReassignmentRefused:
        return
    load = Counter(b for s in applied(plan).partitions.values() for b in s.replicas)
    for move in plan.moves:
        for target in move.adding:
            others = set(cluster.brokers) - set(move.new)
            assert all(load[target] <= load[other] + 1 for other in others)
