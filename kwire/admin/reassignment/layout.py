"""The replicas and brokers of a cluster, as far as a plan of reassignments needs them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from kwire.admin.cluster_description import ClusterNode
from kwire.admin.errors import ReassignmentRefused
from kwire.admin.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionReplicas:
    """The replicas of one partition.

    replicas: the preferred leader first. While a reassignment runs, those that it leads to.
    leader: None if the partition has none.
    """

    partition: TopicPartition
    replicas: tuple[int, ...]
    leader: int | None
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLayout:
    """All partitions, in order, and all registered brokers, fenced ones too."""

    partitions: Mapping[TopicPartition, PartitionReplicas]
    brokers: Mapping[int, ClusterNode]

    @classmethod
    def of(cls, partitions: Iterable[PartitionReplicas], brokers: Iterable[ClusterNode]) -> Self:
        """Return a layout with both sorted: a plan does not depend on the order of an answer."""
        return cls(
            partitions={
                state.partition: state for state in sorted(partitions, key=lambda s: s.partition)
            },
            brokers={node.node_id: node for node in sorted(brokers, key=lambda n: n.node_id)},
        )

    def rack(self, broker: int) -> str | None:
        """Return the rack of a broker; None counts as one more rack, that of the unknown."""
        node = self.brokers.get(broker)
        return node.rack if node else None

    def of_topics(self, topics: Collection[str]) -> list[PartitionReplicas]:
        """Return the partitions of these topics. Raises ReassignmentRefused if one has none."""
        present = {partition.topic for partition in self.partitions}
        if missing := sorted(set(topics) - present):
            raise ReassignmentRefused(f"the cluster has no topic {', '.join(missing)}")
        chosen = set(topics)
        return [state for key, state in self.partitions.items() if key.topic in chosen]

    def targets(self, brokers: Collection[int] | None = None) -> list[int]:
        """Return the brokers that may get replicas: these, or all that are not fenced.

        Raises ReassignmentRefused if one of these is unknown or fenced.
        """
        live = [node.node_id for node in self.brokers.values() if not node.is_fenced]
        if brokers is None:
            return live
        self.known(brokers)
        if fenced := sorted(set(brokers) - set(live)):
            raise ReassignmentRefused(
                f"{named_brokers(fenced)} fenced and would not copy anything: start"
                f" {'it' if len(fenced) == 1 else 'them'} first, or choose others"
            )
        return sorted(set(brokers))

    def known(self, brokers: Iterable[int]) -> None:
        """Raise ReassignmentRefused if a broker is not registered."""
        self._refuse(set(brokers) - set(self.brokers))

    def known_or_assigned(self, brokers: Iterable[int]) -> None:
        """Raise ReassignmentRefused if a broker is not registered and has no replica either."""
        assigned = {b for state in self.partitions.values() for b in state.replicas}
        self._refuse(set(brokers) - set(self.brokers) - assigned)

    def _refuse(self, unknown: set[int]) -> None:
        if unknown:
            ids = ", ".join(map(str, sorted(unknown)))
            known = ", ".join(map(str, self.brokers)) or "none"
            raise ReassignmentRefused(f"the cluster has no broker {ids}: its brokers are {known}")


def named_brokers(brokers: Collection[int]) -> str:
    """Return `broker 1 is` or `brokers 1, 2 are`."""
    ids = ", ".join(map(str, brokers))
    return f"broker {ids} is" if len(brokers) == 1 else f"brokers {ids} are"
