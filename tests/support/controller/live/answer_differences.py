"""Comparison of two controllers' responses: paths to values that do not depend on the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Group

NAMES = (
    "api_key",
    "feature",
    "name",
    "resource_name",
    "topic_name",
    "topic",
    "partition_index",
    "partition_id",
    "replica_id",
    "broker_id",
    "node_id",
    "entity_type",
)
"""Fields that an entry of a list goes by; the order of entries is nobody's promise."""

MEASURES = {
    "port",
    "leader_epoch",
    "high_watermark",
    "log_end_offset",
    "last_fetch_timestamp",
    "last_caught_up_timestamp",
    "broker_epoch",
    "finalized_features_epoch",
    "producer_id_start",
    "last_stable_offset",
    "end_offset",
    "epoch",
}
"""Numbers of this run; only whether they are there, -1 or 0 is compared."""

ABSENT, PRESENT = "absent", "present"

TEXTS = {"error_message", "documentation"}
"""Sentences are each side's own; compared is only whether there is one, an empty one, or null."""

NO_TEXTS = ("no text", "an empty text")


def flat(answer: Group, leader_id: int, path: str = "") -> dict[str, Any]:
    """Every field by its path, such as `topics[t].error_code`."""
    return dict(_fields(answer, leader_id, path))


def _fields(answer: Group, leader_id: int, path: str) -> Iterator[tuple[str, Any]]:
    for name in type(answer).fields:
        value = getattr(answer, name)
        where = f"{path}.{name}" if path else name
        if name == "throttle_time_ms":
            continue
        if isinstance(value, Group):
            yield from _fields(value, leader_id, where)
        elif isinstance(value, list) and (not value or isinstance(value[0], Group)):
            for entry in value:
                yield from _fields(entry, leader_id, f"{where}[{_key(entry, leader_id)}]")
        elif name == "node_id" and _is_endpoint(answer) and value == leader_id:
            yield where, "the leader"
        else:
            yield where, _plain(name, value, leader_id)


def _is_endpoint(entry: Group) -> bool:
    """True for the address of the leader that refusals of raft's requests have."""
    return type(entry).__name__ == "NodeEndpoint"


def _key(entry: Group, leader_id: int) -> str:
    found = [name for name in NAMES if name in type(entry).fields]
    if not found:
        return type(entry).__name__
    value = str(getattr(entry, found[0]))
    if value == "None" and "topic_id" in type(entry).fields:  # deleted by its id
        id_field = "topic_id"
        value = str(_plain(id_field, getattr(entry, id_field), leader_id))
    names_leader = found[0] == "resource_name" or _is_endpoint(entry)
    is_leader = names_leader and value == str(leader_id)
    return "the leader" if is_leader else value


def _plain(name: str, value: Any, leader_id: int) -> Any:
    if isinstance(value, UUID):
        return "an id" if value.int else "no id"
    if isinstance(value, bytes):
        return "bytes" if value else "no bytes"
    if name in TEXTS:
        return "a text" if value else "no text" if value is None else "an empty text"
    if name == "cluster_id":
        return "an id" if value else "no id"
    if name in MEASURES:
        return value if value in (-1, 0) else "a number"
    if name in ("leader_id", "controller_id") and value == leader_id:
        return "the leader"
    if name == "resource_name" and value == str(leader_id):
        return "the leader"
    return value


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the differences of two responses: path to the value of either.

    An entry that one side lacks is one difference. A text where Kafka has none is no difference.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for path in sorted({*ours, *theirs}):
        pair = ours.get(path, ABSENT), theirs.get(path, ABSENT)
        if pair[0] == pair[1] or (pair[0] == "a text" and pair[1] in NO_TEXTS):
            continue
        if ABSENT in pair:
            other = ours if pair[0] == ABSENT else theirs
            path = _shortest_absent(path, other)
            pair = (ABSENT, PRESENT) if pair[0] == ABSENT else (PRESENT, ABSENT)
        found[path] = pair
    return found


def _shortest_absent(path: str, other: Mapping[str, Any]) -> str:
    """The first entry on a path that the other side has nothing of."""
    for end in (index + 1 for index, character in enumerate(path) if character == "]"):
        if not any(one.startswith(path[:end]) for one in other):
            return path[:end]
    return path


NOT_YET = "41|50"
"""DescribeDelegationToken, DescribeUserScramCredentials: Kafka's controllers list them, but do not
answer."""
