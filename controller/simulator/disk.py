"""A machine's disk: it keeps what was flushed, and of the rest what chance leaves."""

from __future__ import annotations

from pathlib import Path
from random import Random

from controller.raft import (
    ElectionState,
    FlushLog,
    LogFlushed,
    MemoryLog,
    OffsetAndEpoch,
    PersistElection,
)
from kwire.batches import RecordBatch, read_batches
from kwire.errors import WireError
from kwire.logdir.names import QUORUM_STATE
from kwire.logdir.quorum_state import QuorumState, parse_quorum_state


class Disk(MemoryLog):
    """The log, the snapshots and the bytes of quorum-state (None: no such file)."""

    def __init__(self) -> None:
        super().__init__()
        self.quorum_state: bytes | None = None
        self.persisted_epoch = 0

    def persist(self, effect: PersistElection) -> None:
        """Replace quorum-state. Kafka writes another file and renames it: all of it or nothing."""
        self.quorum_state = QuorumState(data=effect.data, version=effect.version).encode()
        self.persisted_epoch = effect.data.leader_epoch

    def flush(self, effect: FlushLog) -> LogFlushed:
        """Everything written so far is safe."""
        self.flushed = self.end.offset
        return LogFlushed(offset=effect.offset)

    @property
    def election(self) -> ElectionState | None:
        """What quorum-state says; FileError where that cannot be read."""
        if self.quorum_state is None:
            return None
        state = parse_quorum_state(self.quorum_state, Path(QUORUM_STATE))
        return ElectionState.from_data(state.data)

    def garble_quorum_state(self, random: Random) -> None:
        """Leave half of the file, as a disk that lies about renames does."""
        if self.quorum_state:
            self.quorum_state = self.quorum_state[: random.randrange(len(self.quorum_state))]

    def batches(self, start: int, end: int) -> list[tuple[int, int, int, bytes]]:
        """First offset, the one behind, epoch and bytes of the batches between two offsets."""
        return [
            (batch.base, batch.end, batch.epoch, batch.data)
            for batch in self._batches
            if start <= batch.base and batch.end <= end
        ]

    def lose_power(self, random: Random) -> None:
        """Of what was not flushed some bytes stay, cut anywhere, perhaps with zeros behind them.

        Then the log is opened: whole and sound batches are kept and flushed, a torn one is not.
        """
        unflushed = b"".join(b.data for b in self._batches if b.end > self.flushed)
        self.crash()
        written = random.randrange(len(unflushed) + 1)
        zeros = bytes(len(unflushed) - written) if random.random() < 0.5 else b""
        try:
            for batch in read_batches(unflushed[:written] + zeros):
                if not isinstance(batch, RecordBatch) or batch.base_offset != self.end.offset:
                    break
                self.append(batch.data)
        except WireError:
            pass  # recovery cuts the log at the broken batch
        self.flushed = self.end.offset

    def kill(self) -> None:
        """Only the process ends: the page cache gets to the disk, half snapshots do not count."""
        self._parts.clear()
        self.flushed = self.end.offset

    def earliest_snapshot(self) -> OffsetAndEpoch | None:
        """The first one behind the bootstrap snapshot."""
        return next((id for id in self.snapshots() if id.offset), None)
