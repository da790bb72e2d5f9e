"""A plan of reassignments: old and new replicas of each partition that changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kwire.admin.reassignment.layout import ClusterLayout
from kwire.admin.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaMove:
    """The replicas of one partition before and after, each with the preferred leader first."""

    partition: TopicPartition
    old: tuple[int, ...]
    new: tuple[int, ...]

    @property
    def adding(self) -> tuple[int, ...]:
        """The brokers that have to copy the partition."""
        return tuple(broker for broker in self.new if broker not in self.old)

    @property
    def removing(self) -> tuple[int, ...]:
        """The brokers that delete their replica."""
        return tuple(broker for broker in self.old if broker not in self.new)

    @property
    def only_reorders(self) -> bool:
        """True if no data moves: only the preferred leader or the order changes."""
        return sorted(self.old) == sorted(self.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerMoves:
    """The difference that a plan makes to one broker: numbers of replicas and preferred leaders."""

    broker: int
    adding: int
    removing: int
    replicas_before: int
    replicas_after: int
    leaders_before: int
    leaders_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReassignmentPlan:
    """The moves that lead from a layout to another, by partition."""

    layout: ClusterLayout
    moves: tuple[ReplicaMove, ...]

    @property
    def copies(self) -> int:
        """The number of replicas that are copied to another broker."""
        return sum(len(move.adding) for move in self.moves)

    @property
    def by_broker(self) -> tuple[BrokerMoves, ...]:
        """The difference to every broker, those that it leaves alone too."""
        old = {key: state.replicas for key, state in self.layout.partitions.items()}
        new = {**old, **{move.partition: move.new for move in self.moves}}
        adding = Counter(broker for move in self.moves for broker in move.adding)
        removing = Counter(broker for move in self.moves for broker in move.removing)
        before, after = _replicas(old), _replicas(new)
        leaders_before, leaders_after = _leaders(old), _leaders(new)
        return tuple(
            BrokerMoves(
                broker=broker,
                adding=adding[broker],
                removing=removing[broker],
                replicas_before=before[broker],
                replicas_after=after[broker],
                leaders_before=leaders_before[broker],
                leaders_after=leaders_after[broker],
            )
            for broker in sorted({*self.layout.brokers, *before, *after})
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The reasons why a move would not end by itself.

        The controller ends a reassignment when every new replica is in sync, those that stay
        included (PartitionReassignmentReplicas.java); without a leader nothing is copied.
        """
        return tuple(self._unending())

    def _unending(self) -> Iterator[str]:
        for move in self.moves:
            state = self.layout.partitions[move.partition]
            if move.only_reorders and not move.removing:
                continue
            if state.leader is None:
                yield f"{move.partition} has no leader: its move ends only after it has one"
                continue
            behind = [b for b in move.new if b in move.old and b not in state.isr]
            if behind:
                ids = ", ".join(map(str, behind))
                yield f"{move.partition} keeps {ids}, not in sync: its move ends only once it is"


def plan_of(
    layout: ClusterLayout, replicas: Mapping[TopicPartition, tuple[int, ...]]
) -> ReassignmentPlan:
    """Return the plan that leads from a layout to these replicas."""
    moves = tuple(
        ReplicaMove(partition=partition, old=state.replicas, new=replicas[partition])
        for partition, state in layout.partitions.items()
        if replicas.get(partition, state.replicas) != state.replicas
    )
    return ReassignmentPlan(layout=layout, moves=moves)


def _replicas(assignment: Mapping[TopicPartition, tuple[int, ...]]) -> Counter[int]:
    return Counter(broker for replicas in assignment.values() for broker in replicas)


def _leaders(assignment: Mapping[TopicPartition, tuple[int, ...]]) -> Counter[int]:
    return Counter(replicas[0] for replicas in assignment.values() if replicas)
