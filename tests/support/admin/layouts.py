"""Layouts of clusters for tests of plans, written by hand and drawn at random."""

from collections.abc import Iterable, Mapping

from hypothesis import strategies as st

from kwire.admin.cluster_description import ClusterNode
from kwire.admin.reassignment.layout import ClusterLayout, PartitionReplicas
from kwire.admin.reassignment.plan import ReassignmentPlan
from kwire.admin.topic_partition import TopicPartition


def broker(node_id: int, rack: str | None = None, *, fenced: bool = False) -> ClusterNode:
    return ClusterNode(node_id=node_id, host="localhost", port=9092, rack=rack, is_fenced=fenced)


def partition(
    text: str, *replicas: int, leader: int | None = -1, isr: tuple[int, ...] | None = None
) -> PartitionReplicas:
    """Make a partition that its first replica leads, all of them in sync, unless said otherwise."""
    return PartitionReplicas(
        partition=TopicPartition.parse(text),
        replicas=replicas,
        leader=replicas[0] if leader == -1 else leader,
        isr=replicas if isr is None else isr,
    )


def layout(*partitions: PartitionReplicas, brokers: int | list[ClusterNode]) -> ClusterLayout:
    """Make a layout; a number of brokers stands for that many, from 1 on, without racks."""
    nodes = [broker(id_) for id_ in range(1, brokers + 1)] if isinstance(brokers, int) else brokers
    return ClusterLayout.of(partitions, nodes)


@st.composite
def layouts(draw: st.DrawFn, *, racks: int = 3, healthy: bool = False) -> ClusterLayout:
    """Draw up to three topics over up to six brokers.

    racks: the most there are. healthy: no broker is fenced, every replica in sync.
    """
    ids = range(1, draw(st.integers(1, 6)) + 1)
    rack = st.sampled_from([None, *(f"r{n}" for n in range(racks))] if racks else [None])
    fenced = st.just(False) if healthy else st.sampled_from([False, False, False, True])
    brokers = [broker(id_, draw(rack), fenced=draw(fenced)) for id_ in ids]
    states = []
    for topic in draw(st.sampled_from([["a"], ["a", "b"], ["a", "b", "c"]])):
        factor = draw(st.integers(1, len(ids)))
        for number in range(draw(st.integers(1, 6))):
            replicas = tuple(draw(st.permutations(ids))[:factor])
            isr = replicas if healthy else tuple(draw(st.lists(st.sampled_from(replicas))))
            isr = tuple(dict.fromkeys(isr))
            leader = draw(st.sampled_from(isr)) if isr else None
            states.append(partition(f"{topic}-{number}", *replicas, leader=leader, isr=isr))
    return ClusterLayout.of(states, brokers)


def applied(plan: ReassignmentPlan) -> ClusterLayout:
    """Return the layout after the moves: Kafka ends them when every new replica is in sync."""
    states = dict(plan.layout.partitions)
    for move in plan.moves:
        old = states[move.partition].leader
        states[move.partition] = PartitionReplicas(
            partition=move.partition,
            replicas=move.new,
            leader=old if old in move.new else move.new[0],
            isr=move.new,
        )
    return ClusterLayout.of(states.values(), plan.layout.brokers.values())


def assert_valid(plan: ReassignmentPlan) -> None:
    """Assert that a controller would take the moves, and that each is one."""
    live = {node.node_id for node in plan.layout.brokers.values() if not node.is_fenced}
    for move in plan.moves:
        assert move.new
        assert move.new != move.old
        assert len(set(move.new)) == len(move.new)
        assert set(move.adding) <= live


def racks_of(layout: ClusterLayout, replicas: Iterable[int]) -> int:
    """Count the racks of some replicas."""
    return len({layout.rack(broker) for broker in replicas})


def spans(counts: Mapping[int, int], brokers: Iterable[int]) -> int:
    """Return the difference between the most and the least loaded broker."""
    loads = [counts.get(broker, 0) for broker in brokers]
    return max(loads) - min(loads)
