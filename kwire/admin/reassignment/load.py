"""The numbers of replicas, or of preferred leaders, on each broker, and how they are evened out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Protocol

from kwire.admin.topic_partition import TopicPartition

CopyLink = tuple[TopicPartition, int, int]
"""A partition whose replica, or leadership, goes from one broker to another."""


class BrokerLoad:
    """Counts by broker: total, and of each topic."""

    def __init__(self) -> None:
        self.total: Counter[int] = Counter()
        self.by_topic: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def count(self, partition: TopicPartition, broker: int, step: int = 1) -> None:
        """Add a replica or leader; with step -1, take it away."""
        self.total[broker] += step
        self.by_topic[partition.topic][broker] += step

    def total_first(self, partition: TopicPartition, broker: int) -> tuple[int, int]:
        """Sort brokers by the total, then by the topic's."""
        return self.total[broker], self.by_topic[partition.topic][broker]

    def topic_first(self, partition: TopicPartition, broker: int) -> tuple[int, int]:
        """Sort brokers by the topic's load, then by the total."""
        return self.by_topic[partition.topic][broker], self.total[broker]


class Movable(Protocol):
    """Replicas or leaderships that may go to other brokers."""

    def on(self, broker: int) -> Iterable[TopicPartition]:
        """Return the partitions that may go from a broker, the cheapest first."""

    def may_move(self, partition: TopicPartition, source: int, target: int) -> bool:
        """Return True if this partition may go from source to target."""

    def move(self, partition: TopicPartition, source: int, target: int) -> None:
        """Let it go there, and count it there."""


def even_out(
    movable: Movable, load: Mapping[int, int], brokers: Iterable[int], *, longest: int = 0
) -> bool:
    """Move until no chain of moves evens the load further; return True if anything moved.

    A chain goes from a broker over others to one that has at least two less: every broker between
    gives one and takes one. Without such a chain the load is as even as the choices permit, where
    moves do not hinder each other (Harvey and others, Semi-matchings for bipartite graphs).

    longest: the most moves of a chain; 0 for any number.
    """
    search = _ChainSearch(movable, load, sorted(brokers), longest)
    moved = False
    while chain := search.chain():
        for partition, source, target in reversed(chain):
            movable.move(partition, source, target)
        moved = True
    return moved


def even_out_topics(
    movable: Callable[[Collection[TopicPartition], bool], Movable],
    load: BrokerLoad,
    partitions: Collection[TopicPartition],
    brokers: Collection[int],
) -> None:
    """Even out the load of each topic, then the total as far as no topic suffers from it.

    movable: makes the moves of some partitions; with True, only those that leave every topic as
    even as it is.
    """
    topics = [list(group) for _, group in groupby(sorted(partitions), key=lambda key: key.topic)]
    moved = True
    # It ends: a step of the first kind lowers the sum of squares of a topic, one of the second kind
    # that of the total, and raises no topic's.
    while moved:
        moved = False
        for topic in topics:
            of_topic = load.by_topic[topic[0].topic]
            moved |= even_out(movable(topic, False), of_topic, brokers)
        moved |= even_out(movable(partitions, True), load.total, brokers, longest=1)


class _ChainSearch:
    def __init__(
        self, movable: Movable, load: Mapping[int, int], brokers: Sequence[int], longest: int
    ) -> None:
        self._movable = movable
        self._load = load
        self._brokers = brokers
        self._longest = longest or len(brokers)
        self._links: dict[tuple[int, int], TopicPartition | None] = {}
        self._on: dict[int, tuple[TopicPartition, ...]] = {}

    def chain(self) -> list[CopyLink]:
        """Return the shortest chain from the most loaded broker that has one; empty if none has."""
        self._links.clear()
        self._on.clear()
        lightest_first = sorted(self._brokers, key=lambda broker: (self._load[broker], broker))
        least = self._load[lightest_first[0]] if lightest_first else 0
        for source in reversed(lightest_first):
            if self._load[source] < least + 2:
                break
            if chain := self._chain_from(source, lightest_first):
                return chain
        return []

    def _chain_from(self, source: int, lightest_first: Sequence[int]) -> list[CopyLink]:
        frontier: dict[int, list[CopyLink]] = {source: []}
        reached = {source}
        for _ in range(self._longest):
            ends: dict[int, list[CopyLink]] = {}
            for broker, chain in frontier.items():
                for target in lightest_first:
                    if target in reached:
                        continue
                    if (link := self._link(broker, target, chain)) is None:
                        continue
                    if self._load[target] <= self._load[source] - 2:
                        return [*chain, link]
                    reached.add(target)
                    ends[target] = [*chain, link]
            frontier = ends
        return []

    def _link(self, source: int, target: int, chain: Sequence[CopyLink]) -> CopyLink | None:
        key = source, target
        if key not in self._links:
            self._links[key] = next(self._candidates(source, target), None)
        partition = self._links[key]
        # A partition takes part once: its second move would be judged by its first.
        used = {link[0] for link in chain}
        if partition in used:
            candidates = self._candidates(source, target)
            partition = next((other for other in candidates if other not in used), None)
        return None if partition is None else (partition, source, target)

    def _candidates(self, source: int, target: int) -> Iterator[TopicPartition]:
        if source not in self._on:
            self._on[source] = tuple(self._movable.on(source))
        return (
            partition
            for partition in self._on[source]
            if self._movable.may_move(partition, source, target)
        )
