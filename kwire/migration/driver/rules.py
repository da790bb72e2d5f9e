"""The rules of a controller in a cluster that is, or was, migrated from ZooKeeper (KIP-866)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Request
from kwire.controller.handlers.result import versioned
from kwire.controller.rules import CannotLead, Rules
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.features import FeaturesImage, ZkMigrationState
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.metadata_versions import LAST_OF_ZOOKEEPER
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord

RUNS_IN_PRE_MIGRATION = frozenset(
    {
        BrokerHeartbeatRequest,
        BrokerRegistrationRequest,
        ControllerRegistrationRequest,
        UnregisterBrokerRequest,
    }
)
"""Carried out before the copy (Java 3.9: ControllerOperationFlag.RUNS_IN_PREMIGRATION)."""


@dataclass(frozen=True, slots=True)
class MigrationRules(Rules):
    """The rules of Java's 3.9 controller.

    enabled: zookeeper.metadata.migration.enable. inter_broker_listener: that brokers must have.
    """

    enabled: bool = False
    inter_broker_listener: str = "PLAINTEXT"

    @property
    def is_ready(self) -> bool:
        """True if a migration is enabled."""
        return self.enabled

    def is_waiting(self, features: FeaturesImage) -> bool:
        """Return True until the metadata of ZooKeeper are copied."""
        return features.in_pre_migration

    def refusal(self, request: Request, features: FeaturesImage) -> str | None:
        """Return why a write is refused before the copy."""
        if features.in_pre_migration and type(request) not in RUNS_IN_PRE_MIGRATION:
            return "The controller is in pre-migration mode."
        return None

    def check_broker(self, request: BrokerRegistrationRequest, features: FeaturesImage) -> None:
        """Refuse a broker without ZooKeeper before the copy, and one with it without a migration.

        A broker with ZooKeeper must also have the listener at which it is told of metadata.
        """
        if not request.is_migrating_zk_broker:
            if features.in_pre_migration:
                text = (
                    "The metadata of ZooKeeper are not copied yet: only its brokers can register."
                )
                raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, text)
            return
        if not self.bumps_leader_epochs(features):
            Rules.check_broker(self, request, features)
        listener = self.inter_broker_listener
        if listener not in {listener.name for listener in request.listeners}:
            text = f"The broker has no listener {listener}, the inter.broker.listener.name."
            raise ApiError(ErrorCode.INVALID_REGISTRATION, text)

    def upgrade_refusal(self, features: FeaturesImage) -> str | None:
        """Return why metadata.version must not change."""
        return "a migration from ZooKeeper is under way" if features.is_migrating else None

    def bumps_leader_epochs(self, features: FeaturesImage) -> bool:
        """Return True if brokers with ZooKeeper may register (Java 3.9: zkRegistrationAllowed)."""
        return self.enabled and features.metadata_version.supports_migration

    def check_can_lead(self, features: FeaturesImage, *, is_empty: bool) -> None:
        """Raise CannotLead if a migration is enabled, and

        1. metadata.version is before 3.4-IV0; of an empty log before 3.6-IV1, since the copy is a
           transaction; or it is after 3.9-IV0, which no broker with ZooKeeper has;
        2. the cluster was created without ZooKeeper.
        """
        if not self.enabled:
            return
        version = features.metadata_version
        # 1.
        fits = version.supports_metadata_transactions if is_empty else version.supports_migration
        if not fits or (is_empty and version.level > LAST_OF_ZOOKEEPER):
            raise CannotLead(
                "zookeeper.metadata.migration.enable is true, but at metadata.version"
                f" {version.name} no broker can migrate from ZooKeeper: format the directories of"
                " all controllers with the brokers' inter.broker.protocol.version, such as"
                " `kwire storage format --release-version 3.9`"
            )
        # 2.
        if not is_empty and features.zk_migration_state == ZkMigrationState.NONE:
            raise CannotLead(
                "zookeeper.metadata.migration.enable is true, but the cluster was created in KRaft"
                " mode: remove the property, or migrate to controllers with empty directories"
            )

    def activation_records(
        self, features: FeaturesImage, *, is_empty: bool
    ) -> Sequence[VersionedRecord]:
        """Return the state of a migration that begins, or that ends since it is not enabled."""
        if is_empty and self.enabled:
            return [_state(ZkMigrationState.PRE_MIGRATION)]
        is_ending = features.zk_migration_state == ZkMigrationState.MIGRATION and not self.enabled
        if not is_empty and is_ending:
            return [_state(ZkMigrationState.POST_MIGRATION)]
        return []

    def activation_notice(self, features: FeaturesImage) -> str | None:
        """Return what the log and the setting mean for a migration; None for nothing."""
        state = features.zk_migration_state
        if not features.has_metadata_version and self.enabled:
            return "no metadata can be changed until those of ZooKeeper are copied"
        if state == ZkMigrationState.PRE_MIGRATION and not self.enabled:
            return (
                "no metadata can be changed until those of ZooKeeper are copied, which needs"
                " zookeeper.metadata.migration.enable=true"
            )
        if state == ZkMigrationState.MIGRATION and self.enabled:
            return "the migration from ZooKeeper goes on"
        if state == ZkMigrationState.MIGRATION:
            return (
                "the migration from ZooKeeper is finalised, since"
                " zookeeper.metadata.migration.enable is not true"
            )
        if state == ZkMigrationState.POST_MIGRATION and self.enabled:
            return (
                "zookeeper.metadata.migration.enable is ignored, since the migration from ZooKeeper"
                " is finalised"
            )
        return None


def _state(state: ZkMigrationState) -> VersionedRecord:
    return versioned(ZkMigrationStateRecord(zk_migration_state=state))
