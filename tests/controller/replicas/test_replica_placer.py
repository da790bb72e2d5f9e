"""Placement, with the numbers of Kafka's StripedReplicaPlacerTest and its MockRandom."""

from collections import Counter
from collections.abc import MutableSequence
from typing import Any

import pytest

from kwire.controller.replicas.replica_placer import RackList, UsableBroker, place
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError


class MockRandom:
    """java.util.Random over the generator of org.apache.kafka.common.utils... MockRandom."""

    def __init__(self) -> None:
        self.state = 17

    def bits(self, count: int) -> int:
        self.state = (self.state * 2862933555777941757 + 3037000493) % (1 << 64)
        return self.state >> (64 - count)

    def randrange(self, stop: int, /) -> int:
        found = self.bits(31)
        if stop & (stop - 1) == 0:
            return (stop * found) >> 31
        while found - found % stop + stop - 1 >= 1 << 31:
            found = self.bits(31)
        return found % stop

    def getrandbits(self, count: int, /) -> int:
        return self.bits(count)

    def shuffle(self, items: MutableSequence[Any], /) -> None:
        for end in range(len(items), 1, -1):
            other = self.randrange(end)
            items[end - 1], items[other] = items[other], items[end - 1]


def brokers(*ids: int, fenced: tuple[int, ...] = (), racks: bool = False) -> list[UsableBroker]:
    return [
        UsableBroker(id=id, rack=str(id // 10) if racks else None, fenced=id in fenced)
        for id in ids
    ]


def test_fenced_replicas_are_avoided_on_a_single_rack() -> None:
    racks = RackList(brokers(3, 1, 0, 4, 2, fenced=(1,)), MockRandom())

    placed = [racks.place(4) for _ in range(5)]

    assert placed == [(3, 4, 0, 2), (4, 0, 2, 3), (0, 2, 3, 4), (2, 3, 4, 0), (0, 4, 3, 2)]


def test_fenced_replicas_come_last_on_a_single_rack() -> None:
    racks = RackList(brokers(3, 1, 2, fenced=(1,)), MockRandom())

    placed = [racks.place(3) for _ in range(4)]

    assert placed == [(3, 2, 1), (2, 3, 1), (3, 2, 1), (2, 3, 1)]


def test_replicas_are_spread_over_racks() -> None:
    racks = RackList(brokers(11, 10, 30, 31, 21, 20, fenced=(20,), racks=True), MockRandom())

    placed = [racks.place(4) for _ in range(3)]

    assert placed == [(11, 21, 31, 10), (21, 30, 10, 20), (31, 11, 21, 30)]


def test_no_rack_and_the_rack_without_a_name_are_two() -> None:
    racks = {1: "a", 2: None, 3: "", 4: None, 5: "b"}
    usable = [UsableBroker(id=id, rack=rack, fenced=False) for id, rack in racks.items()]
    assert RackList(usable, MockRandom()).place(4) == (4, 3, 1, 5)


def test_a_rack_without_unfenced_brokers_does_not_lead() -> None:
    usable = brokers(11, 10, 30, 31, 20, 21, 41, 40, fenced=(30, 31, 20, 21, 40), racks=True)
    racks = RackList(usable, MockRandom())

    placed = [racks.place(4) for _ in range(3)]

    assert placed == [(41, 11, 21, 30), (10, 20, 31, 41), (41, 21, 30, 11)]


def test_partitions_begin_one_further_and_are_shuffled_after_a_round() -> None:
    placed = place(5, 3, brokers(0, 3, 2, 1), MockRandom())

    assert placed == [(2, 3, 0), (3, 0, 1), (0, 1, 2), (1, 2, 3), (1, 0, 2)]


def test_one_unfenced_broker_gets_every_partition() -> None:
    assert place(3, 1, brokers(0, 1, fenced=(1,)), MockRandom()) == [(0,), (0,), (0,)]


def test_many_partitions_are_distributed_as_kafka_distributes_them() -> None:
    placed = Counter(place(200, 2, brokers(0, 1, 2, 3), MockRandom()))

    assert placed == {
        (0, 1): 14, (0, 2): 22, (0, 3): 14, (1, 0): 17, (1, 2): 17, (1, 3): 16,
        (2, 0): 13, (2, 1): 17, (2, 3): 20, (3, 0): 20, (3, 1): 19, (3, 2): 11,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("factor", "usable", "reason"),
    [
        (1, brokers(11, 10, fenced=(11, 10)), "All brokers are currently fenced"),
        (3, brokers(11, 10), "3 replicas need more than the 2 brokers"),
        (0, brokers(11, 10), "0 is not a number of replicas"),
    ],
)
def test_what_has_no_place_is_refused(factor: int, usable: list[UsableBroker], reason: str) -> None:
    with pytest.raises(ApiError, match=reason) as caught:
        place(1, factor, usable, MockRandom())
    assert caught.value.code == ErrorCode.INVALID_REPLICATION_FACTOR
