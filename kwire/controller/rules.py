"""The rules by which a controller differs from KRaft alone: the seam in its state machine.

A migration (KIP-866) has rules of its own; `Rules` are those of a cluster that has none.
"""

from __future__ import annotations

from collections.abc import Sequence

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError, LocalError
from kwire.image.features import FeaturesImage
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest


class CannotLead(LocalError):
    """The metadata and the settings of this controller do not fit; another one may lead."""


class Rules:
    """Answers of a plain cluster to what the state machine asks before it writes and leads. Pure.

    features: of the image that is written to, or of the log.
    """

    @property
    def is_ready(self) -> bool:
        """zkMigrationReady, as other nodes are told."""
        return False

    def is_waiting(self, features: FeaturesImage) -> bool:
        """Return True while the periodic tasks rest, all but NoOpRecords."""
        return False

    def refusal(self, request: Request, features: FeaturesImage) -> str | None:
        """Return why a write is refused with NOT_CONTROLLER; None if it is not."""
        return None

    def check_broker(self, request: BrokerRegistrationRequest, features: FeaturesImage) -> None:
        """Raise ApiError if a broker of its kind must not register."""
        if request.is_migrating_zk_broker:
            text = (
                "The controller does not register brokers with ZooKeeper: no migration is enabled."
            )
            raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, text)

    def upgrade_refusal(self, features: FeaturesImage) -> str | None:
        """Return why metadata.version must not change; None if it may."""
        return None

    def bumps_leader_epochs(self, features: FeaturesImage) -> bool:
        """Return True if brokers must see a new leader epoch when an ISR shrinks."""
        return False

    def check_can_lead(self, features: FeaturesImage, *, is_empty: bool) -> None:
        """Raise CannotLead, which says what to do, if this node must not lead.

        is_empty: the features are those of the bootstrap records.
        """
        if features.is_migrating:
            raise CannotLead(
                "the log is in the midst of a migration, which this node has no part for: run it by"
                " `kwire controller`"
            )

    def activation_records(
        self, features: FeaturesImage, *, is_empty: bool
    ) -> Sequence[VersionedRecord]:
        """Return records that a new leader writes; of an empty log, after the bootstrap records."""
        return ()

    def activation_notice(self, features: FeaturesImage) -> str | None:
        """Return what an operator is told when this node begins to lead; None for nothing.

        features: of the log, as they were before the activation.
        """
        return None
