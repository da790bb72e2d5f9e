"""Plan to raise or lower the replication factor of topics."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from kwire.admin.reassignment.draft import ReplicaDraft
from kwire.admin.reassignment.layout import ClusterLayout, PartitionReplicas
from kwire.admin.reassignment.leaders import refill_leaders
from kwire.admin.reassignment.plan import ReassignmentPlan, plan_of
from kwire.errors import InvalidValue

LARGEST = 32_767
"""The largest replication factor there is: an int16 in CreateTopics."""


def set_replication_factor(
    layout: ClusterLayout,
    factor: int,
    topics: Collection[str],
    *,
    targets: Collection[int] | None = None,
) -> ReassignmentPlan:
    """Plan to give every partition of the topics as many replicas as `factor` says.

    1. Raising keeps all replicas, in their order, and adds new ones behind them: in a rack that has
       the fewest of the partition, spread evenly.
    2. Lowering keeps the leader. Of the others those go first that are not in sync, then those in
       the most crowded rack, there the preferred leader last, else those of the busiest broker.

    targets: the brokers that may get replicas; None for all that are not fenced.
    Raises InvalidValue for a factor that Kafka does not have, ReassignmentRefused if a topic or a
    broker is unknown, or there are too few brokers.
    """
    if not 1 <= factor <= LARGEST:
        raise InvalidValue(f"a replication factor is 1 to {LARGEST}, not {factor}")
    usable = layout.targets(targets)
    states = layout.of_topics(topics)
    draft = ReplicaDraft(layout)
    # 1.
    draft.fill({state.partition: factor for state in states}, usable)
    # 2.
    for state in states:
        while len(draft.members[state.partition]) > factor:
            draft.remove(state.partition, _least_needed(draft, state))
    return plan_of(layout, refill_leaders(layout, draft.replicas()))


def _least_needed(draft: ReplicaDraft, state: PartitionReplicas) -> int:
    """Return the member that is given up first."""
    leader = _leader(state)
    others = [broker for broker in draft.members[state.partition] if broker != leader]
    behind = [broker for broker in others if broker not in state.isr]
    candidates = draft.crowded(state.partition, behind or others)
    candidates = [broker for broker in candidates if broker != state.replicas[0]] or candidates
    return max(candidates, key=partial(draft.load.total_first, state.partition))


def _leader(state: PartitionReplicas) -> int:
    """Return the leader; without one, the first replica in sync, which Kafka would elect."""
    if state.leader in state.replicas:
        return state.leader
    in_sync = [broker for broker in state.replicas if broker in state.isr]
    return (in_sync or state.replicas)[0]
