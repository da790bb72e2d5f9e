"""The order in which Java walks through a HashSet.

Kafka's controller writes the members of an ELR in this order (PartitionChangeBuilder), and adds
partitions to topics in it (ControllerApis.createPartitions); logs of both controllers are to have
the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from kwire.text.java_hash import java_hash


def hash_set_order(first: Sequence[int], *more: Sequence[int]) -> tuple[int, ...]:
    """Return the ids in the order of `new HashSet<>(first)`, to which `more` were added.

    Each id comes once. Ids are at least 0 and below 2^31.

    1. The table has room for `first`, 16 buckets at least; it doubles when it is filled by more
       than three quarters.
    2. A bucket is chosen by the lowest bits of a hash; ids in one bucket stay in order of arrival.
    """
    # 1.
    buckets = 16
    while buckets < int(len(first) / 0.75) + 1:
        buckets *= 2
    members = tuple(dict.fromkeys((*first, *(id for ids in more for id in ids))))
    while len(members) > buckets * 3 // 4:
        buckets *= 2
    # 2. Java's hash of an Integer is its value.
    return tuple(sorted(members, key=lambda id: _bucket(id, buckets)))


def text_bucket(text: str, members: int) -> int:
    """Return the bucket of a text in a HashSet with so many members, which came one by one.

    Those in one bucket stay in order of arrival.
    """
    buckets = 16
    while members > buckets * 3 // 4:
        buckets *= 2
    return _bucket(java_hash(text), buckets)


def _bucket(hashed: int, buckets: int) -> int:
    # HashMap mixes the upper half of a hash into the lower.
    return (hashed ^ hashed >> 16) & (buckets - 1)
