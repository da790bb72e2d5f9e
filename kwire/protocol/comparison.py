"""Compares two releases of Kafka, section by section.

Versions that a message lost or won count once, in `versions`. A field counts as changed only if it
differs in a version that the newer release has: Kafka drops old versions without touching the
declarations of their fields.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kwire.protocol.differences import ProtocolDifference, ProtocolSection, difference
from kwire.protocol.field_comparison import field_differences, within
from kwire.protocol.model import MessageFact
from kwire.protocol.release_facts import facts, known_release, messages_of, named
from kwire.protocol.row_comparison import row_differences

OF_ROWS = (ProtocolSection.FEATURES, ProtocolSection.ERRORS, ProtocolSection.CONFIGS)
"""The sections that are not about messages: a choice of APIs leaves them out."""

KINDS = {
    "request": "API",
    "metadata": "metadata record",
    "remote-log-metadata": "remote log metadata record",
}
"""The kinds of messages in words, where they are others than the schemas'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseComparison:
    """The differences from the older of two releases to the newer, in the order of sections."""

    old: str
    new: str
    sections: tuple[ProtocolSection, ...]
    differences: tuple[ProtocolDifference, ...]


def compare(
    one: str,
    other: str,
    *,
    sections: Collection[ProtocolSection] = (),
    apis: Collection[str] = (),
) -> ReleaseComparison:
    """Compare two releases; their order does not matter.

    sections: by default all. apis: names of APIs or messages, `Fetch` or `FetchRequest`; by
    default all. Raises UnknownRelease, and UnknownMessage for an API.
    """
    releases = facts().releases
    old, new = sorted(map(known_release, (one, other)), key=releases.index)
    chosen = tuple(
        section
        for section in ProtocolSection
        if section in (sections or ProtocolSection) and not (apis and section in OF_ROWS)
    )
    before, after = messages_of(old), messages_of(new)
    if apis:
        wanted = {name for api in apis for name in named(api)}
        before, after = ({n: m for n, m in side.items() if n in wanted} for side in (before, after))
    found = [item for item in _messages(before, after) if item.section in chosen]
    for section in chosen:
        if section in OF_ROWS:
            found += row_differences(section, old, new)
    found.sort(key=lambda item: chosen.index(item.section))
    return ReleaseComparison(old=old, new=new, sections=chosen, differences=tuple(found))


def _messages(
    before: Mapping[str, MessageFact], after: Mapping[str, MessageFact]
) -> Iterator[ProtocolDifference]:
    for fact in facts().messages:
        old, new = before.get(fact.name), after.get(fact.name)
        # A message has a row for each of its layouts: compare it at the last one.
        if fact is not (new or old):
            continue
        if old and new:
            yield from _facts_of_message(old, new)
            yield from field_differences(old, new)
        elif fact.kind != "response":
            texts = [None if side is None else message_text(side) for side in (old, new)]
            yield difference(ProtocolSection.MESSAGES, subject(fact), "", *texts)


def _facts_of_message(old: MessageFact, new: MessageFact) -> Iterator[ProtocolDifference]:
    """Yield what changed but the fields; a response has its versions from the request."""
    versions = ProtocolSection.VERSIONS
    if _flexible(old, new) != _flexible(new, new):
        was, now = old.flexible_versions, new.flexible_versions
        yield difference(versions, new.name, "flexible", was, now)
    if new.kind == "response":
        return
    name = subject(new)
    if old.versions != new.versions:
        yield difference(versions, name, "", old.versions, new.versions)
    if old.unstable != new.unstable:
        stability = ["unstable" if fact.unstable else "stable" for fact in (old, new)]
        yield difference(versions, name, "last version", *stability)
    if old.listeners != new.listeners:
        listeners = [", ".join(fact.listeners) or "none" for fact in (old, new)]
        yield difference(ProtocolSection.LISTENERS, name, "", *listeners)


def _flexible(fact: MessageFact, newer: MessageFact) -> list[int]:
    return within(newer.version_set, fact.flexible_versions)


def subject(fact: MessageFact) -> str:
    """Return the name of a message in a comparison: of its API, if it is a request."""
    return fact.api if fact.api and fact.kind == "request" else fact.name


def message_text(fact: MessageFact) -> str:
    """Return the facts of a message on one line: `API, key 80, versions 0-1`."""
    key = "" if fact.key is None else f", key {fact.key}"
    served = f", served by {' and '.join(fact.listeners)}" if fact.listeners else ""
    return f"{kind_text(fact.kind)}{key}, versions {fact.versions}{served}"


def kind_text(kind: str) -> str:
    """Return the kind of a message in words: `metadata record`."""
    return KINDS.get(kind, kind.replace("-", " "))
