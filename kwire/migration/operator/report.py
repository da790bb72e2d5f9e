"""The findings of a comparison of both sides, each kind of trouble told once (KIP-866)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kwire.doctor.finding import Finding, FindingKind, FindingVerdict
from kwire.migration.operator.comparison import (
    EntryDifference,
    harmless_reason,
    is_copied_encrypted,
)
from kwire.migration.operator.entries import EncryptedValue, EntryKind, topic_of
from kwire.migration.operator.findings import preflight, verify
from kwire.migration.operator.verify import SideComparison
from kwire.migration.operator.zookeeper_entries import ZooKeeperReading
from kwire.text.phrases import count, examples

NOUNS = {
    EntryKind.TOPIC: "topic",
    EntryKind.PARTITION: "partition",
    EntryKind.CONFIG: "configuration",
    EntryKind.QUOTA: "entity with quotas",
    EntryKind.SCRAM: "user with SCRAM credentials",
    EntryKind.ACL: "resource with ACLs",
    EntryKind.PRODUCER_IDS: "block of producer ids",
    EntryKind.TOKEN: "delegation token",
    EntryKind.PENDING_DELETION: "pending deletion",
}
PLURALS = {
    EntryKind.QUOTA: "entities with quotas",
    EntryKind.SCRAM: "users with SCRAM credentials",
    EntryKind.ACL: "resources with ACLs",
    EntryKind.PRODUCER_IDS: "blocks of producer ids",
}
"""The plurals that are not the noun and an s."""


def comparison_findings(comparison: SideComparison) -> Iterator[Finding]:
    """Yield what was found: traps of Kafka, other differences, what was not compared."""
    yield from broken_znodes(comparison.reading)
    harmful = [item for item in comparison.differences if not harmless_reason(item)]
    grouped: dict[tuple[str, EntryKind], tuple[FindingKind, list[EntryDifference]]] = {}
    for item in harmful:
        kind = _finding_kind(item, comparison)
        grouped.setdefault((kind.id, item.kind), (kind, []))[1].append(item)
    for kind, items in grouped.values():
        finding = kind(_sentence(kind, items), *examples(map(difference_text, items)))
        if not comparison.is_exact and kind in _BY_OFFSET:
            finding = replace(finding, verdict=FindingVerdict.UNKNOWN, advice="")
        yield finding
    yield from _harmless(comparison)
    if comparison.ahead:
        number = count(len(comparison.ahead), "entry", "entries")
        yield verify.AHEAD(
            f"/migration is behind: {number} of ZooKeeper found in later records",
            *examples(
                f"{_name(*key)}: as of record {offset}" for key, offset in comparison.ahead.items()
            ),
        )
    if quiet := comparison.reading.no_state - _names_of_findings(comparison):
        text = f"{count(len(quiet), 'partition')} without a state in ZooKeeper"
        yield verify.NO_STATE(text, *examples(sorted(quiet)))
    if comparison.moving:
        noun = count(len(comparison.moving), "entry", "entries")
        yield verify.STILL_MOVING(f"{noun} changed meanwhile", *examples(comparison.moving))
    if not comparison.is_exact:
        yield verify.OTHER_OFFSET(
            f"the metadata log no longer has the image at record {comparison.offset}"
        )
    if not harmful and not comparison.moving and not comparison.reading.problems:
        entries = comparison.reading.count
        text = f"both sides hold the same at record {comparison.offset}: {entries} entries"
        yield verify.EQUAL(text)


_BY_OFFSET = (verify.MISSING, verify.EXTRA, verify.CHANGED)
"""Kinds that are a difference only from the image at /migration's offset."""


def _names_of_findings(comparison: SideComparison) -> set[str]:
    return {*comparison.moving, *(item.name for item in comparison.differences)}


def unwritten_findings(unwritten: Sequence[EntryDifference]) -> Iterator[Finding]:
    """Yield what the metadata log has, and ZooKeeper has not got while the dual write stands."""
    names = {kind: {item.name for item in unwritten if item.kind is kind} for kind in EntryKind}
    counts = [_counted(kind, len(found)) for kind, found in names.items() if found]
    if counts:
        keys = dict.fromkeys((item.kind, item.name) for item in unwritten)
        texts = (_name(kind, name) for kind, name in keys)
        sentence = f"going back now would lose what was changed in {', '.join(counts)}"
        yield verify.WOULD_BE_LOST(sentence, *examples(texts))


def _finding_kind(item: EntryDifference, comparison: SideComparison) -> FindingKind:
    reading = comparison.reading
    if is_copied_encrypted(item):
        return verify.COPIED_ENCRYPTED
    if item.kind is EntryKind.PARTITION:
        has_topic = topic_of(item.name) in reading.entries[EntryKind.TOPIC]
        if (item.is_missing and has_topic) or item.name in reading.no_state:
            return verify.EXTRA_PARTITIONS
    if item.kind is EntryKind.QUOTA and item.is_extra and not _is_user(item.name):
        return verify.QUOTA_LEFT
    if item.kind is EntryKind.CONFIG and item.is_extra and _is_of_no_topic(item, comparison):
        return verify.CONFIG_OF_NO_TOPIC
    if item.is_missing:
        return verify.MISSING
    return verify.EXTRA if item.is_extra else verify.CHANGED


def _is_of_no_topic(config: EntryDifference, comparison: SideComparison) -> bool:
    """Return True for the configuration of a topic that neither side has."""
    kind, _, name = config.name.partition(" ")
    differs = any(
        item.kind is EntryKind.TOPIC and item.name == name for item in comparison.differences
    )
    return (
        kind == "topic" and name not in comparison.reading.entries[EntryKind.TOPIC] and not differs
    )


def _is_user(entity: str) -> bool:
    return entity.startswith("user ") and ", client-id " not in entity


def _sentence(kind: FindingKind, items: Sequence[EntryDifference]) -> str:
    number = len({item.name for item in items})
    text = _counted(items[0].kind, number)
    verb = "differ" if number > 1 else "differs"
    match kind:
        case verify.MISSING | verify.EXTRA_PARTITIONS:
            return f"ZooKeeper lacks {text}"
        case verify.EXTRA | verify.QUOTA_LEFT | verify.CONFIG_OF_NO_TOPIC:
            return f"only ZooKeeper has {text}"
        case verify.COPIED_ENCRYPTED:
            return f"{text} in the metadata log: a password in it is encrypted"
        case _:
            return f"{text} {verb}"


def _counted(kind: EntryKind, number: int) -> str:
    return count(number, NOUNS[kind], PLURALS.get(kind, ""))


def _name(kind: EntryKind, name: str) -> str:
    return name if kind in _SAY_THEMSELVES else f"{kind.value} {name}"


def difference_text(item: EntryDifference) -> str:
    """Return a difference in a line, without secrets."""
    name = _name(item.kind, item.name)
    if not item.field:
        return name
    zookeeper, kraft = (_value(value) for value in (item.zookeeper, item.kraft))
    return f"{name}: {item.field} is {zookeeper} in ZooKeeper, {kraft} in the metadata log"


_SAY_THEMSELVES = (EntryKind.CONFIG, EntryKind.TOKEN, EntryKind.PRODUCER_IDS, EntryKind.QUOTA)
"""Kinds whose names begin with what they are."""


def _value(value: object) -> str:
    return "not set" if value is None else str(value)


def _harmless(comparison: SideComparison) -> Iterator[Finding]:
    """Yield a finding for each reason for which differences are of no consequence."""
    reasons: dict[str, list[EntryDifference]] = {}
    for item in comparison.differences:
        if reason := harmless_reason(item):
            reasons.setdefault(reason, []).append(item)
    for reason, items in reasons.items():
        texts = examples(map(difference_text, items), 3)
        if any(isinstance(item.zookeeper, EncryptedValue) for item in items):
            number = count(len(items), "password")
            yield verify.NOT_COMPARED(f"{number} not compared", *texts)
        elif items[0].kind is EntryKind.CONFIG:
            yield verify.OTHER_CONFIGS(f"the metadata log has {_kinds(items)}", *texts)
        else:
            number = count(len(items), "difference")
            yield verify.HARMLESS(f"{number} of no consequence: {reason}", *texts)


def _kinds(items: Sequence[EntryDifference]) -> str:
    return "configuration that ZooKeeper has no place for: " + ", ".join(
        sorted({item.name.partition(" ")[0] for item in items})
    )


def broken_znodes(reading: ZooKeeperReading) -> Iterator[Finding]:
    """Yield the znodes that cannot be read, by what cannot be read in them."""
    for kind, problems in (
        (preflight.WRONG_QUOTA, [item for item in reading.problems if item.is_quota]),
        (
            preflight.WRONG_PASSWORD,
            [item for item in reading.problems if item.is_password],
        ),
        (
            preflight.BROKEN_ZNODE,
            [item for item in reading.problems if not item.is_quota and not item.is_password],
        ),
    ):
        if problems:
            text = f"{count(len(problems), 'znode')} cannot be read"
            yield kind(text, *examples(f"{item.path}: {item.reason}" for item in problems))
