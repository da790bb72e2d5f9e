"""The committed metadata of a node as events for its migration's driver (Java: MetadataLoader).

Images are those of the node; what changed between two of them is looked up in the log.
"""

from __future__ import annotations

from collections.abc import Iterator

from kwire.batches import RecordBatch, read_batches
from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.controller.server.metadata.replay import batch_records
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.image import EMPTY
from kwire.image.changes import MetadataChanges
from kwire.logdir.names import OffsetAndEpoch
from kwire.migration.driver.events import ControllerChanged, MetadataPublished

MOST_RECORDS = 2000
"""Records that are looked up one by one; for more, all keys of both images are compared."""

_READ = 1 << 20
"""Bytes of the log that are read at once."""


class MetadataFeed:
    """Looks at a node's metadata, and tells what is new since the last look.

    _offset: everything below it was looked at. _published: everything below it is in _image.
    """

    def __init__(self, metadata: MetadataRuntime, runtime: RaftRuntime, log: DirectoryLog) -> None:
        self._metadata = metadata
        self._runtime = runtime
        self._log = log
        self._leader: tuple[int, int | None] = (-1, None)
        self._image = EMPTY
        self._offset = 0
        self._published = 0

    @property
    def has_other_leader(self) -> bool:
        """True if the leader has changed."""
        return self._leader != self._present_leader

    @property
    def is_longer(self) -> bool:
        """True if more is committed."""
        return self._offset != self._metadata.offset

    @property
    def _present_leader(self) -> tuple[int, int | None]:
        """The epoch and its leader; this node itself from its activation on."""
        controller, raft = self._metadata.controller, self._runtime.raft
        if controller.epoch is not None:
            return controller.epoch, controller.config.node_id
        is_self = raft.leader_id == controller.config.node_id
        return raft.epoch, None if is_self else raft.leader_id

    def leader(self) -> ControllerChanged | None:
        """Return the leader if it is another than at the last look."""
        leader = self._present_leader
        if leader == self._leader:
            return None
        self._leader = leader
        return ControllerChanged(epoch=leader[0], leader_id=leader[1])

    def metadata(self, *, with_changes: bool) -> MetadataPublished | None:
        """Return the committed image if it is newer than at the last look.

        1. What a metadata transaction has written is shown when it has ended.
        2. After a snapshot there are no changes to look up; nor does a driver ask for them that
           does not write.

        with_changes: True if they are asked for.
        """
        offset = self._offset = self._metadata.offset
        # 1.
        if offset == self._published or self._metadata.controller.committed.image.before:
            return None
        changes = None
        # 2.
        if with_changes and self._log.start_offset <= self._published:
            changes = self._changes(self._published, offset)
        self._image, self._published = self._metadata.image, offset
        at = OffsetAndEpoch(offset=offset - 1, epoch=self._log.epoch_of(offset - 1))
        return MetadataPublished(image=self._image, at=at, changes=changes)

    def _changes(self, start: int, end: int) -> MetadataChanges:
        """Return what the records between two offsets have changed."""
        before, after = self._image, self._metadata.image
        records: list[VersionedRecord] = []
        for record in self._records(start, end):
            records.append(record)
            if len(records) > MOST_RECORDS:
                return MetadataChanges.between(before, after)
        return MetadataChanges.of(before, after, records)

    def _records(self, start: int, end: int) -> Iterator[VersionedRecord]:
        while start < end:
            for batch in read_batches(self._log.read(start, _READ, end)):
                assert isinstance(batch, RecordBatch), "the metadata log has format 2 only"
                start = batch.last_offset + 1
                yield from batch_records(batch)
