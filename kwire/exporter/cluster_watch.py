"""Follows the metadata log, and keeps counts of the image for as long as a leader is followed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass

from kwire.exporter.partition_counts import PartitionCounter, PartitionCounts
from kwire.exporter.quorum_watch import age_limit
from kwire.image import EMPTY, MetadataImage
from kwire.observer import LiveImage

PAUSE = 1.0
"""Seconds between two counts: an image that changes all the time is not counted all the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCounts:
    """An image with its counts. topics: by name, empty unless they are asked for."""

    image: MetadataImage
    totals: PartitionCounts
    offline_directories: int
    topics: Mapping[str, PartitionCounts]


class ClusterWatch:
    """Counts the image of a quorum again whenever it has changed. topic_limit: topics by name."""

    def __init__(
        self,
        live: LiveImage,
        *,
        static_min_isr: int = 1,
        topic_limit: int = 0,
        pause: float = PAUSE,
    ) -> None:
        self._live = live
        self._counter = PartitionCounter(static_min_isr)
        self._topic_limit = topic_limit
        self._pause = pause
        self._counts: ClusterCounts | None = None
        self._changed_at = time.monotonic()

    @property
    def counts(self) -> ClusterCounts | None:
        """The latest counts; None before the first, and while no leader is followed or it hangs."""
        live = self._live
        silent = time.monotonic() - live.heard_at
        follows = live.leader is not None and silent <= age_limit(live.answered_in)
        return self._counts if follows else None

    @property
    def offset(self) -> int:
        """The offset after the last committed record that was read."""
        return self._live.offset

    @property
    def kraft_version(self) -> int:
        """The level of kraft.version, which is in control records and not in the image."""
        return self._live.observer.kraft_version

    @property
    def seconds_since_change(self) -> float:
        """Seconds since the image changed, or since the first one was read."""
        return time.monotonic() - self._changed_at

    async def run(self) -> None:
        """Follow the quorum for ever."""
        async with self._live as live:
            while True:
                counted = EMPTY if self._counts is None else self._counts.image
                # The offset moves on with records that change nothing (NoOpRecord); the image does
                # not.
                if live.image is counted:
                    await live.changed()
                    continue
                self._changed_at = time.monotonic()
                await self._count(live.image)
                await asyncio.sleep(self._pause)

    async def _count(self, image: MetadataImage) -> None:
        for _ in self._counter.count(image):
            await asyncio.sleep(0)
        topics = image.topics
        names = sorted(topics.ids)[: self._topic_limit] if self._topic_limit else ()
        self._counts = ClusterCounts(
            image=image,
            totals=copy(self._counter.totals),
            offline_directories=self._counter.offline_directories,
            topics={name: self._counter.topics[topics.ids[name]].counts for name in names},
        )
