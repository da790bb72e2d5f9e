"""Plan to spread topics over brokers, as kafka-reassign-partitions --generate does, and no further.

Kafka's tool assigns every replica anew from a random broker on; here what lies well is left there,
so that planning again plans nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from kwire.admin.reassignment.draft import MovableReplicas, ReplicaDraft
from kwire.admin.reassignment.layout import ClusterLayout
from kwire.admin.reassignment.leaders import spread_leaders
from kwire.admin.reassignment.load import even_out_topics
from kwire.admin.reassignment.plan import ReassignmentPlan, plan_of
from kwire.admin.topic_partition import TopicPartition


def spread(
    layout: ClusterLayout, topics: Collection[str], *, targets: Collection[int] | None = None
) -> ReassignmentPlan:
    """Plan to spread the replicas and the preferred leaders of the topics over the targets.

    1. Replicas on other brokers move.
    2. Replicas that share a rack move while the partition is not in every rack it could be in.
    3. Replicas move until every topic is even, then until the total of the targets is.
    4. The preferred leaders of every topic are spread evenly, then their total.

    targets: None for all brokers that are not fenced.
    Raises ReassignmentRefused if a topic or a broker is unknown, or a broker is fenced, or there
    are too few.
    """
    usable = layout.targets(targets)
    states = layout.of_topics(topics)
    partitions = [state.partition for state in states]
    draft = ReplicaDraft(layout)
    # 1.
    for state in states:
        for broker in set(state.replicas) - set(usable):
            draft.remove(state.partition, broker)
        # 2.
        for _ in range(_missing_racks(draft, state.partition, len(state.replicas), usable)):
            members = draft.crowded(state.partition, draft.members[state.partition])
            busiest = partial(draft.load.topic_first, state.partition)
            draft.remove(state.partition, max(members, key=busiest))
    draft.fill({state.partition: len(state.replicas) for state in states}, usable)
    # 3.
    even_out_topics(partial(MovableReplicas, draft), draft.load, partitions, usable)
    # 4.
    return plan_of(layout, spread_leaders(layout, draft.replicas(), partitions))


def _missing_racks(
    draft: ReplicaDraft, partition: TopicPartition, size: int, targets: Collection[int]
) -> int:
    """Return how many members have to go, so that new ones reach every rack they could."""
    racks = {draft.layout.rack(broker) for broker in targets}
    members = draft.members[partition]
    reached = len(draft.racks(partition)) + size - len(members)
    return max(0, min(size, len(racks)) - reached)
