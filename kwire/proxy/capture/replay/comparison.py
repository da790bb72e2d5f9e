"""Comparison of two messages field by field.

Elements of two arrays are compared with each other if they are about the same thing (a topic, a
partition, a node, ...), or have the same index if that does not tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from kwire.batches import Record, read_batches
from kwire.codec.declaration import Group
from kwire.errors import BatchError
from kwire.proxy.flows.masks import is_secret
from kwire.proxy.flows.text import value_text
from kwire.proxy.flows.walk import RECORDS_FIELDS

RECORDS = 100_000
"""Records that are compared one by one."""

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
"""Fields that differ between two runs without anything being wrong."""

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
"""Offsets of a growing log: a greater one than was recorded is no difference."""

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
"""Fields that tell what an element is about, the most specific ones first."""


class Missing:
    """Stands for an element that one of the messages does not have."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class FieldPair:
    """The values of one field in both messages.

    path: with the elements' identities in brackets, `topics[orders].partitions[0].leader_id`.
    field: the path without brackets. name: of the field.
    """

    path: str
    field: str
    name: str
    left: Any
    right: Any

    @property
    def texts(self) -> tuple[str, str]:
        """Both values as text that is short and safe to print."""
        return _shown(self.left, self.name), _shown(self.right, self.name)

    def __str__(self) -> str:
        return f"{self.path}: {' → '.join(self.texts)}"

    @property
    def has_grown(self) -> bool:
        """True for an offset that is greater on the right, and for records that only it has."""
        if self.name in RECORDS_FIELDS:
            return (not self.left or self.left is MISSING) and self.right is not MISSING
        if self.name not in GROWING:
            return False
        return isinstance(self.left, int) and isinstance(self.right, int) and self.left < self.right


class IgnoredFields:
    """The fields that may differ: patterns of names or ends of paths, with `*` and `?`.

    defaults: True to ignore IGNORED and the growth of GROWING as well.
    """

    def __init__(self, patterns: Iterable[str] = (), *, defaults: bool = True) -> None:
        self.growth = defaults
        self._patterns = (*patterns, *(IGNORED if defaults else ()))
        self._known: dict[str, bool] = {}

    def __contains__(self, pair: FieldPair) -> bool:
        ignored = self._known.get(pair.field)
        if ignored is None:
            field = f".{pair.field}"
            ignored = any(fnmatchcase(field, f"*.{pattern}") for pattern in self._patterns)
            self._known[pair.field] = ignored
        return ignored


def differences(
    left: Group, right: Group, version: int, ignore: IgnoredFields
) -> Iterator[FieldPair]:
    """Yield the fields in which two messages of a version differ, except the ignored ones."""
    for pair in field_pairs(left, right, version):
        if pair.left != pair.right and pair not in ignore:
            yield pair


def field_pairs(
    left: Group, right: Group, version: int, path: str = "", field: str = ""
) -> Iterator[FieldPair]:
    """Yield the values of two structs side by side.

    Secrets are left out: the capture has them masked.
    """
    for name, declared in type(left).fields.items():
        if version not in declared.versions or is_secret(left, name):
            continue
        ours, theirs = getattr(left, name), getattr(right, name)
        value_path, value_field = f"{path}{name}", f"{field}{name}"
        if isinstance(ours, list) and isinstance(theirs, list):
            yield from _elements(ours, theirs, version, value_path, value_field, name)
        elif isinstance(ours, Group) and isinstance(theirs, Group):
            yield from field_pairs(ours, theirs, version, f"{value_path}.", f"{value_field}.")
        elif name in RECORDS_FIELDS and ours and theirs and ours != theirs:
            yield from _records(ours, theirs, value_path, value_field, name)
        else:
            yield FieldPair(value_path, value_field, name, ours, theirs)
    if left.unknown_tags != right.unknown_tags:
        tags = (left.unknown_tags or {}, right.unknown_tags or {})
        yield FieldPair(f"{path}unknown_tags", f"{field}unknown_tags", "unknown_tags", *tags)


def _elements(
    left: list[Group], right: list[Group], version: int, path: str, field: str, name: str
) -> Iterator[FieldPair]:
    ours, theirs = _by_identity(left, right, version)
    for label in dict.fromkeys([*ours, *theirs]):
        ours_at, theirs_at = ours.get(label), theirs.get(label)
        if ours_at is not None and theirs_at is not None:
            yield from field_pairs(ours_at, theirs_at, version, f"{path}[{label}].", f"{field}.")
        else:
            sides = (
                MISSING if ours_at is None else ours_at,
                MISSING if theirs_at is None else theirs_at,
            )
            yield FieldPair(f"{path}[{label}]", field, name, *sides)


def _by_identity(
    left: list[Group], right: list[Group], version: int
) -> tuple[dict[str, Group], dict[str, Group]]:
    """Return the elements of both arrays by what they are about, or by index."""
    # Kafka gives what it keeps in maps in any order: an index alone would compare other elements.
    fields = type((left or right)[0]).fields if left or right else {}
    for identity in _IDENTITIES:
        if identity in fields and version in fields[identity].versions:
            ours = {str(getattr(element, identity)): element for element in left}
            theirs = {str(getattr(element, identity)): element for element in right}
            if len(ours) == len(left) and len(theirs) == len(right):
                return ours, theirs
    return _by_index(left), _by_index(right)


def _by_index(elements: list[Group]) -> dict[str, Group]:
    return {str(index): element for index, element in enumerate(elements)}


def _records(left: bytes, right: bytes, path: str, field: str, name: str) -> Iterator[FieldPair]:
    """Compare record by record, without times and producers.

    Those that cannot be read, or are too many, are compared as bytes.
    """
    try:
        ours, theirs = _contents(left), _contents(right)
    except BatchError:
        yield FieldPair(path, field, name, left, right)
        return
    for number in range(max(len(ours), len(theirs))):
        sides = [
            records[number] if number < len(records) else MISSING for records in (ours, theirs)
        ]
        yield FieldPair(f"{path}[{number}]", field, name, *sides)


def _contents(data: bytes) -> list[tuple[object, ...]]:
    every = (record for batch in read_batches(data) for record in batch.records())
    records: list[Record] = list(islice(every, RECORDS + 1))
    if len(records) > RECORDS:
        raise BatchError(f"more than {RECORDS} records")
    return [(record.offset, record.key, record.value, *record.headers) for record in records]


def _shown(value: Any, name: str) -> str:
    match value:
        case Missing():
            return "nothing"
        case Group():
            return "there"
        case list():
            return f"{len(value)} elements"
        case dict():
            return f"tags {sorted(value)}"
    return value_text(value, name)
