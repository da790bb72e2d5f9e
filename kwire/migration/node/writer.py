"""The records of a copy from ZooKeeper, written by the active controller (KIP-866; Java:
QuorumController.MigrationRecordConsumer)."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.result import versioned
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.errors import LocalError
from kwire.image.features import ZkMigrationState
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord

logger = logging.getLogger(__name__)


class MigrationFailed(LocalError):
    """The copy from ZooKeeper failed half-way; the next leader aborts its transaction."""


class MigrationWriter:
    """Writes what the migration's driver has read from ZooKeeper, as one metadata transaction.

    Each method returns when its records are committed, with the offset of the last one and the
    epoch, and raises as `EpochWriter.write`. No other client's write comes between: until the end
    it is refused, but for those that Java flags with RUNS_IN_PREMIGRATION, whose records are part
    of the transaction.
    """

    def __init__(self, metadata: MetadataRuntime, runtime: RaftRuntime) -> None:
        self._metadata = metadata
        self._runtime = runtime

    async def begin(self, epoch: int) -> None:
        """Begin the transaction.

        Nothing is written at a metadata.version without transactions, which only a log of Kafka 3.4
        and 3.5 has.
        """
        if self._has_transactions:
            begin = versioned(BeginTransactionRecord(name="ZK Migration"))
            await self._metadata.own_records.write([begin], epoch)
            logger.info("the copy from ZooKeeper begins")

    async def accept_batch(self, records: Iterable[VersionedRecord], epoch: int) -> OffsetAndEpoch:
        """Write records of the copy."""
        return await self._metadata.own_records.write(records, epoch)

    async def complete(self, epoch: int) -> OffsetAndEpoch:
        """End the transaction; the cluster is in state MIGRATION from then on."""
        state = ZkMigrationStateRecord(zk_migration_state=ZkMigrationState.MIGRATION)
        records = [versioned(state)]
        if self._has_transactions:
            records.append(versioned(EndTransactionRecord()))
        last = await self._metadata.own_records.write(records, epoch)
        self._metadata.run_periodic_tasks()
        logger.info("the copy from ZooKeeper is complete at offset %d", last.offset)
        return last

    def abort(self, reason: str) -> None:
        """End this node: the next leader aborts the transaction, and copies anew."""
        self._runtime.fail(MigrationFailed(f"the copy from ZooKeeper failed: {reason}"))

    @property
    def _has_transactions(self) -> bool:
        features = self._metadata.controller.ahead.image.features
        return features.metadata_version.supports_metadata_transactions
