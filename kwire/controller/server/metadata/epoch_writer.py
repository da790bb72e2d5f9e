"""Records that the active controller writes of its own accord, and waits for.

In Java 3.9: QuorumController.MigrationRecordConsumer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.server.large_messages import in_thread_if
from kwire.controller.server.metadata.log_writer import wait_for_commit
from kwire.controller.server.metadata.write_queue import WriteQueue
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.controller.state_machine.deferred_event_queue import DeferredEventQueue
from kwire.controller.state_machine.operations import run_and_encode
from kwire.controller.state_machine.quorum_controller import QuorumController
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.logdir.names import OffsetAndEpoch

FEW_RECORDS = 500
"""Records of a batch up to which it is written in the event loop; each costs some 20 µs."""


class EpochWriter:
    """Writes batches of one epoch of this node's leadership.

    turns: the order of writes. leadership: returns the answers of this node's epoch; None while it
    does not lead. append: appends records of that epoch.
    """

    def __init__(
        self,
        controller: QuorumController,
        runtime: RaftRuntime,
        turns: WriteQueue,
        *,
        leadership: Callable[[], DeferredEventQueue | None],
        append: Callable[
            [tuple[VersionedRecord, ...], DeferredEventQueue, Iterable[bytes] | None], None
        ],
    ) -> None:
        self._controller = controller
        self._runtime = runtime
        self._turns = turns
        self._leadership = leadership
        self._append = append

    async def write(self, records: Iterable[VersionedRecord], epoch: int) -> OffsetAndEpoch:
        """Append records at their turn; return the last one's offset once it is committed.

        1. Long batches are applied and encoded in a thread, as those of requests are.
        2. Only the leader of this epoch writes: a batch that came late would stand outside of its
           transaction, which the next leader has aborted.
        3. Work that does not fit any more, since raft wrote records of its own, is done again.

        Raises ApiError, NOT_CONTROLLER, if this node does not lead in `epoch` any more.
        """
        batch = tuple(records)
        async with self._turns.turn():
            while True:
                self._check_epoch(epoch)
                now, end_offset = self._runtime.now, self._runtime.raft.end_offset
                work = self._controller.begin_records(batch, now, end_offset)
                # 1.
                outcome = await in_thread_if(len(batch) > FEW_RECORDS, run_and_encode, work)
                # 2.
                leadership = self._check_epoch(epoch)
                # 3.
                if self._controller.is_current(work, self._runtime.raft.end_offset):
                    break
            self._append(self._controller.finish_tick(work, outcome), leadership, outcome.batches)
            end_offset = self._controller.end_offset
        await wait_for_commit(end_offset, leadership)
        return OffsetAndEpoch(offset=end_offset - 1, epoch=epoch)

    def _check_epoch(self, epoch: int) -> DeferredEventQueue:
        leadership = self._leadership()
        if leadership is None or self._controller.epoch != epoch:
            raise ApiError(ErrorCode.NOT_CONTROLLER, f"This controller does not lead in {epoch}.")
        return leadership
