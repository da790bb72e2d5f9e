"""The image at a place in the log, and the places where it can be had (MetadataProvenance)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol, Self

from kwire.errors import InvalidValue
from kwire.image import MetadataImage
from kwire.observer.raft_state import RaftState


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionedImage:
    """An image, and the last record that is in it; fields are None where that is not known.

    timestamp: milliseconds since 1970, of the batch with that record. raft: the quorum there.
    """

    image: MetadataImage
    offset: int | None
    epoch: int | None
    timestamp: int | None
    raft: RaftState = RaftState()

    @property
    def time(self) -> str | None:
        """The timestamp as text, `2026-11-21T11:43:55.370Z`."""
        # A batch without records of metadata, or before the first: no time is known.
        if self.timestamp is None or not 0 < self.timestamp < _LAST_MS:
            return None
        time = datetime.fromtimestamp(self.timestamp / 1000, UTC)
        return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def text(self) -> str:
        """The place in Kafka's words: `offset 131, epoch 1, time ...`."""
        known = (self.offset, self.epoch, self.time)
        offset, epoch, time = ("-" if value is None else value for value in known)
        return f"offset {offset}, epoch {epoch}, time {time}"

    def json(self) -> dict[str, Any]:
        """Return the place for scripts."""
        return {
            "offset": self.offset,
            "epoch": self.epoch,
            "timeMs": None if self.time is None else self.timestamp,
            "time": self.time,
        }


_LAST_MS = 253_402_300_800_000  # the year 10000, which datetime does not have


class OffsetNotAvailable(InvalidValue):
    """The cluster cannot be shown at this offset; the sentence says at which it can be."""

    def __init__(self, offset: int, source: object, first: int, last: int) -> None:
        where = f"offset {first} only" if first == last else f"offsets {first} to {last}"
        if last < first:
            where = "no records"
        super().__init__(f"{source} cannot show offset {offset}: it has {where}")


class ImageSource(Protocol):
    """A place that images come from; `str` of it names it as the user did."""

    def latest(self) -> PositionedImage:
        """Return the newest image."""

    def reload(self) -> None:
        """Read what was read once before again."""

    def at(self, offset: int) -> PositionedImage:
        """Return the newest image whose records all have offsets up to this one.

        Batches and metadata transactions are in it whole or not at all, as in every node.

        Raises OffsetNotAvailable.
        """

    def __enter__(self) -> Self:
        """Begin to read."""

    def __exit__(self, *exc: object) -> None:
        """Stop reading."""
