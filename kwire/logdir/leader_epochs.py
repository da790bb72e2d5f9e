"""leader-epoch-checkpoint: at which offset each epoch begins (KIP-101), and partition.metadata."""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path
from uuid import UUID

from kwire.errors import FileError, InvalidValue
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.text.ids import parse_uuid, uuid_text

_ENTRY = re.compile(rb"(\d{1,19})\s+(\d{1,19})\s*")


class LeaderEpochs:
    """The epochs of a log with their first offsets, both ascending."""

    def __init__(self, starts: list[OffsetAndEpoch] | None = None) -> None:
        self._starts: list[OffsetAndEpoch] = []
        for start in starts or []:
            self.assign(start.epoch, start.offset)

    @property
    def starts(self) -> tuple[OffsetAndEpoch, ...]:
        """Each epoch with the offset that it begins at."""
        return tuple(self._starts)

    @property
    def latest(self) -> int | None:
        """The last epoch, None for an empty log."""
        return self._starts[-1].epoch if self._starts else None

    def at(self, offset: int) -> int | None:
        """Return the epoch of the record at `offset`; None before the first epoch."""
        return next((s.epoch for s in reversed(self._starts) if s.offset <= offset), None)

    def assign(self, epoch: int, offset: int) -> bool:
        """Note that `epoch` begins at `offset`; return True if that changed anything.

        Later epochs, and later starts, go: they were of records that are no more.
        """
        if self._starts and self._starts[-1].epoch == epoch and self._starts[-1].offset <= offset:
            return False
        earlier = [start for start in self._starts if start.epoch < epoch and start.offset < offset]
        self._starts = [*earlier, OffsetAndEpoch(offset=offset, epoch=epoch)]
        return True

    def truncate_from_end(self, offset: int) -> bool:
        """Forget the epochs that begin at `offset` or later; return True if there were any."""
        earlier = [start for start in self._starts if start.offset < offset]
        changed = len(earlier) != len(self._starts)
        self._starts = earlier
        return changed

    def truncate_from_start(self, offset: int) -> bool:
        """Let the epoch that `offset` is in begin there, and forget those before it."""
        before = [start for start in self._starts if start.offset <= offset]
        if not before or before == [OffsetAndEpoch(offset=offset, epoch=before[-1].epoch)]:
            return False
        first = OffsetAndEpoch(offset=offset, epoch=before[-1].epoch)
        self._starts = [first, *self._starts[len(before) :]]
        return True

    def end_offset(self, epoch: int, log_end: int) -> OffsetAndEpoch | None:
        """Return the end of `epoch`, or of the last one before it; None for one after the latest.

        An epoch before the first: ends where the first begins, and keeps its own number.
        """
        epochs = [start.epoch for start in self._starts]
        # The latest epoch has not ended: its end is that of the log.
        if epochs and epochs[-1] == epoch:
            return OffsetAndEpoch(offset=log_end, epoch=epoch)
        higher = bisect_right(epochs, epoch)
        if higher == len(epochs):
            return None
        floor = epochs[higher - 1] if higher else epoch
        return OffsetAndEpoch(offset=self._starts[higher].offset, epoch=floor)

    def encode(self) -> bytes:
        """Return the file: version 0, the number of entries, and an entry a line."""
        lines = ["0", str(len(self._starts))]
        lines += [f"{start.epoch} {start.offset}" for start in self._starts]
        return "".join(f"{line}\n" for line in lines).encode()


def parse_leader_epochs(data: bytes, file: Path) -> LeaderEpochs:
    """FileError where the file is not of that form. Before the first epoch Kafka's is empty."""
    if not data:
        return LeaderEpochs()
    # Java's readLine ends lines at the same bytes.
    lines = data.splitlines(keepends=True)
    head = [line.strip() for line in lines[:2]]
    if head != [b"0", b"%d" % (len(lines) - 2)]:
        raise FileError("not version 0, a count and that many lines", file=file)
    starts: list[OffsetAndEpoch] = []
    place = len(lines[0]) + len(lines[1])
    for number, line in enumerate(lines[2:], 3):
        try:
            starts.append(_start(line, starts[-1] if starts else None))
        except ValueError as error:
            raise FileError(f"line {number}: {error}", file=file, offset=place) from None
        place += len(line)
    return LeaderEpochs(starts)


def _start(line: bytes, before: OffsetAndEpoch | None) -> OffsetAndEpoch:
    """Return an entry; ValueError for one that Kafka does not write after the one before it."""
    match = _ENTRY.fullmatch(line)
    if not match:
        raise ValueError("not an epoch and an offset")
    start = OffsetAndEpoch(epoch=int(match[1]), offset=int(match[2]))
    if start.epoch >= 1 << 31 or start.offset >= 1 << 63:
        raise ValueError(f"{start} is more than there can be")
    if before and not (before.epoch < start.epoch and before.offset < start.offset):
        raise ValueError(f"{start} after {before}: both only grow")
    return start


def partition_metadata(topic_id: UUID = METADATA_TOPIC_ID) -> bytes:
    """Return the content of partition.metadata."""
    return f"version: 0\ntopic_id: {uuid_text(topic_id)}".encode()


def parse_partition_metadata(data: bytes, file: Path) -> UUID:
    """Return the topic id; raise FileError if the file is not of that form."""
    pairs = dict(line.partition(": ")[::2] for line in data.decode("utf-8", "replace").splitlines())
    try:
        if pairs.get("version") == "0":
            return parse_uuid(pairs.get("topic_id", ""))
    except InvalidValue as error:
        raise FileError(f"topic_id: {error}", file=file) from None
    raise FileError("not version 0 of partition.metadata", file=file)
