"""UpdateFeatures (KIP-584, KIP-778, KIP-853)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kwire.batches.metadata_records import VersionedRecord
from kwire.configs.node_configs import node_value
from kwire.configs.topic_configs import MIN_INSYNC_REPLICAS
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerResult,
    KRaftVersionRequest,
    VersionedRecords,
    versioned,
)
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a57_update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kwire.messages.config_resource import ResourceType
from kwire.messages.metadata_versions import (
    ELIGIBLE_LEADER_REPLICAS,
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    metadata_version_level,
)
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.no_op import NoOpRecord
from kwire.net.negotiation import VersionRange

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3

CHANGED_METADATA = frozenset({8, 11, 13, 14, 15, 17, 23, 30, 32, 33})
"""Levels of metadata.version with records or fields that the level below does not have."""


def handle(request: UpdateFeaturesRequest, context: ControllerContext) -> ControllerResult:
    """Raise or lower features, all of them or none (Java: FeatureControlManager.updateFeatures).

    Answers INVALID_UPDATE_VERSION for:

    1. an unknown type of update; a level below 0; an unknown feature;
    2. a level that this controller, a broker or another registered controller does not support;
       a voter that has not registered;
    3. a lower level as an upgrade, a higher one as a downgrade;
    4. a metadata.version that would have to forget what is in the metadata, or any that the
       rules refuse;
    5. another feature whose level needs a higher metadata.version than there will be;
    6. a lower kraft.version.

    With eligible leader replicas come the records of `elr_safety_records` first.

    7. A higher kraft.version is not a record of metadata: raft is asked for it before anything is
       written (KIP-853 "UpdateFeatures", `kwire.controller.raft.kraft_version_upgrade`).
    8. An upgrade to the kraft.version that there is by then is a NoOpRecord, for whose commit the
       response waits.
    """
    updates = {update.feature: update for update in request.feature_updates}
    records: VersionedRecords = []
    kraft_version: KRaftVersionRequest | None = None
    for update in updates.values():
        _check(update, updates, context)
        level = update.max_version_level
        if update.feature != KRAFT_VERSION:
            record = FeatureLevelRecord(name=update.feature, feature_level=level)
            records.append(versioned(record))
        # 7.
        elif level > context.quorum.kraft_version:
            kraft_version = KRaftVersionRequest(level=level, validate_only=request.validate_only)
        # 8.
        elif update.upgrade_type == UPGRADE:
            records.append(versioned(NoOpRecord()))
    elr = updates.get(ELIGIBLE_LEADER_REPLICAS)
    if elr is not None and elr.max_version_level > 0:
        records = [*elr_safety_records(context), *records]
    response = UpdateFeaturesResponse(
        error_message=None,
        # Java tells each update that it went well by the name of the code.
        results=[
            UpdatableFeatureResult(feature=update.feature, error_message="NONE")
            for update in request.feature_updates
        ],
    )
    writes = kraft_version is None and not request.validate_only
    return ControllerResult(
        records=tuple(records) if writes else (),
        response=response,
        kraft_version=kraft_version,
    )


def elr_safety_records(context: ControllerContext) -> VersionedRecords:
    """Return the records that give all brokers one min.insync.replicas (KIP-966; Java:
    maybeGenerateElrSafetyRecords): the controller has to know by which value they acknowledge.

    1. Where the cluster has no value for all brokers, that of this controller's server.properties.
    2. Those of single brokers are removed.
    """
    configs = context.image.configs
    records: VersionedRecords = []
    # 1.
    if MIN_INSYNC_REPLICAS not in configs.of(ResourceType.BROKER, ""):
        records.append(min_insync_replicas_of_brokers(context.config.static))
    # 2.
    brokers = [name for type, name in configs.resources if type == ResourceType.BROKER and name]
    records += [
        _min_insync_replicas(name, None)
        for name in sorted(brokers, key=int)
        if MIN_INSYNC_REPLICAS in configs.of(ResourceType.BROKER, name)
    ]
    return records


def min_insync_replicas_of_brokers(static: Mapping[str, str]) -> VersionedRecord:
    """Return the record that gives all brokers the min.insync.replicas of a server.properties."""
    return _min_insync_replicas("", str(node_value(static, MIN_INSYNC_REPLICAS)))


def _min_insync_replicas(broker: str, value: str | None) -> VersionedRecord:
    return versioned(
        ConfigRecord(
            resource_type=ResourceType.BROKER,
            resource_name=broker,
            name=MIN_INSYNC_REPLICAS,
            value=value,
        )
    )


def _check(
    update: FeatureUpdateKey, updates: dict[str, FeatureUpdateKey], context: ControllerContext
) -> None:
    name, level = update.feature, update.max_version_level
    # 1.
    # Version 0 has no types: its AllowDowngrade is not looked at since Kafka 3.3.
    kind = update.upgrade_type
    if kind not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        raise _invalid(update, f"{kind} is not a type of update")
    if level < 0:
        raise _invalid(update, "levels begin at 0")
    # 2.
    reason = next(_unsupported(name, level, context), None)
    if reason is not None:
        raise _invalid(update, reason)
    # 3., 6.
    current = _current(name, context)
    if level < current and (kind == UPGRADE or name == KRAFT_VERSION):
        raise _invalid(update, f"it is at {current}, and this is not a downgrade that is possible")
    if level > current and kind != UPGRADE:
        raise _invalid(update, f"it is at {current}, which a downgrade cannot raise")
    # 4.
    if name == METADATA_VERSION:
        _check_metadata_version(update, current, context)
    # 5.
    elif name in FEATURES:
        _check_needs(update, updates, context)
    # 1. Level 0 of an unknown feature is supported by all, and yet refused.
    elif name != KRAFT_VERSION:
        raise _invalid(update, "there is no such feature")


def _current(name: str, context: ControllerContext) -> int:
    if name == KRAFT_VERSION:
        return context.quorum.kraft_version
    if name == METADATA_VERSION:
        return context.metadata_version.level
    return context.image.features.level(name)


def _unsupported(name: str, level: int, context: ControllerContext) -> Iterator[str]:
    """Yield the nodes that do not support the level, this controller first."""
    only_0 = VersionRange(0, 0)
    own = context.config.features.get(name, only_0)
    if level not in own:
        yield f"controller {context.config.node_id} supports {own}"
    cluster = context.image.cluster
    for broker in sorted(cluster.brokers.values(), key=lambda broker: broker.id):
        levels = broker.features.get(name, only_0)
        if level not in levels:
            yield f"broker {broker.id} supports {levels}"
    if not context.metadata_version.supports_controller_registration:
        return
    for controller in sorted(cluster.controllers.values(), key=lambda controller: controller.id):
        levels = controller.features.get(name, only_0)
        if controller.id != context.config.node_id and level not in levels:
            yield f"controller {controller.id} supports {levels}"
    # A voter that has not registered has told its levels to nobody, and may lead tomorrow.
    for id in sorted(context.quorum.voter_ids - {context.config.node_id}):
        if id not in cluster.controllers:
            yield f"controller {id} has not registered, and may not support it"


def _check_metadata_version(
    update: FeatureUpdateKey, current: int, context: ControllerContext
) -> None:
    level = update.max_version_level
    if refusal := context.config.rules.upgrade_refusal(context.image.features):
        raise _invalid(update, refusal)
    if any(level < changed <= current for changed in CHANGED_METADATA):
        old, new = metadata_version_level(current).name, metadata_version_level(level).name
        raise _invalid(update, f"from {old} to {new} metadata might be lost")


def _check_needs(
    update: FeatureUpdateKey, updates: dict[str, FeatureUpdateKey], context: ControllerContext
) -> None:
    needed = FEATURES[update.feature].needs.get(update.max_version_level, 0)
    other = updates.get(METADATA_VERSION)
    proposed = context.metadata_version.level if other is None else other.max_version_level
    # A negative level of metadata.version is refused by its own update.
    if needed and proposed < needed:
        name = metadata_version_level(needed).name
        raise _invalid(update, f"it needs {METADATA_VERSION} {name}")


def _invalid(update: FeatureUpdateKey, reason: str) -> ApiError:
    text = f"{update.feature} cannot be set to {update.max_version_level}: {reason}."
    return ApiError(ErrorCode.INVALID_UPDATE_VERSION, text)
