"""A log in memory that carries out effects, for tests and simulations."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import islice

from kwire.batches import RecordBatch, read_batches
from kwire.controller.raft.effects import (
    AppendLog,
    FlushLog,
    InstallSnapshot,
    RaftEffect,
    TruncateLog,
    WriteSnapshot,
)
from kwire.controller.raft.events import LogFlushed, RaftEvent, SnapshotInstalled
from kwire.logdir.names import OffsetAndEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredBatch:
    """A batch: its first offset, the offset after it, its epoch."""

    base: int
    end: int
    epoch: int
    data: bytes


class MemoryLog:
    """A `Log` in memory; `crash` loses what was not flushed."""

    def __init__(self) -> None:
        self._batches: list[_StoredBatch] = []
        self._snapshots: dict[OffsetAndEpoch, bytes] = {}
        self._parts: dict[OffsetAndEpoch, bytearray] = {}
        self._start = OffsetAndEpoch(offset=0, epoch=0)
        self.flushed = 0

    @property
    def start_offset(self) -> int:
        """The first offset that can be read."""
        return self._start.offset

    @property
    def end(self) -> OffsetAndEpoch:
        """The next offset and the last epoch."""
        if not self._batches:
            return self._start
        last = self._batches[-1]
        return OffsetAndEpoch(offset=last.end, epoch=last.epoch)

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Return the end of the greatest epoch not above `epoch`, and that epoch."""
        count = bisect_right(self._batches, epoch, key=lambda batch: batch.epoch)
        if not count:
            return self._start
        last = self._batches[count - 1]
        return OffsetAndEpoch(offset=last.end, epoch=last.epoch)

    def read(self, offset: int, max_bytes: int) -> bytes:
        """Return whole batches from the one that has `offset` on, at least one if there is one."""
        first = bisect_right(self._batches, offset, key=lambda batch: batch.end)
        data = bytearray()
        for batch in islice(self._batches, first, None):
            if data and len(data) + len(batch.data) > max_bytes:
                break
            data += batch.data
        return bytes(data)

    def snapshots(self) -> list[OffsetAndEpoch]:
        """Return the ids of complete snapshots, ascending."""
        return sorted(self._snapshots)

    def snapshot_size(self, id: OffsetAndEpoch) -> int | None:
        """Return the bytes of a snapshot; None if there is no such snapshot."""
        data = self._snapshots.get(id)
        return None if data is None else len(data)

    def read_snapshot(self, id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        """Return bytes of a snapshot, cut anywhere."""
        return self._snapshots[id][position : position + max_bytes]

    def carry_out(self, effect: RaftEffect) -> RaftEvent | None:
        """Carry out an effect on the log; return the event that tells so, if one does."""
        match effect:
            case AppendLog(data=data):
                self.append(data)
            case TruncateLog(offset=offset):
                self._batches = [batch for batch in self._batches if batch.end <= offset]
                self.flushed = min(self.flushed, offset)
            case FlushLog(offset=offset):
                self.flushed = min(offset, self.end.offset)
                return LogFlushed(offset=offset)
            case WriteSnapshot(id=id, position=position, data=data):
                part = self._parts.setdefault(id, bytearray())
                part[position:] = data
            case InstallSnapshot(id=id):
                self._install(id)
                return SnapshotInstalled(id=id)
        return None

    def append(self, data: bytes) -> None:
        """Add batches that follow the end."""
        for batch in read_batches(data):
            assert isinstance(batch, RecordBatch)
            assert batch.base_offset == self.end.offset, "the log would have a gap"
            stored = _StoredBatch(
                base=batch.base_offset,
                end=batch.last_offset + 1,
                epoch=batch.partition_leader_epoch,
                data=batch.data,
            )
            self._batches.append(stored)

    def store_snapshot(self, id: OffsetAndEpoch, data: bytes) -> None:
        """Add a snapshot of this replica's own; the log stays as it is."""
        self._snapshots[id] = data

    def clean(self, id: OffsetAndEpoch) -> None:
        """Let the log begin where a snapshot ends, and forget older snapshots."""
        self._batches = [batch for batch in self._batches if batch.base >= id.offset]
        self._snapshots = {key: data for key, data in self._snapshots.items() if key >= id}
        self._start = id

    def crash(self) -> None:
        """Lose what was never flushed."""
        self._batches = [batch for batch in self._batches if batch.end <= self.flushed]
        self._parts.clear()

    def _install(self, id: OffsetAndEpoch) -> None:
        self._snapshots[id] = bytes(self._parts.pop(id))
        self._batches.clear()
        self.clean(id)
        self.flushed = id.offset
