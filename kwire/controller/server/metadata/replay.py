"""Replay of the log and its snapshots in slices, between which the event loop does other work.

Java's controller replays in a thread of its own, beside raft's. In one piece, 1,000,000 records
stopped the loop for ten seconds, and votes and fetches ran into their time-outs
(docs/decisions/0031).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace
from rpds import HashTrieMap

from kwire.batches import RecordBatch, read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.controller.raft import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.state_machine.metadata_view import MetadataView, ViewDelta
from kwire.errors import FileError, WireError

SLICE = 250
"""Records that are applied between two turns of the loop: a few milliseconds.

A batch counts as one more, since control batches have no records here.
"""

_READ = 64 * 1024
"""Bytes of the log that are read at once."""

_VIEWS_OF = 2000
"""Records before the last one read, ahead of the high watermark, whose views are kept.

A view keeps alive what later records have replaced. Freeing the views of 1,000 batches at once,
when the high watermark came, took up to a second.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The metadata after every record below an offset, at which a batch begins."""

    offset: int = 0
    view: MetadataView = MetadataView()


class Replay:
    """The metadata of a node's log, as far as it was read.

    committed: the latest view that is not ahead of the high watermark.

    A node reads its whole log when it starts, before a leader tells how much of it is committed,
    which is nearly all. Views ahead of the high watermark are kept aside until it reaches them, and
    forgotten if the log is truncated.
    """

    def __init__(self, log: DirectoryLog) -> None:
        self.committed = Replayed()
        self._log = log
        self._ahead: deque[Replayed] = deque()
        self._high_watermark = 0
        self._target = log.end.offset
        self._slices: Iterator[None] | None = None
        self._is_loading, self._snapshot = False, BOOTSTRAP_SNAPSHOT
        # The record that is read next: its offset, or in a snapshot its number.
        self._at = 0
        # The snapshot that formatting writes has control records only: the voters (KIP-853).
        if ids := [id for id in log.snapshots() if id != BOOTSTRAP_SNAPSHOT]:
            self.load(ids[-1])

    @property
    def is_behind(self) -> bool:
        """True if there are records left to apply."""
        return self._is_loading or self.last.offset < self._target

    @property
    def last(self) -> Replayed:
        """The view after everything that was read, committed or not."""
        return self._ahead[-1] if self._ahead else self.committed

    def load(self, id: OffsetAndEpoch) -> None:
        """Begin anew with a snapshot; `committed` stays as it is until all of it is applied."""
        self._is_loading, self._snapshot = True, id
        self._slices = self._load(id)
        self._target = max(id.offset, self._log.end.offset)

    def commit(self, high_watermark: int) -> None:
        """Set the target to the high watermark, and commit the views that were read below it."""
        self._high_watermark = max(self._high_watermark, high_watermark)
        self._target = max(self._target, high_watermark)
        while self._ahead and self._ahead[0].offset <= self._high_watermark:
            self.committed = self._ahead.popleft()

    def truncate(self, offset: int) -> None:
        """Forget the views beyond the new end of the log."""
        self._target = min(self._target, offset)
        # A batch that is being applied may be cut off; a snapshot is committed and never is.
        if not self._is_loading:
            self._slices = None
        while self._ahead and self._ahead[-1].offset > offset:
            self._ahead.pop()

    def follow(self, reached: Replayed) -> None:
        """Go on from the view that this node wrote itself and saw committed while it led."""
        self._ahead.clear()
        self.committed = reached
        self.commit(reached.offset)

    def apply_slice(self) -> bool:
        """Apply up to SLICE records; return True if more are left.

        Raises FileError, with file and position, for a record that cannot be read or does not fit.
        """
        if self._slices is None:
            self._slices = self._apply()
        try:
            ended = next(self._slices, self) is self
        except FileError:
            raise
        except WireError as error:
            raise self._placed(error) from error
        if ended:
            self._slices = None
        return self.is_behind

    def _placed(self, error: WireError) -> FileError:
        if self._is_loading:
            file, position = self._log.place_in_snapshot(self._snapshot, self._at)
            return FileError(f"record {self._at}: {error}", file=file, offset=position)
        file, position = self._log.place(self._at)
        return FileError(f"the record at offset {self._at}: {error}", file=file, offset=position)

    def _load(self, id: OffsetAndEpoch) -> Iterator[None]:
        delta = ViewDelta(MetadataView())
        for number, record in enumerate(self._log.iter_snapshot(id), 1):
            self._at = number
            delta.replay(record, number)
            if number % SLICE == 0:
                yield
        view = delta.view
        # A snapshot does not tell the offsets of registrations. A broker is unfenced once it has
        # read its own: that is certain from the end of the snapshot on.
        registrations = HashTrieMap(dict.fromkeys(view.image.cluster.brokers, id.offset - 1))
        view = replace(view, end_offset=id.offset, registrations=registrations)
        self._is_loading = False
        self.follow(Replayed(offset=id.offset, view=view))

    def _apply(self) -> Iterator[None]:
        left = SLICE
        while self.last.offset < self._target:
            data = self._log.read(self.last.offset, _READ, self._target)
            if not data:  # the high watermark lies within a batch: wait for a greater one
                self._target = self.last.offset
            for batch in read_batches(data):
                assert isinstance(batch, RecordBatch), "the metadata log has format 2 only"
                delta = ViewDelta(self.last.view)
                self._at = batch.base_offset
                for record in batch_records(batch):
                    delta.replay(record, self._at)
                    self._at += 1
                    left -= 1
                    if left <= 0:
                        yield
                        left = SLICE
                self._reach(Replayed(offset=batch.last_offset + 1, view=delta.view))
                left -= 1

    def _reach(self, reached: Replayed) -> None:
        # Views are kept at the ends of batches only: a batch is shown as a whole or not at all.
        if reached.offset <= self._high_watermark:
            self.committed = reached
        else:
            self._ahead.append(reached)
            while self._ahead[0].offset < reached.offset - _VIEWS_OF:
                self._ahead.popleft()


def batch_records(batch: RecordBatch) -> Iterator[VersionedRecord]:
    """Yield the metadata records of a batch; a control batch has none."""
    if not batch.is_control:
        for record in batch.records():
            yield read_metadata_record(record.value or b"")
