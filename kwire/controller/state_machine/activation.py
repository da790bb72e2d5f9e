"""The activation of a controller that was elected (Java: ActivationRecordsGenerator)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.update_features import min_insync_replicas_of_brokers
from kwire.errors import LocalError
from kwire.image import MetadataImage, apply_all
from kwire.image.features import FeaturesImage, ZkMigrationState
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord


class CannotLead(LocalError):
    """The metadata has something that this controller must not write on; another may lead."""


def check_can_lead(features: FeaturesImage) -> None:
    """Check the features of the log, or else of its bootstrap records.

    Raises CannotLead, which says what to do, for a move from ZooKeeper that is prepared or under
    way (KIP-866).
    """
    # The leader has to write every change to ZooKeeper, too.
    state = features.zk_migration_state
    if state in (ZkMigrationState.PRE_MIGRATION, ZkMigrationState.MIGRATION):
        raise CannotLead(
            f"the move from ZooKeeper is in state {ZkMigrationState(state).name}, and kwire writes"
            " nothing to ZooKeeper: finish it with the controllers of Kafka 3.9 first"
        )


def activation_records(
    image: MetadataImage, bootstrap: Iterable[VersionedRecord], static: Mapping[str, str]
) -> list[VersionedRecord]:
    """Return the records that a new leader writes first.

    1. Abort a transaction that is open: the leader that began it is gone.
    2. Raise CannotLead as `check_can_lead` does.
    3. A log without metadata.version gets the bootstrap records.
    4. If they begin with eligible leader replicas, all brokers get one min.insync.replicas, by
       which the controller counts (KIP-966): that of `static`, this node's server.properties.
    5. Both are a transaction if their metadata.version has transactions (KIP-868).
    """
    records: list[VersionedRecord] = []
    bootstrap = list(bootstrap)
    # 1.
    if image.before is not None:
        abort = AbortTransactionRecord(reason="Another controller leads")
        records.append(VersionedRecord(record=abort, version=0))
        image = image.before
    # 2.
    is_empty = not image.features.has_metadata_version
    features = apply_all(image, bootstrap).features if is_empty else image.features
    check_can_lead(features)
    # 3.
    if not is_empty or not bootstrap:
        return records
    # 4.
    if features.elr_enabled:
        bootstrap.append(min_insync_replicas_of_brokers(static))
    # 5.
    if not features.metadata_version.supports_metadata_transactions:
        return records + bootstrap
    begin = VersionedRecord(record=BeginTransactionRecord(name="Bootstrap records"), version=0)
    end = VersionedRecord(record=EndTransactionRecord(), version=0)
    return [*records, begin, *bootstrap, end]
