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

CONTROLLERS = ("3000", "3001")
"""The ids of the controllers of a session, of which either may lead."""

BY_CONTENT = ("AclDescription", "DeleteAclsMatchingAcl", "ResponseEntryData")
"""Entries of lists in no order that several fields, or entries of their own, tell apart."""

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
            for number, entry in enumerate(value):
                key = _key(entry, leader_id, number)
                yield from _fields(entry, leader_id, f"{where}[{key}]")
        elif name == "node_id" and _is_endpoint(answer) and value == leader_id:
            yield where, "the leader"
        else:
            yield where, _plain(name, value, leader_id)


def _is_endpoint(entry: Group) -> bool:
    """True for the address of the leader that refusals of raft's requests have."""
    return type(entry).__name__ == "NodeEndpoint"


def _key(entry: Group, leader_id: int, number: int) -> str:
    """Return what tells an entry of a list from the others; the results of ACLs are in order."""
    if type(entry).__name__ in BY_CONTENT:
        parts = (value for path, value in _fields(entry, leader_id, "") if "error" not in path)
        return " ".join(sorted(map(str, parts)))
    found = [name for name in NAMES if name in type(entry).fields]
    if not found:
        return str(number)
    value = str(getattr(entry, found[0]))
    if value == "None" and "topic_id" in type(entry).fields:  # deleted by its id
        id_field = "topic_id"
        value = str(_plain(id_field, getattr(entry, id_field), leader_id))
    if found[0] == "resource_name" or _is_endpoint(entry):
        value = _node_name(value, leader_id)
    if "pattern_type" in type(entry).fields:  # one name may have ACLs of both kinds
        value += f" of pattern type {entry.pattern_type}"  # type: ignore[attr-defined]
    return value


def _node_name(text: str, leader_id: int) -> str:
    """Return which of the two controllers an id stands for; another text as it is."""
    number = text.lstrip("+0")
    if number == str(leader_id):
        return "the leader"
    return "the follower" if number in CONTROLLERS else text


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
    return _node_name(value, leader_id) if name == "resource_name" else value


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the differences of two responses: path to the value of either.

    An entry that one side lacks is one difference. A text where Kafka has none is no difference, if
    it tells of an error.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for path in sorted({*ours, *theirs}):
        pair = ours.get(path, ABSENT), theirs.get(path, ABSENT)
        is_error = bool(ours.get(path.removesuffix("message") + "code", True))
        if pair[0] == pair[1] or (is_error and pair[0] == "a text" and pair[1] in NO_TEXTS):
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
