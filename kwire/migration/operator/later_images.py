"""Judges entries of ZooKeeper by the image at /migration's offset and by those after it (KIP-866).

Dual write and a synchronisation write znodes first and /migration last, one znode at a time: each
may show any image between that offset and the present. None of that is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kwire.image import MetadataImage
from kwire.migration.operator.comparison import EntryDifference, differences, harmless_reason
from kwire.migration.operator.entries import (
    EntriesByKind,
    EntryKey,
    EntryKind,
    FieldValues,
    topic_of,
)
from kwire.migration.operator.image_entries import image_entries

PastImage = tuple[int, MetadataImage]
"""An image with the offset of the last record in it."""

_ASSIGNMENT = frozenset({"replicas", "addingReplicas", "removingReplicas"})
"""The fields of a partition that stand in its topic's znode; the others stand in its own."""

Unit = tuple[EntryKind, str, bool]
"""The part of an entry in one znode; True for the part of a partition in its topic's znode."""


@dataclass(slots=True, kw_only=True)
class LaterImagesResult:
    """The differences from the first image.

    harmful: those that no later image explains. harmless: what Kafka lets differ. ahead: entries
    with values of a later image, and the offset of the first that has them.
    """

    harmful: list[EntryDifference]
    harmless: list[EntryDifference]
    ahead: dict[EntryKey, int]


def judged(
    entries: EntriesByKind, images: Sequence[PastImage], only: Collection[EntryKey] | None = None
) -> LaterImagesResult:
    """Compare entries with the first image, and what differs there with each later one.

    1. Set aside what Kafka lets differ, such as a znode's version that is no partition's epoch: it
       would hide that the rest is a later image's.
    2. Look for the content of each znode in each later image that changed the entry.
    3. Excuse what ZooKeeper alone has, and the latest image has by that name: a synchronisation
       that fails half-way, again and again, leaves it as it was in between.

    only: the entries that were read; None for all.
    """
    # 1.
    found = list(differences(entries, _of_image(images[0][1], only)))
    harmless = [item for item in found if harmless_reason(item)]
    wrong = _units(found)
    # 2.
    ahead: dict[EntryKey, int] = {}
    for (_, before), (offset, image) in pairwise(images):
        changed = _changed({unit[:2] for unit in wrong}, before, image)
        if changed:
            still = _units(differences(selected(entries, changed), _of_image(image, changed)))
            right = {unit for unit in wrong - still if unit[:2] in changed}
            ahead |= {unit[:2]: offset for unit in right}
            wrong -= right
    # 3.
    offset, latest = images[-1]
    extra = {(item.kind, item.name) for item in found if item.is_extra}
    latest_entries = _of_image(latest, extra)
    being_written = {
        unit for unit in wrong if unit[:2] in extra and unit[1] in latest_entries[unit[0]]
    }
    ahead |= {unit[:2]: offset for unit in being_written}
    wrong -= being_written
    harmful = [item for item in found if not harmless_reason(item) and _units([item]) & wrong]
    return LaterImagesResult(harmful=harmful, harmless=harmless, ahead=ahead)


def _units(found: Iterable[EntryDifference]) -> set[Unit]:
    """Return the units with harmful differences; a whole partition has two."""
    units: set[Unit] = set()
    for item in found:
        if harmless_reason(item):
            continue
        is_partition = item.kind is EntryKind.PARTITION
        if not is_partition or item.field not in _ASSIGNMENT:
            units.add((item.kind, item.name, False))
        if is_partition and (not item.field or item.field in _ASSIGNMENT):
            units.add((item.kind, item.name, True))
    return units


def _changed(
    keys: Collection[EntryKey], before: MetadataImage, image: MetadataImage
) -> set[EntryKey]:
    """Return the keys whose part of the image is another; images share what did not change."""
    roots = {kind for kind in EntryKind if _root(before, kind) is not _root(image, kind)}
    keys = {key for key in keys if key[0] in roots}
    topics = {
        name
        for name in topics_of(keys)
        if before.topics.topic(name) is not image.topics.topic(name)
    }
    return {key for key in keys if (topic := _topic_of(key)) is None or topic in topics}


def _root(image: MetadataImage, kind: EntryKind) -> object:
    """Return the part of an image that has the entries of a kind."""
    match kind:
        case EntryKind.TOPIC | EntryKind.PARTITION:
            return image.topics
        case EntryKind.CONFIG:
            return image.configs
        case EntryKind.QUOTA:
            return image.client_quotas
        case EntryKind.SCRAM:
            return image.scram
        case EntryKind.ACL:
            return image.acls
        case EntryKind.PRODUCER_IDS:
            return image.producer_ids
        case EntryKind.TOKEN:
            return image.delegation_tokens
        case EntryKind.PENDING_DELETION:
            return None  # no image has any


def _topic_of(key: EntryKey) -> str | None:
    match key:
        case (EntryKind.TOPIC, name):
            return name
        case (EntryKind.PARTITION, name):
            return topic_of(name)
        case _:
            return None


def topics_of(keys: Iterable[EntryKey]) -> set[str]:
    """Return the topics of the entries that are topics or partitions."""
    return {topic for key in keys if (topic := _topic_of(key)) is not None}


def _of_image(image: MetadataImage, keys: Collection[EntryKey] | None) -> EntriesByKind:
    """Return the entries of an image, only those of these keys; all for None."""
    if keys is None:
        return image_entries(image)
    return selected(image_entries(image, {kind for kind, _ in keys}, topics_of(keys)), keys)


def selected(entries: EntriesByKind, keys: Collection[EntryKey] | None) -> EntriesByKind:
    """Return only the entries of these keys; all for None."""
    if keys is None:
        return entries
    chosen: dict[EntryKind, dict[str, FieldValues]] = {kind: {} for kind in EntryKind}
    for kind, name in keys:
        if name in entries[kind]:
            chosen[kind][name] = entries[kind][name]
    return chosen
