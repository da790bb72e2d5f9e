"""Compares two documents: the sections that both have, entry by entry, key by key.

A section, or a part of a topic, that one of them lacks is not compared. Values that are not shown
are compared no further than that they are set.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from kwire.cluster_document.document import (
    ClusterDocument,
    DocumentCredential,
    DocumentSection,
    DocumentTopic,
)

Fields = Mapping[str, object]

KEY_FIELD = "saltedPassword"
"""The field of a credential whose value is the fingerprint of the key that the password makes."""


class Change(StrEnum):
    """The ways in which an entry differs. RECREATED: a topic of the same name with another id."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RECREATED = "recreated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference. field: empty for a whole entry. old, new: None where it is not there.

    For a whole entry, old or new is the mapping of its fields.
    """

    section: DocumentSection
    name: str
    change: Change
    field: str = ""
    old: object = None
    new: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All differences in the order of the document, the sections compared, and those not."""

    differences: tuple[Difference, ...]
    compared: tuple[DocumentSection, ...]
    not_compared: tuple[DocumentSection, ...]


def compare(
    old: ClusterDocument,
    new: ClusterDocument,
    only: Collection[DocumentSection] = (),
    *,
    ignore_ids: bool = False,
) -> Comparison:
    """Compare two documents.

    only: the sections to compare; none stands for all that both have. ignore_ids: do not tell of
    topics that were deleted and created anew. Ids of two different clusters are never compared.
    """
    ids = {old.cluster_id, new.cluster_id} - {None}
    with_ids = not ignore_ids and len(ids) < 2
    considered = [section for section in DocumentSection if not only or section in only]
    compared = tuple(
        section
        for section in considered
        if old.section(section) is not None and new.section(section) is not None
    )
    return Comparison(
        differences=tuple(
            difference
            for section in compared
            for difference in _section(section, old, new, with_ids)
        ),
        compared=compared,
        not_compared=tuple(section for section in considered if section not in compared),
    )


def _section(
    section: DocumentSection, old: ClusterDocument, new: ClusterDocument, with_ids: bool
) -> Iterator[Difference]:
    if section is DocumentSection.TOPICS:
        yield from _topics(old, new, with_ids)
        return
    entries = _ENTRIES[section]
    yield from _entries(section, entries(old), entries(new))


def _entries(
    section: DocumentSection, old: Mapping[str, Fields], new: Mapping[str, Fields]
) -> Iterator[Difference]:
    for name in sorted(old.keys() | new.keys()):
        if name in old and name in new:
            yield from _fields(section, name, *_both_known(section, old[name], new[name]))
        else:
            yield _whole(section, name, old.get(name), new.get(name))


def _both_known(section: DocumentSection, old: Fields, new: Fields) -> tuple[Fields, Fields]:
    """Leave out the fingerprint of a credential's key if one side does not have the key."""
    if section is not DocumentSection.SCRAM or (KEY_FIELD in old) == (KEY_FIELD in new):
        return old, new
    key = {KEY_FIELD}
    return {k: old[k] for k in old.keys() - key}, {k: new[k] for k in new.keys() - key}


def _whole(
    section: DocumentSection, name: str, old: Fields | None, new: Fields | None
) -> Difference:
    change = Change.ADDED if old is None else Change.REMOVED
    return Difference(section=section, name=name, change=change, old=old, new=new)


def _fields(section: DocumentSection, name: str, old: Fields, new: Fields) -> Iterator[Difference]:
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        both = key in old and key in new
        # A value that is set and not shown is None: nothing can be said of it.
        if both and (before is None or after is None or before == after):
            continue
        change = Change.CHANGED if both else Change.ADDED if key in new else Change.REMOVED
        yield Difference(
            section=section, name=name, change=change, field=key, old=before, new=after
        )


def _topics(old: ClusterDocument, new: ClusterDocument, with_ids: bool) -> Iterator[Difference]:
    before = {topic.name: topic for topic in old.topics or ()}
    after = {topic.name: topic for topic in new.topics or ()}
    for name in sorted(before.keys() | after.keys()):
        first, second = before.get(name), after.get(name)
        if first is None or second is None:
            pair = tuple(None if topic is None else _all(topic) for topic in (first, second))
            yield _whole(DocumentSection.TOPICS, name, *pair)
            continue
        if with_ids and first.id and second.id and first.id != second.id:
            yield Difference(
                section=DocumentSection.TOPICS,
                name=name,
                change=Change.RECREATED,
                field="id",
                old=first.id,
                new=second.id,
            )
        yield from _fields(DocumentSection.TOPICS, name, *_comparable(first, second))


def _all(topic: DocumentTopic) -> Fields:
    """Return what is told of a topic that is on one side only."""
    fields: dict[str, object] = {"partitions": topic.partitions}
    if (factor := _replication_factor(topic)) is not None:
        fields["replicationFactor"] = factor
    return fields | {f"configs.{key}": value for key, value in (topic.configs or {}).items()}


def _comparable(old: DocumentTopic, new: DocumentTopic) -> tuple[Fields, Fields]:
    """Return the fields of two topics, but for those parts that one of them lacks."""
    factors = _replication_factor(old), _replication_factor(new)
    assigned = old.assignments is not None and new.assignments is not None
    configured = old.configs is not None and new.configs is not None
    fields: tuple[dict[str, object], dict[str, object]] = ({}, {})
    for topic, factor, told in zip((old, new), factors, fields, strict=True):
        told["partitions"] = topic.partitions
        if None not in factors:
            told["replicationFactor"] = factor
        if assigned:
            for number, replicas in enumerate(topic.assignments or ()):
                told[f"assignments.{number}"] = list(replicas)
        if configured:
            told.update({f"configs.{key}": value for key, value in (topic.configs or {}).items()})
    return fields


def _replication_factor(topic: DocumentTopic) -> int | str | None:
    """Return the replication factor, `2, 3` if the partitions differ in it, None if not known."""
    if topic.replication_factor is not None:
        return topic.replication_factor
    factors = sorted({len(replicas) for replicas in topic.assignments or ()})
    if len(factors) == 1:
        return factors[0]
    return ", ".join(map(str, factors)) or None


def _features(document: ClusterDocument) -> dict[str, Fields]:
    return {name: {"level": level} for name, level in (document.features or {}).items()}


def _configs(document: ClusterDocument) -> dict[str, Fields]:
    return {entry.title: entry.configs for entry in document.configs or ()}


def _quotas(document: ClusterDocument) -> dict[str, Fields]:
    return {quota.title: quota.quotas for quota in document.quotas or ()}


def _scram(document: ClusterDocument) -> dict[str, Fields]:
    return {
        credential.title: {"iterations": credential.iterations, **_key(credential)}
        for credential in document.scram_credentials or ()
    }


def _key(credential: DocumentCredential) -> Fields:
    return {KEY_FIELD: credential.fingerprint} if credential.fingerprint else {}


def _acls(document: ClusterDocument) -> dict[str, Fields]:
    return {acl.title: {} for acl in document.acls or ()}


_ENTRIES: Mapping[DocumentSection, Callable[[ClusterDocument], Mapping[str, Fields]]] = (
    MappingProxyType(
        {
            DocumentSection.FEATURES: _features,
            DocumentSection.CONFIGS: _configs,
            DocumentSection.QUOTAS: _quotas,
            DocumentSection.SCRAM: _scram,
            DocumentSection.ACLS: _acls,
        }
    )
)
