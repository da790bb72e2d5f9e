"""The records of a copy from ZooKeeper, written by the active controller (KIP-866; Java:
QuorumController.MigrationRecordConsumer)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.result import versioned
from kwire.controller.server.large_messages import in_thread_if
from kwire.controller.server.metadata.log_writer import wait_for_commit
from kwire.controller.server.metadata.write_queue import WriteQueue
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.controller.state_machine.deferred_event_queue import DeferredEventQueue
from kwire.controller.state_machine.operations import run_and_encode
from kwire.controller.state_machine.quorum_controller import QuorumController
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError, LocalError
from kwire.image.features import ZkMigrationState
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord

logger = logging.getLogger(__name__)

FEW_RECORDS = 500
"""Records of a batch up to which it is written in the event loop; each costs some 20 µs."""


class MigrationFailed(LocalError):
    """The copy from ZooKeeper failed half-way; the next leader aborts its transaction."""


class MigrationWriter:
    """Writes what the migration's driver has read from ZooKeeper, as one metadata transaction.

    Each method returns when its records are committed, with the offset of the last one and the
    epoch. It raises ApiError, NOT_CONTROLLER, if this node does not lead in `epoch` any more. No
    other client's write comes between: until the end it is refused, but for those that Java flags
    with RUNS_IN_PREMIGRATION, whose records are part of the transaction.

    turns: the order of writes. leadership: returns the answers of this node's epoch; None while it
    does not lead. append: appends records of that epoch. completed: called after the last of them.
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
        completed: Callable[[], None],
    ) -> None:
        self._controller = controller
        self._runtime = runtime
        self._turns = turns
        self._leadership = leadership
        self._append = append
        self._completed = completed

    async def begin(self, epoch: int) -> None:
        """Begin the transaction.

        Nothing is written at a metadata.version without transactions, which only a log of Kafka 3.4
        and 3.5 has.
        """
        if self._has_transactions:
            begin = versioned(BeginTransactionRecord(name="ZK Migration"))
            await self._write([begin], epoch)
            logger.info("the copy from ZooKeeper begins")

    async def accept_batch(self, records: Iterable[VersionedRecord], epoch: int) -> OffsetAndEpoch:
        """Write records of the copy."""
        return await self._write(records, epoch)

    async def complete(self, epoch: int) -> OffsetAndEpoch:
        """End the transaction; the cluster is in state MIGRATION from then on."""
        state = ZkMigrationStateRecord(zk_migration_state=ZkMigrationState.MIGRATION)
        records = [versioned(state)]
        if self._has_transactions:
            records.append(versioned(EndTransactionRecord()))
        last = await self._write(records, epoch)
        self._completed()
        logger.info("the copy from ZooKeeper is complete at offset %d", last.offset)
        return last

    def abort(self, reason: str) -> None:
        """End this node: the next leader aborts the transaction, and copies anew."""
        self._runtime.fail(MigrationFailed(f"the copy from ZooKeeper failed: {reason}"))

    @property
    def _has_transactions(self) -> bool:
        features = self._controller.ahead.image.features
        return features.metadata_version.supports_metadata_transactions

    async def _write(self, records: Iterable[VersionedRecord], epoch: int) -> OffsetAndEpoch:
        """Append records at their turn; return the last one's offset once it is committed.

        1. Long batches are applied and encoded in a thread, as those of requests are.
        2. Only the leader of this epoch writes: a batch that came late would stand outside of its
           transaction, which the next leader has aborted.
        3. Work that does not fit any more, since raft wrote records of its own, is done again.
        """
        copied = tuple(records)
        async with self._turns.turn():
            while True:
                self._check_epoch(epoch)
                now, end_offset = self._runtime.now, self._runtime.raft.end_offset
                work = self._controller.begin_migration_batch(copied, now, end_offset)
                # 1.
                outcome = await in_thread_if(len(copied) > FEW_RECORDS, run_and_encode, work)
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
