"""Compares ZooKeeper with the metadata log at the offset of /migration, while both go on (KIP-866).

Dual write is asynchronous: a batch is committed, then its znodes are written one by one, then
/migration gets its offset. A look at ZooKeeper therefore shows the metadata of that offset, with
some of what follows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kwire.errors import ConnectionFailed
from kwire.image import MetadataImage
from kwire.migration.operator.comparison import EntryDifference, differences, harmless_reason
from kwire.migration.operator.entries import EntriesByKind, EntryKey, EntryKind
from kwire.migration.operator.image_entries import has_directories, image_entries
from kwire.migration.operator.later_images import (
    LaterImagesResult,
    PastImage,
    judged,
    selected,
    topics_of,
)
from kwire.migration.operator.zookeeper_entries import ZooKeeperReading
from kwire.migration.operator.zookeeper_reading import ZooKeeperReader
from kwire.migration.operator.zookeeper_side import read_position
from kwire.zookeeper import ZooKeeper
from kwire.zookeeper.znodes import MigrationZnode

LOOKS = 4
"""Times that a difference is looked at before it is called one."""

PAUSE = 1.0
"""Seconds between two looks: a dual write takes less."""

MOST_TOPICS_AGAIN = 500
"""Topics that are read again one by one; of more, all are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideComparison:
    """The result of a comparison.

    position: /migration's, to which ZooKeeper was compared. is_exact: False if the log begins after
    its offset, so that the earliest image there is was taken. differences: those that every look
    showed alike. moving: names of what each look showed otherwise. ahead: what ZooKeeper has of
    later records already.
    """

    position: MigrationZnode
    is_exact: bool
    differences: tuple[EntryDifference, ...]
    moving: tuple[str, ...]
    ahead: Mapping[EntryKey, int]
    reading: ZooKeeperReading
    looks: int

    @property
    def offset(self) -> int:
        """The offset in the metadata log to which ZooKeeper was compared."""
        return self.position.kraft_metadata_offset

    def unwritten_in(self, image: MetadataImage) -> tuple[EntryDifference, ...]:
        """Return what ZooKeeper lacks of an image; it may have more, which gets lost with it."""
        found = differences(self.reading.entries, image_entries(image))
        return tuple(item for item in found if not harmless_reason(item))


class FollowedLog(Protocol):
    """A metadata log with the images of its past."""

    @property
    def image(self) -> MetadataImage:
        """The latest image."""

    def at(self, offset: int) -> MetadataImage | None:
        """Return the image with all records up to this one, None if the log begins later."""

    def since(self, offset: int) -> list[PastImage]:
        """Return the image at an offset, or the earliest, and those after it, with offsets."""

    async def until(self, offset: int) -> bool:
        """Wait until the record of an offset was read; False if that takes too long."""


class SideComparer:
    """Compares the two sides. pause: waits between two looks."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        reader: ZooKeeperReader,
        log: FollowedLog,
        *,
        pause: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(PAUSE),
    ) -> None:
        self._zookeeper = zookeeper
        self._reader = reader
        self._log = log
        self._pause = pause

    async def compare(self) -> SideComparison:
        """Compare everything.

        1. Read all of ZooKeeper; /migration before and after it.
        2. Compare it with the image at the offset before, and what differs with each later image up
           to the present: a value that any of them has is ahead of /migration, not wrong.
        3. Read again what differs, up to LOOKS times in all, and compare in the same way.
        4. What the last two looks showed alike is a difference; what they did not, is moving.

        Raises ConnectionFailed if /migration goes away or the log does not come as far.
        """
        # 1.
        position = await self._position()
        reading = await self._reader.read()
        # 2.
        result = self._judged(reading.entries, reading.no_state, position)
        harmless, ahead = result.harmless, result.ahead
        found = result.harmful
        looks, stable = 1, not found
        moved: set[EntryKey] = set()
        while looks < LOOKS and not stable:
            # 3.
            await self._pause()
            position = await self._position()
            keys = _keys(found)
            again, no_state = await self._again(reading, keys)
            result = self._judged(again, no_state, position, only=keys)
            ahead |= result.ahead
            harmless = [item for item in harmless if (item.kind, item.name) not in keys]
            harmless += result.harmless
            # 4.
            moved = _moved(found, result.harmful)
            stable = not result.harmful or (looks > 1 and not moved)
            found, looks = result.harmful, looks + 1
        if not stable:
            found = [item for item in found if (item.kind, item.name) not in moved]
        return SideComparison(
            position=position,
            is_exact=self._log.at(position.kraft_metadata_offset) is not None,
            differences=(*found, *harmless),
            moving=() if stable else tuple(sorted(name for _, name in moved)),
            ahead=ahead,
            reading=reading,
            looks=looks,
        )

    async def stands_still(self, position: MigrationZnode) -> bool:
        """Return True if /migration stays as it is for longer than a dual write takes."""
        for _ in range(LOOKS - 1):
            await self._pause()
            if await self._position() != position:
                return False
        return True

    async def _position(self) -> MigrationZnode:
        position = await read_position(self._zookeeper)
        if position is None or not position.is_copied:
            raise ConnectionFailed("/migration went away while it was compared: ask status")
        if not await self._log.until(position.kraft_metadata_offset):
            raise ConnectionFailed(
                f"the metadata log was not read up to record {position.kraft_metadata_offset},"
                " which /migration names: check that these are the controllers of this ZooKeeper"
            )
        return position

    def _judged(
        self,
        entries: EntriesByKind,
        no_state: Collection[str],
        position: MigrationZnode,
        *,
        only: Collection[EntryKey] | None = None,
    ) -> LaterImagesResult:
        """Judge entries by the image at an offset and those after it.

        no_state: partitions whose entry is what Kafka takes a missing state for.
        """
        images = self._log.since(position.kraft_metadata_offset)
        result = judged(entries, images, only)
        result.harmful += _missing_states(no_state, result.harmful, self._log.image)
        return result

    async def _again(
        self, reading: ZooKeeperReading, keys: Collection[EntryKey]
    ) -> tuple[EntriesByKind, set[str]]:
        """Read entries again, and note anew what the reading notes of them.

        Return them, and which of them are partitions without a state.
        """
        kinds = {kind for kind, _ in keys}
        topics = topics_of(keys)
        few = sorted(topics) if len(topics) <= MOST_TOPICS_AGAIN else None
        again = await self._reader.read(kinds, few)
        partitions = {name for kind, name in keys if kind is EntryKind.PARTITION}
        no_state = again.no_state & partitions
        reading.no_state = (reading.no_state - partitions) | no_state
        return selected(again.entries, keys), no_state


def _missing_states(
    no_state: Collection[str], found: Sequence[EntryDifference], image: MetadataImage
) -> list[EntryDifference]:
    """Return the partitions without a state that Kafka would set, if nothing else differs."""
    known = {item.name for item in found if item.kind is EntryKind.PARTITION}
    return [
        EntryDifference(
            kind=EntryKind.PARTITION, name=name, field="state", zookeeper="missing", kraft="known"
        )
        for name in sorted(set(no_state) - known)
        if has_directories(image, name)
    ]


def _moved(before: Sequence[EntryDifference], after: Sequence[EntryDifference]) -> set[EntryKey]:
    """Return the entries that differ in both looks, and otherwise."""
    entries = [_by_key(found) for found in (before, after)]
    return {key for key, items in entries[1].items() if entries[0].get(key) != items}


def _by_key(found: Iterable[EntryDifference]) -> dict[EntryKey, list[EntryDifference]]:
    items: dict[EntryKey, list[EntryDifference]] = {}
    for item in found:
        items.setdefault((item.kind, item.name), []).append(item)
    return items


def _keys(found: Iterable[EntryDifference]) -> set[EntryKey]:
    return {(item.kind, item.name) for item in found}
