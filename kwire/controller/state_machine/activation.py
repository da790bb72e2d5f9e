"""The activation of a controller that was elected (Java: ActivationRecordsGenerator of 3.9)."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.result import ControllerConfig, versioned
from kwire.controller.handlers.update_features import min_insync_replicas_of_brokers
from kwire.errors import LocalError
from kwire.image import MetadataImage, apply_all
from kwire.image.features import FeaturesImage, ZkMigrationState
from kwire.messages.metadata_versions import LAST_OF_ZOOKEEPER
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord


class CannotLead(LocalError):
    """The metadata and the settings of this controller do not fit; another one may lead."""


def check_can_lead(features: FeaturesImage, *, is_empty: bool, zk_migration_enabled: bool) -> None:
    """Check the features of the log, or else of its bootstrap records.

    is_empty: they are those of the bootstrap records. Raises CannotLead, which says what to do, if
    a migration from ZooKeeper is enabled (KIP-866), and

    1. metadata.version is before 3.4-IV0; of an empty log before 3.6-IV1, since the copy is a
       transaction; or it is after 3.9-IV0, which no broker with ZooKeeper has;
    2. the cluster was created without ZooKeeper.
    """
    if not zk_migration_enabled:
        return
    version = features.metadata_version
    # 1.
    fits = version.supports_metadata_transactions if is_empty else version.supports_migration
    if not fits or (is_empty and version.level > LAST_OF_ZOOKEEPER):
        raise CannotLead(
            f"zookeeper.metadata.migration.enable is true, but at metadata.version {version.name}"
            " no broker can migrate from ZooKeeper: format the directories of all controllers with"
            " the brokers' inter.broker.protocol.version, such as --release-version 3.9"
        )
    # 2.
    if not is_empty and features.zk_migration_state == ZkMigrationState.NONE:
        raise CannotLead(
            "zookeeper.metadata.migration.enable is true, but the cluster was created in KRaft"
            " mode: remove the property, or migrate to controllers with empty directories"
        )


def activation_notice(features: FeaturesImage, *, zk_migration_enabled: bool) -> str | None:
    """Return what the log and the setting mean for a migration from ZooKeeper; None for nothing.

    features: of the log, as they were before the activation.
    """
    state = features.zk_migration_state
    if not features.has_metadata_version and zk_migration_enabled:
        return "no metadata can be changed until those of ZooKeeper are copied"
    if state == ZkMigrationState.PRE_MIGRATION and not zk_migration_enabled:
        return (
            "no metadata can be changed until those of ZooKeeper are copied, which needs"
            " zookeeper.metadata.migration.enable=true"
        )
    if state == ZkMigrationState.MIGRATION and zk_migration_enabled:
        return "the migration from ZooKeeper goes on"
    if state == ZkMigrationState.MIGRATION:
        return (
            "the migration from ZooKeeper is finalised, since"
            " zookeeper.metadata.migration.enable is not true"
        )
    if state == ZkMigrationState.POST_MIGRATION and zk_migration_enabled:
        return (
            "zookeeper.metadata.migration.enable is ignored, since the migration from ZooKeeper is"
            " finalised"
        )
    return None


def activation_records(
    image: MetadataImage, bootstrap: Iterable[VersionedRecord], config: ControllerConfig
) -> list[VersionedRecord]:
    """Return the records that a new leader writes first.

    1. Abort a transaction that is open: the leader that began it is gone.
    2. Raise CannotLead as `check_can_lead` does.
    3. A log in state MIGRATION gets POST_MIGRATION if no migration is enabled any more (KIP-866).
    4. A log without metadata.version gets the bootstrap records.
    5. If they begin with eligible leader replicas, all brokers get one min.insync.replicas, by
       which the controller counts (KIP-966): that of this node's server.properties.
    6. If a migration is enabled they end with PRE_MIGRATION.
    7. They are a transaction if their metadata.version has transactions (KIP-868).
    """
    records: list[VersionedRecord] = []
    bootstrap = list(bootstrap)
    # 1.
    if image.before is not None:
        records.append(versioned(AbortTransactionRecord(reason="Controller failover")))
        image = image.before
    # 2.
    is_empty = not image.features.has_metadata_version
    features = apply_all(image, bootstrap).features if is_empty else image.features
    migrates = config.zk_migration_enabled
    check_can_lead(features, is_empty=is_empty, zk_migration_enabled=migrates)
    # 3.
    if not is_empty and features.zk_migration_state == ZkMigrationState.MIGRATION and not migrates:
        records.append(_state(ZkMigrationState.POST_MIGRATION))
    # 4.
    if not is_empty or not bootstrap:
        return records
    # 5.
    if features.elr_enabled:
        bootstrap.append(min_insync_replicas_of_brokers(config.static))
    # 6.
    if migrates:
        bootstrap.append(_state(ZkMigrationState.PRE_MIGRATION))
    # 7.
    if not features.metadata_version.supports_metadata_transactions:
        return records + bootstrap
    begin = versioned(BeginTransactionRecord(name="Bootstrap records"))
    return [*records, begin, *bootstrap, versioned(EndTransactionRecord())]


def _state(state: ZkMigrationState) -> VersionedRecord:
    return versioned(ZkMigrationStateRecord(zk_migration_state=state))
