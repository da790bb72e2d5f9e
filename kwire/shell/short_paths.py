"""Short paths: `/topics/orders` for `/image/topics/byName/orders`. Every command takes both.

`/partitions/orders-3` is `/image/topics/byName/orders/3`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FOLDERS: Mapping[str, tuple[str, ...]] = {
    "acls": ("image", "acls", "byId"),
    "brokers": ("image", "cluster", "brokers"),
    "configs": ("image", "configs"),
    "controllers": ("image", "cluster", "controllers"),
    "features": ("image", "features"),
    "producerIds": ("image", "producerIds"),
    "quotas": ("image", "clientQuotas"),
    "scram": ("image", "scram"),
    "tokens": ("image", "delegationToken"),
    "topics": ("image", "topics", "byName"),
    "unknownRecords": ("image", "unknownRecords"),
    "voters": ("raft", "voters"),
}
"""The folder of the tree that the first name of a short path stands for."""

PARTITIONS = "partitions"


def whole_path(names: Sequence[str]) -> list[str]:
    """Return the names along a path of the tree, for those of a short path or of a whole one."""
    if not names:
        return []
    first, *rest = names
    if first == PARTITIONS:
        topics = list(FOLDERS["topics"])
        if not rest:
            return topics
        topic, dash, number = rest[0].rpartition("-")
        return [*topics, *((topic, number) if dash else (rest[0],)), *rest[1:]]
    return [*FOLDERS.get(first, (first,)), *rest]
