"""A plan says what it does to each broker, and which of its moves would not end."""

from kwire.admin.reassignment.plan import ReassignmentPlan, plan_of
from kwire.admin.topic_partition import TopicPartition
from tests.support.admin.layouts import layout, partition

ZERO = TopicPartition("a", 0)


def test_the_difference_to_each_broker_is_counted() -> None:
    cluster = layout(partition("a-0", 1, 2), partition("a-1", 2, 1), brokers=3)
    plan = plan_of(cluster, {ZERO: (3, 2)})
    assert [
        (b.broker, b.adding, b.removing, b.replicas_before, b.replicas_after)
        for b in plan.by_broker
    ] == [(1, 0, 1, 2, 1), (2, 0, 0, 2, 2), (3, 1, 0, 0, 1)]
    assert [(b.leaders_before, b.leaders_after) for b in plan.by_broker] == [(1, 0), (1, 1), (0, 1)]


def test_partitions_that_stay_as_they_are_are_no_moves() -> None:
    cluster = layout(partition("a-0", 1, 2), brokers=3)
    assert plan_of(cluster, {ZERO: (1, 2)}).moves == ()


def test_another_order_moves_no_data() -> None:
    (move,) = plan_of(layout(partition("a-0", 1, 2), brokers=2), {ZERO: (2, 1)}).moves
    assert (move.adding, move.removing, move.only_reorders) == ((), (), True)


def warnings(plan: ReassignmentPlan) -> str:
    (only,) = plan.warnings
    return only


def test_a_partition_without_a_leader_is_warned_of() -> None:
    cluster = layout(partition("a-0", 1, leader=None, isr=(1,)), brokers=2)
    assert "a-0 has no leader" in warnings(plan_of(cluster, {ZERO: (2,)}))


def test_a_replica_that_stays_behind_is_warned_of() -> None:
    cluster = layout(partition("a-0", 1, 2, isr=(1,)), brokers=3)
    assert "a-0 keeps 2, not in sync" in warnings(plan_of(cluster, {ZERO: (3, 2)}))
