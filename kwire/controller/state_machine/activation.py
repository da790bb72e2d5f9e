"""The activation of a controller that was elected (Java: ActivationRecordsGenerator of 3.9)."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.result import ControllerConfig, versioned
from kwire.controller.handlers.update_features import min_insync_replicas_of_brokers
from kwire.image import MetadataImage, apply_all
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord


def activation_records(
    image: MetadataImage, bootstrap: Iterable[VersionedRecord], config: ControllerConfig
) -> list[VersionedRecord]:
    """Return the records that a new leader writes first.

    1. Abort a transaction that is open: the leader that began it is gone.
    2. Raise CannotLead as the rules' `check_can_lead` does.
    3. A log that is not empty gets what the rules say.
    4. A log without metadata.version gets the bootstrap records.
    5. If they begin with eligible leader replicas, all brokers get one min.insync.replicas, by
       which the controller counts (KIP-966): that of this node's server.properties.
    6. They end with what the rules say.
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
    config.rules.check_can_lead(features, is_empty=is_empty)
    of_rules = config.rules.activation_records(features, is_empty=is_empty)
    # 3.
    if not is_empty:
        return [*records, *of_rules]
    # 4.
    if not bootstrap:
        return records
    # 5.
    if features.elr_enabled:
        bootstrap.append(min_insync_replicas_of_brokers(config.static))
    # 6.
    bootstrap.extend(of_rules)
    # 7.
    if not features.metadata_version.supports_metadata_transactions:
        return records + bootstrap
    begin = versioned(BeginTransactionRecord(name="Bootstrap records"))
    return [*records, begin, *bootstrap, versioned(EndTransactionRecord())]
