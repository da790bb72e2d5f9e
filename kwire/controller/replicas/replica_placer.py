"""The placement of new partitions' replicas on brokers (Java: StripedReplicaPlacer).

Replicas of a partition are spread over the racks, leaders and followers over the brokers, and
fenced brokers come last: they never lead.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence
from dataclasses import dataclass
from typing import Any, Protocol

from kwire.error_codes import ErrorCode
from kwire.errors import ApiError


class RandomSource(Protocol):
    """The source of random numbers, which is seeded in tests and in the simulator."""

    def randrange(self, stop: int, /) -> int:
        """Return a number from 0 to below `stop`."""

    def getrandbits(self, count: int, /) -> int:
        """Return a number of `count` bits."""

    def shuffle(self, items: MutableSequence[Any], /) -> None:
        """Bring items into another order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsableBroker:
    """A broker that may get replicas."""

    id: int
    rack: str | None
    fenced: bool


class BrokerList:
    """Brokers in a circle; every epoch begins at the next one and returns each of them once.

    An epoch is one round of `RackList`, a partition; it has nothing to do with those of leaders.
    """

    def __init__(self, brokers: list[int], random: RandomSource) -> None:
        self._brokers = sorted(brokers)
        self._offset = random.randrange(len(brokers)) if brokers else 0
        self._index = 0
        self._epoch = 0

    def shuffle(self, random: RandomSource) -> None:
        """Bring them into another order."""
        random.shuffle(self._brokers)

    def next(self, epoch: int) -> int | None:
        """Return the next broker of this epoch; None after the last."""
        if not self._brokers:
            return None
        if self._epoch != epoch:
            self._epoch, self._index = epoch, 0
            self._offset = (self._offset + 1) % len(self._brokers)
        if self._index >= len(self._brokers):
            return None
        broker = self._brokers[(self._index + self._offset) % len(self._brokers)]
        self._index += 1
        return broker


class Rack:
    """The brokers of one rack."""

    def __init__(self, brokers: list[UsableBroker], random: RandomSource) -> None:
        self.fenced = BrokerList([broker.id for broker in brokers if broker.fenced], random)
        self.unfenced = BrokerList([broker.id for broker in brokers if not broker.fenced], random)

    def next(self, epoch: int) -> int | None:
        """Return the next broker of this epoch, unfenced ones first; None after the last."""
        broker = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if broker is None else broker

    def shuffle(self, random: RandomSource) -> None:
        """Bring the brokers into another order."""
        self.fenced.shuffle(random)
        self.unfenced.shuffle(random)


class RackList:
    """All racks in a circle; every partition begins at the next one."""

    def __init__(self, brokers: list[UsableBroker], random: RandomSource) -> None:
        # No rack comes first, and is not the one without a name (Java: OptionalStringComparator).
        names = sorted({broker.rack for broker in brokers}, key=lambda n: (n is not None, n or ""))
        self._racks = [
            Rack([broker for broker in brokers if broker.rack == name], random) for name in names
        ]
        self._order = list(self._racks)
        self._unfenced = sum(not broker.fenced for broker in brokers)
        self._random = random
        self._offset = random.randrange(len(names)) if names else 0
        self._epoch = 0

    def place(self, replication_factor: int) -> tuple[int, ...]:
        """Return the replicas of the next partition; the first is unfenced, since it leads."""
        if self._epoch == self._unfenced and self._unfenced > 1:
            self._shuffle()
        count = len(self._order)
        self._offset %= count
        first = self._offset
        while (leader := self._order[first].unfenced.next(self._epoch)) is None:
            first = (first + 1) % count
        replicas = [leader]
        index, leaders_rack = self._offset, first
        while len(replicas) < replication_factor:
            if index == leaders_rack:
                # It has a replica already: its turn comes again in the next round.
                leaders_rack = -1
            elif (broker := self._order[index].next(self._epoch)) is not None:
                replicas.append(broker)
            index = (index + 1) % count
        self._epoch += 1
        self._offset += 1
        return tuple(replicas)

    def _shuffle(self) -> None:
        """Change the order of racks and brokers once each broker has led a partition.

        The next partitions then have their followers on other brokers.
        """
        self._random.shuffle(self._order)
        for rack in self._racks:
            rack.shuffle(self._random)
        self._epoch = 0


def place(
    partitions: int, replication_factor: int, brokers: Iterable[UsableBroker], random: RandomSource
) -> list[tuple[int, ...]]:
    """Return the replicas of new partitions. Raises ApiError with INVALID_REPLICATION_FACTOR if:

    1. the replication factor is not positive;
    2. every broker is fenced;
    3. the replication factor is above the number of brokers.
    """
    usable = list(brokers)
    # 1.
    if replication_factor <= 0:
        raise _invalid(f"{replication_factor} is not a number of replicas: give 1 or more.")
    # 2.
    if all(broker.fenced for broker in usable):
        raise _invalid("All brokers are currently fenced.")
    # 3.
    if replication_factor > len(usable):
        raise _invalid(f"{replication_factor} replicas need more than the {len(usable)} brokers.")
    racks = RackList(usable, random)
    return [racks.place(replication_factor) for _ in range(partitions)]


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
