"""Plan to move every replica off some brokers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kwire.admin.reassignment.draft import ReplicaDraft
from kwire.admin.reassignment.leaders import refill_leaders
from kwire.admin.reassignment.moving_cluster import MovingCluster
from kwire.admin.reassignment.plan import ReassignmentPlan, ReplicaMove, plan_of
from kwire.admin.topic_partition import TopicPartition


def drain(
    cluster: MovingCluster, leaving: Collection[int], *, targets: Collection[int] | None = None
) -> ReassignmentPlan:
    """Plan to move every replica off the brokers that leave, and nothing else.

    1. Only their replicas move: the fewest copies there can be.
    2. Each goes to a broker in a rack that has the fewest of the partition.
    3. Among those brokers the replicas of all topics are spread as evenly as that permits.
    4. A partition whose preferred leader leaves gets another, the leaders spread evenly too.
    5. A move off them that is under way and waits for nothing is planned again, to end it.

    targets: the brokers that may get replicas; None for all that are not fenced.
    Raises ReassignmentRefused if a broker is unknown, or too few would remain.
    """
    layout = cluster.layout
    layout.known_or_assigned({*leaving}.difference(*cluster.replicas.values()))
    stay = [broker for broker in layout.targets(targets) if broker not in leaving]
    draft = ReplicaDraft(layout)
    sizes: dict[TopicPartition, int] = {}
    # 1.
    for partition, state in layout.partitions.items():
        for broker in leaving:
            if broker in state.replicas:
                sizes[partition] = len(state.replicas)
                draft.remove(partition, broker)
    # 2. and 3.
    draft.fill(sizes, stay)
    # 4.
    planned = plan_of(layout, refill_leaders(layout, draft.replicas()))
    # 5.
    again = tuple(
        ReplicaMove(partition=key, old=old, new=layout.partitions[key].replicas)
        for key, old in cluster.replicas.items()
        if not {*leaving}.isdisjoint(old) and key not in sizes and cluster.waits_for_nothing(key)
    )
    return replace(planned, moves=(*planned.moves, *again))
