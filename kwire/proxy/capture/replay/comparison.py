"""Two messages, field by field: what stands at the same place in both, and where they differ.

Elements of an array are at the same place where they are about the same thing (a topic, a
partition, a node, ...); where that does not tell them apart, where their index is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from kwire.batches import Record, read_batches
from kwire.codec.declaration import Group
from kwire.errors import BatchError
from kwire.proxy.flows.masks import is_secret
from kwire.proxy.flows.text import value_text
from kwire.proxy.flows.walk import RECORDS_FIELDS

IGNORED = (
    # times, and what passes by itself
    "throttle_time_ms",
    "*timestamp",
    "*timestamp_ms",
    "*_time_ms",
    "session_lifetime_ms",
    "usable_bytes",
    "total_bytes",
    # epochs
    "epoch",
    "*_epoch",
    # ids that a cluster gives
    "cluster_id",
    "topic_id",
    "*directory_id",
    "member_id",
    "leader",  # of a consumer group: a member id
    "generation_id",
    "producer_id",
    "producer_id_start",
    "session_id",
    "subscription_id",
    "client_instance_id",
    "token_id",
    "process_id",
)
"""Fields that differ from one time to the next without anything being wrong."""

GROWING = (
    "high_watermark",
    "last_stable_offset",
    "log_start_offset",
    "log_end_offset",
    "end_offset",
    "base_offset",
    "committed_offset",
    "low_watermark",
    "offset",
)
"""Offsets of a log that goes on: in an answer, a greater one than was recorded is no difference."""

_IDENTITIES = (
    "name",
    "topic",
    "topic_name",
    "group_id",
    "resource_name",
    "key",
    "partition_index",
    "partition",
    "index",
    "node_id",
    "broker_id",
    "replica_id",
    "api_key",
    "log_dir",
)
"""Fields that say what an element is about, the most telling ones first."""


class Nothing:
    """Stands for an element that is not there."""


NOTHING = Nothing()


@dataclass(frozen=True, slots=True)
class Pair:
    """A value of either message at one place.

    path: with what the elements are about in brackets, `topics[orders].partitions[0].leader_id`.
    field: the same without brackets. name: of the field.
    """

    path: str
    field: str
    name: str
    left: Any
    right: Any

    @property
    def shown(self) -> tuple[str, str]:
        """Both values as text that is short and safe to print."""
        return _shown(self.left, self.name), _shown(self.right, self.name)

    def __str__(self) -> str:
        return f"{self.path}: {' → '.join(self.shown)}"

    @property
    def has_grown(self) -> bool:
        """True for an offset that is greater on the right, and for records that only it has."""
        if self.name in RECORDS_FIELDS:
            return (not self.left or self.left is NOTHING) and self.right is not NOTHING
        if self.name not in GROWING:
            return False
        return isinstance(self.left, int) and isinstance(self.right, int) and self.left < self.right


class Ignore:
    """Which differences are none: patterns of names or of the ends of paths, `*` and `?` in them.

    defaults: IGNORED as well, and growth does not count.
    """

    def __init__(self, patterns: Iterable[str] = (), *, defaults: bool = True) -> None:
        self.growth = defaults
        self._patterns = (*patterns, *(IGNORED if defaults else ()))
        self._known: dict[str, bool] = {}

    def __contains__(self, pair: Pair) -> bool:
        found = self._known.get(pair.field)
        if found is None:
            found = any(fnmatchcase(f".{pair.field}", f"*.{one}") for one in self._patterns)
            self._known[pair.field] = found
        return found


def differences(left: Group, right: Group, version: int, ignore: Ignore) -> Iterator[Pair]:
    """Where two messages of a version differ, but for what is ignored."""
    for pair in aligned(left, right, version):
        if pair.left != pair.right and pair not in ignore:
            yield pair


def aligned(
    left: Group, right: Group, version: int, path: str = "", field: str = ""
) -> Iterator[Pair]:
    """The values of two structs side by side; secrets, which a capture has not, are left out."""
    for name, declared in type(left).fields.items():
        if version not in declared.versions or is_secret(left, name):
            continue
        ours, theirs = getattr(left, name), getattr(right, name)
        where, what = f"{path}{name}", f"{field}{name}"
        if isinstance(ours, list) and isinstance(theirs, list):
            yield from _elements(ours, theirs, version, where, what, name)
        elif isinstance(ours, Group) and isinstance(theirs, Group):
            yield from aligned(ours, theirs, version, f"{where}.", f"{what}.")
        elif name in RECORDS_FIELDS and ours and theirs and ours != theirs:
            yield from _records(ours, theirs, where, what, name)
        else:
            yield Pair(where, what, name, ours, theirs)
    if left.unknown_tags != right.unknown_tags:
        tags = (left.unknown_tags or {}, right.unknown_tags or {})
        yield Pair(f"{path}unknown_tags", f"{field}unknown_tags", "unknown_tags", *tags)


def _elements(
    left: list[Group], right: list[Group], version: int, path: str, field: str, name: str
) -> Iterator[Pair]:
    ours, theirs = _named(left, right, version)
    for label in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(label), theirs.get(label)
        if one is not None and other is not None:
            yield from aligned(one, other, version, f"{path}[{label}].", f"{field}.")
        else:
            sides = (NOTHING if one is None else one, NOTHING if other is None else other)
            yield Pair(f"{path}[{label}]", field, name, *sides)


def _named(
    left: list[Group], right: list[Group], version: int
) -> tuple[dict[str, Group], dict[str, Group]]:
    """The elements of either array by what they are about, or by index."""
    fields = type((left or right)[0]).fields if left or right else {}
    for identity in _IDENTITIES:
        if identity in fields and version in fields[identity].versions:
            ours = {str(getattr(one, identity)): one for one in left}
            theirs = {str(getattr(one, identity)): one for one in right}
            if len(ours) == len(left) and len(theirs) == len(right):
                return ours, theirs
    return _numbered(left), _numbered(right)


def _numbered(elements: list[Group]) -> dict[str, Group]:
    return {str(number): one for number, one in enumerate(elements)}


def _records(left: bytes, right: bytes, path: str, field: str, name: str) -> Iterator[Pair]:
    """Record by record, without times and what a producer is; bytes where they cannot be read."""
    try:
        ours, theirs = _contents(left), _contents(right)
    except BatchError:
        yield Pair(path, field, name, left, right)
        return
    for number in range(max(len(ours), len(theirs))):
        sides = [of[number] if number < len(of) else NOTHING for of in (ours, theirs)]
        yield Pair(f"{path}[{number}]", field, name, *sides)


def _contents(data: bytes) -> list[tuple[object, ...]]:
    records: list[Record] = [record for batch in read_batches(data) for record in batch.records()]
    return [(one.offset, one.key, one.value, *one.headers) for one in records]


def _shown(value: Any, name: str) -> str:
    match value:
        case Nothing():
            return "nothing"
        case Group():
            return "there"
        case list():
            return f"{len(value)} elements"
        case dict():
            return f"tags {sorted(value)}"
    return value_text(value, name)
