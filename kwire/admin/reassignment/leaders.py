"""The preferred leaders of a plan: the first replica of each list, spread evenly.

An order costs nothing to change: no data is copied for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import partial

from kwire.admin.reassignment.layout import ClusterLayout
from kwire.admin.reassignment.load import BrokerLoad, even_out, even_out_topics
from kwire.admin.topic_partition import TopicPartition

Replicas = dict[TopicPartition, tuple[int, ...]]


def refill_leaders(layout: ClusterLayout, replicas: Replicas) -> Replicas:
    """Return the lists with a new preferred leader where the old one is gone, even in total."""
    draft = _LeaderDraft(layout, replicas)
    even_out(MovableLeaders(draft, draft.newly_led), draft.load.total, layout.brokers)
    return draft.ordered()


def spread_leaders(
    layout: ClusterLayout, replicas: Replicas, partitions: Collection[TopicPartition]
) -> Replicas:
    """Return the lists with the leaders of these partitions even: by topic, then in total."""
    draft = _LeaderDraft(layout, replicas)
    even_out_topics(partial(MovableLeaders, draft), draft.load, partitions, layout.brokers)
    return draft.ordered()


class _LeaderDraft:
    """Preferred leaders while a plan is made: the old one where it stays, else the idlest.

    newly_led: the partitions whose preferred leader is gone.
    """

    def __init__(self, layout: ClusterLayout, replicas: Replicas) -> None:
        self.load = BrokerLoad()
        self.chosen: dict[TopicPartition, int] = {}
        self.newly_led: list[TopicPartition] = []
        self._replicas = replicas
        self._layout = layout
        for partition, members in replicas.items():
            before = layout.partitions[partition].replicas[:1]
            if before and before[0] in members:
                self._choose(partition, before[0])
            elif members:
                self.newly_led.append(partition)
        for partition in self.newly_led:
            idlest = partial(self.load.total_first, partition)
            self._choose(partition, min(self.candidates(partition), key=idlest))

    def candidates(self, partition: TopicPartition) -> list[int]:
        """Return the members that are not fenced; all if all are."""
        members = self._replicas[partition]
        brokers = self._layout.brokers
        live = [b for b in members if b in brokers and not brokers[b].is_fenced]
        return live or list(members)

    def move(self, partition: TopicPartition, target: int) -> None:
        """Let another member lead."""
        self.load.count(partition, self.chosen[partition], -1)
        self._choose(partition, target)

    def ordered(self) -> Replicas:
        """Return every list with its leader first, the others in their order."""
        return {
            partition: tuple(sorted(members, key=lambda b: b != self.chosen[partition]))
            for partition, members in self._replicas.items()
        }

    def _choose(self, partition: TopicPartition, broker: int) -> None:
        self.chosen[partition] = broker
        self.load.count(partition, broker)


class MovableLeaders:
    """The leaderships of some partitions, as `even_out` moves them: to any member that lives.

    topic_stays: permit only moves that leave the load of the partition's topic as even as it is.
    """

    def __init__(
        self,
        draft: _LeaderDraft,
        partitions: Collection[TopicPartition],
        topic_stays: bool = False,
    ) -> None:
        self._draft = draft
        self._topic_stays = topic_stays
        self._candidates: Mapping[TopicPartition, list[int]] = {
            partition: draft.candidates(partition) for partition in partitions
        }
        self._on: defaultdict[int, dict[TopicPartition, None]] = defaultdict(dict)
        for partition in partitions:
            self._on[draft.chosen[partition]][partition] = None

    def on(self, broker: int) -> list[TopicPartition]:
        """Return the partitions that a broker leads."""
        return list(self._on[broker])

    def may_move(self, partition: TopicPartition, source: int, target: int) -> bool:
        """Return True if the target has a replica and, if wanted, the topic's load permits it."""
        load = self._draft.load.by_topic[partition.topic]
        if self._topic_stays and load[source] <= load[target]:
            return False
        return target in self._candidates[partition]

    def move(self, partition: TopicPartition, source: int, target: int) -> None:
        """Let the target lead."""
        del self._on[source][partition]
        self._on[target][partition] = None
        self._draft.move(partition, target)
