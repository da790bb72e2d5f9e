"""Compares the fields of one message in two releases, structs included."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.codec.versions import Versions
from kwire.protocol.differences import ProtocolDifference, ProtocolSection, difference
from kwire.protocol.model import FieldFact, MessageFact

VERSIONED = ("versions", "nullable_versions", "tagged_versions")
PLAIN = ("type", "tag", "default", "ignorable", "flexible_versions")
"""map_key and entity_type are left out: they change Java's classes, not bytes or their meaning."""


def field_differences(old: MessageFact, new: MessageFact) -> Iterator[ProtocolDifference]:
    """Yield every field that came, went or changed, by its path `Topics.Partitions.Leader`.

    A field that only has another name at the same place is the same field.
    """
    yield from _compare(old.fields, new.fields, new, "")


def _compare(
    old: tuple[FieldFact, ...], new: tuple[FieldFact, ...], message: MessageFact, path: str
) -> Iterator[ProtocolDifference]:
    before = {field.name: field for field in old}
    after = {field.name: field for field in new}
    renamed = _renamed(old, new)
    for field in new:
        where = f"{path}{field.name}"
        former = before.get(field.name) or renamed.get(field.name)
        if former is None:
            yield from _whole(None, field, message.name, where)
            continue
        if former.name != field.name:
            yield _changed(message, where, "name", former.name, field.name)
        yield from _changes(former, field, message, where)
        yield from _compare(former.fields, field.fields, message, f"{where}.")
    gone = before.keys() - after.keys() - {field.name for field in renamed.values()}
    for field in old:
        if field.name in gone:
            yield from _whole(field, None, message.name, f"{path}{field.name}")


def _renamed(old: tuple[FieldFact, ...], new: tuple[FieldFact, ...]) -> dict[str, FieldFact]:
    """Return former fields by their new names: the same facts at the same place of a struct."""
    names = {field.name for field in old}, {field.name for field in new}
    return {
        after.name: before
        for before, after in zip(old, new, strict=False)
        if before.name not in names[1]
        and after.name not in names[0]
        and all(getattr(before, fact) == getattr(after, fact) for fact in (*VERSIONED, *PLAIN))
    }


def _whole(
    old: FieldFact | None, new: FieldFact | None, message: str, path: str
) -> Iterator[ProtocolDifference]:
    """Yield a field that only one side has; the fields inside it came or went with it."""
    texts = [None if field is None else field_text(field) for field in (old, new)]
    yield difference(ProtocolSection.FIELDS, message, path, *texts)


def _changes(
    old: FieldFact, new: FieldFact, message: MessageFact, path: str
) -> Iterator[ProtocolDifference]:
    present = message.version_set
    for fact in VERSIONED:
        before, after = getattr(old, fact), getattr(new, fact)
        # 4+ is what 0+ was once the message has lost its versions below 4.
        if within(present, before) != within(present, after):
            yield _changed(message, path, fact, before, after)
    for fact in PLAIN:
        before, after = getattr(old, fact), getattr(new, fact)
        if before != after:
            yield _changed(message, path, fact, _text(before), _text(after))


def _changed(message: MessageFact, path: str, fact: str, old: str, new: str) -> ProtocolDifference:
    words = fact.replace("_", " ")
    return difference(ProtocolSection.FIELDS, message.name, f"{path}: {words}", old, new)


def within(present: Versions, text: str) -> list[int]:
    """Return the versions that are among those of `text`, which may have no end."""
    versions = Versions(text)
    return [version for version in present if version in versions]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def field_text(field: FieldFact) -> str:
    """Return the facts of a field on one line: `int32, versions 5+, tag 0, default -1`."""
    parts = [field.type, f"versions {field.versions}"]
    if field.tag is not None:
        same = field.tagged_versions == field.versions
        parts.append(f"tag {field.tag}" + ("" if same else f" in {field.tagged_versions}"))
    if field.nullable_versions != "none":
        same = field.nullable_versions == field.versions
        parts.append("nullable" if same else f"nullable {field.nullable_versions}")
    if field.default is not None:
        parts.append(f"default {field.default or 'empty'}")
    if field.ignorable:
        parts.append("ignorable")
    if field.map_key:
        parts.append("map key")
    return ", ".join(parts)
