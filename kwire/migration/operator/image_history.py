"""The images of a metadata log at each of its batches, for comparison at a chosen offset.

Dual write is asynchronous (KIP-866): ZooKeeper shows the metadata of an offset that is past.
"""

from __future__ import annotations

from bisect import bisect_right

from kwire.batches import RecordBatch
from kwire.image import MetadataImage
from kwire.observer import LiveImage

MOST = 200_000
"""Batches that are kept; the images share what did not change between them."""


class ImageHistory:
    """Follows a LiveImage that has not begun yet.

    start: no image before this offset is known.
    """

    def __init__(self, live: LiveImage) -> None:
        self._live = live
        self._offsets: list[int] = []
        self._images: list[MetadataImage] = []
        live.observer.on_batch = self._note

    def _note(self, batch: RecordBatch) -> None:
        # The observer begins anew after bytes that make no sense: the same offsets come again.
        kept = bisect_right(self._offsets, batch.last_offset - 1)
        del self._offsets[kept:], self._images[kept:]
        self._offsets.append(batch.last_offset)
        self._images.append(self._live.observer.image)
        if len(self._offsets) > 2 * MOST:
            del self._offsets[:MOST], self._images[:MOST]

    def at(self, offset: int) -> MetadataImage | None:
        """Return the image with all records up to this one, None if the log begins later."""
        index = bisect_right(self._offsets, offset)
        if index:
            return self._images[index - 1]
        start = self._live.observer.start
        return start.image if start.place.offset and start.place.offset <= offset + 1 else None

    def since(self, offset: int) -> list[tuple[int, MetadataImage]]:
        """Return the image at an offset and those after it that differ, with their offsets.

        There is always one. If the log begins later, the first is the earliest that is known.
        """
        first = self.at(offset)
        begin = bisect_right(self._offsets, offset)
        later = list(zip(self._offsets[begin:], self._images[begin:], strict=True))
        if first is None:
            start = self._live.observer.start
            offset, first = start.place.offset - 1, start.image
            if later and later[0][0] <= offset:
                offset, first = later[0]
        images = [(offset, first)]
        for item in later:
            if item[1] is not images[-1][1]:
                images.append(item)
        return images
