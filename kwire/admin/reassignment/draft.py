"""Replica lists while a plan is made, with the load of the brokers and the rule of the racks.

The rule: a partition's replicas lie in as many racks as possible, and as evenly. It is kept by
adding in the rack that has the fewest of the partition, and removing where it has the most.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Never

from kwire.admin.errors import ReassignmentRefused
from kwire.admin.reassignment.layout import ClusterLayout
from kwire.admin.reassignment.load import BrokerLoad, even_out
from kwire.admin.topic_partition import TopicPartition


class ReplicaDraft:
    """The members of each partition, in no order that counts, and the replicas on each broker."""

    def __init__(self, layout: ClusterLayout) -> None:
        self.layout = layout
        self.load = BrokerLoad()
        self.members: dict[TopicPartition, list[int]] = {key: [] for key in layout.partitions}
        for partition, state in layout.partitions.items():
            for broker in state.replicas:
                self.add(partition, broker)

    def add(self, partition: TopicPartition, broker: int) -> None:
        """Give a partition another replica."""
        self.members[partition].append(broker)
        self.load.count(partition, broker)

    def remove(self, partition: TopicPartition, broker: int) -> None:
        """Take a replica from a partition."""
        self.members[partition].remove(broker)
        self.load.count(partition, broker, -1)

    def replicas(self) -> dict[TopicPartition, tuple[int, ...]]:
        """Return the members of each partition, those that stay in their old places."""
        return {
            partition: in_old_places(state.replicas, self.members[partition])
            for partition, state in self.layout.partitions.items()
        }

    def fill(self, sizes: Mapping[TopicPartition, int], targets: Sequence[int]) -> None:
        """Add replicas on the idlest targets until each partition has its size; even them out.

        Raises ReassignmentRefused if there are too few targets.
        """
        for partition, size in sizes.items():
            idlest = partial(self.load.total_first, partition)
            while len(self.members[partition]) < size:
                candidates = self.additions(partition, targets)
                if not candidates:
                    self._refuse(partition, size, targets)
                self.add(partition, min(candidates, key=idlest))
        even_out(MovableReplicas(self, sizes, only_new=True), self.load.total, targets)

    def additions(self, partition: TopicPartition, targets: Sequence[int]) -> list[int]:
        """Return the targets whose racks have the fewest replicas of this partition."""
        racks = self.racks(partition)
        free = [broker for broker in targets if broker not in self.members[partition]]
        fewest = min((racks[self.layout.rack(broker)] for broker in free), default=0)
        return [broker for broker in free if racks[self.layout.rack(broker)] == fewest]

    def crowded(self, partition: TopicPartition, brokers: Collection[int]) -> list[int]:
        """Return those of the brokers whose racks have the most replicas of this partition."""
        racks = self.racks(partition)
        most = max((racks[self.layout.rack(broker)] for broker in brokers), default=0)
        return [broker for broker in brokers if racks[self.layout.rack(broker)] == most]

    def may_move(self, partition: TopicPartition, source: int, target: int) -> bool:
        """Return True if a replica may go from source to target without crowding a rack."""
        members = self.members[partition]
        if source not in members or target in members:
            return False
        old, new = self.layout.rack(source), self.layout.rack(target)
        if old == new:
            return True
        racks = self.racks(partition)
        return racks[new] < racks[old]

    def _refuse(self, partition: TopicPartition, size: int, targets: Sequence[int]) -> Never:
        usable = sorted({*self.members[partition], *targets})
        replicas = "1 replica" if size == 1 else f"{size} replicas"
        brokers = "1 broker" if len(usable) == 1 else f"{len(usable)} brokers"
        raise ReassignmentRefused(
            f"{partition} is to have {replicas}, and only {brokers} can hold one"
            f" ({', '.join(map(str, usable)) or 'none'}): start another broker, or choose a lower"
            " replication factor"
        )

    def racks(self, partition: TopicPartition) -> Counter[str | None]:
        """Count the replicas of a partition in each rack."""
        return Counter(self.layout.rack(broker) for broker in self.members[partition])


class MovableReplicas:
    """The replicas of some partitions, as `even_out` moves them.

    topic_stays: permit only moves that leave the load of the partition's topic as even as it is.
    only_new: leave those alone that were there before, so that no further data is copied.
    """

    def __init__(
        self,
        draft: ReplicaDraft,
        partitions: Collection[TopicPartition],
        topic_stays: bool = False,
        *,
        only_new: bool = False,
    ) -> None:
        self._draft = draft
        self._topic_stays = topic_stays
        self._on: defaultdict[int, dict[TopicPartition, None]] = defaultdict(dict)
        for partition in partitions:
            for broker in draft.members[partition]:
                if not (only_new and broker in draft.layout.partitions[partition].replicas):
                    self._on[broker][partition] = None

    def on(self, broker: int) -> list[TopicPartition]:
        """Return the partitions of a broker: new replicas first, preferred leaders last."""
        return sorted(self._on[broker], key=lambda partition: self._cost(partition, broker))

    def may_move(self, partition: TopicPartition, source: int, target: int) -> bool:
        """Return True if the racks, and if wanted the topic's load, permit it."""
        load = self._draft.load.by_topic[partition.topic]
        if self._topic_stays and load[source] <= load[target]:
            return False
        return self._draft.may_move(partition, source, target)

    def move(self, partition: TopicPartition, source: int, target: int) -> None:
        """Replace a member."""
        del self._on[source][partition]
        self._on[target][partition] = None
        self._draft.remove(partition, source)
        self._draft.add(partition, target)

    def _cost(self, partition: TopicPartition, broker: int) -> int:
        old = self._draft.layout.partitions[partition].replicas
        if broker not in old:
            return 0
        return 2 if broker == old[0] else 1


def in_old_places(old: Sequence[int], members: Collection[int]) -> tuple[int, ...]:
    """Return the members in their old order, new ones in the places of those that go.

    The first place is not refilled: a replica that has the data comes before a new one.
    """
    added = sorted(broker for broker in members if broker not in old)
    result = []
    for place, broker in enumerate(old):
        if broker in members:
            result.append(broker)
        elif place and added:
            result.append(added.pop(0))
    return *result, *added
