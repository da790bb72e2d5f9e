"""Feature levels, supported and finalized: describe_features, UpdateFeatures (KIP-584, KIP-778)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from kwire.admin import registry
from kwire.admin.cluster_description import require_endpoint_type, require_metadata
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.operation import KeyedChanges, Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.errors import InvalidValue, KwireError, UnsupportedVersion
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.a57_update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kwire.net.connection import Connection
from kwire.net.negotiation import NodeApiVersions, VersionRange, api_versions_request


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureMetadata:
    """Feature levels by name, as the node that was asked knows them.

    finalized_features: the levels in force; a feature that is missing is at level 0.
    finalized_features_epoch: None if there is none. A broker gives the offset of the last
    metadata record, a controller that of the last change of features: never compare the two.
    supported_features: of that node alone; another node may support others.
    """

    finalized_features: Mapping[str, VersionRange]
    finalized_features_epoch: int | None
    supported_features: Mapping[str, VersionRange]


class UpgradeType(IntEnum):
    """The direction in which a level may change (Java: FeatureUpdate.UpgradeType)."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureUpdate:
    """A level that a feature shall have; 0 disables it, which is a downgrade."""

    level: int
    upgrade_type: UpgradeType = UpgradeType.UPGRADE


FeatureUpdates = KeyedChanges[str, FeatureUpdate]


def _features(
    response: ApiVersionsResponse, call: OperationCall[int | None, None]
) -> Iterator[tuple[int | None, FeatureMetadata]]:
    raise_for_code(response.error_code)
    yield call.keys[0], _metadata(NodeApiVersions.of(response))


def _metadata(node: NodeApiVersions) -> FeatureMetadata:
    return FeatureMetadata(
        finalized_features=node.finalized_features,
        finalized_features_epoch=node.finalized_features_epoch,
        supported_features=node.supported_features,
    )


# Asked anew each time: features may have changed since the connection was opened.
DESCRIBE_FEATURES: Operation[int | None, None, FeatureMetadata] = Operation(
    row=registry.DESCRIBE_FEATURES,
    build=lambda call: api_versions_request(),
    parse=_features,
)
_DESCRIBE_FEATURES_OF_A_NODE = replace(
    DESCRIBE_FEATURES, row=replace(registry.DESCRIBE_FEATURES, route=registry.Route.NODE)
)

_UPGRADE_TYPE_SINCE = 1
"""The version of UpdateFeatures from which on it has upgrade types and validate_only (KIP-778)."""


def _updates_request(call: OperationCall[str, FeatureUpdates]) -> UpdateFeaturesRequest:
    arguments = call.arguments
    typed = call.offers(UpdateFeaturesRequest, since=_UPGRADE_TYPE_SINCE)
    if arguments.validate_only and not typed:
        raise UnsupportedVersion(
            "the cluster is older than Kafka 3.3, which cannot try an update without making it"
        )
    keys = []
    for feature in call.keys:
        update = arguments.by_key[feature]
        key = FeatureUpdateKey(feature=feature, max_version_level=update.level)
        if typed:
            key.upgrade_type = int(update.upgrade_type)
        else:
            key.allow_downgrade = update.upgrade_type is not UpgradeType.UPGRADE
        keys.append(key)
    return UpdateFeaturesRequest(
        timeout_ms=call.timeout_ms,
        feature_updates=keys,
        validate_only=arguments.validate_only,
    )


def _updated(
    response: UpdateFeaturesResponse, call: OperationCall[str, FeatureUpdates]
) -> Iterator[tuple[str, KwireError | None]]:
    raise_for_code(response.error_code, response.error_message)
    if not response.results:
        # Since version 2 one code speaks for all: either every feature is updated, or none.
        yield from ((feature, None) for feature in call.keys)
    for result in response.results:
        yield result.feature, refusal(result.error_code, result.error_message)


UPDATE_FEATURES: Operation[str, FeatureUpdates, None] = Operation(
    row=registry.UPDATE_FEATURES, build=_updates_request, parse=_updated
)


async def describe_features(
    driver: Driver, *, node_id: int | None = None, timeout: float | None = None
) -> FeatureMetadata:
    """Return supported and finalized features, from the answer to ApiVersions.

    node_id: the node to ask, a controller or a broker as the bootstrap is; by default the
    active controller, or any broker.

    A controller that has found no leader since it started does not know what is finalized, and
    another is asked, until time is up.

    Raises NodeNotFound for a node id the cluster does not have, else as
    `describe_metadata_quorum`.
    """
    operation = DESCRIBE_FEATURES if node_id is None else _DESCRIBE_FEATURES_OF_A_NODE
    return await driver.ask(operation, node_id, None, timeout=timeout)


async def describe_first_features(
    driver: Driver, *, timeout: float | None = None
) -> FeatureMetadata:
    """Return supported and finalized features of the first node that can be connected to.

    A connection begins with ApiVersions, which tells them: nothing else is asked, and a
    connection that is open already tells what was so when it was opened. A controller that
    does not lead may be a moment behind. One that has found no leader since it started is asked
    again.

    Raises MismatchedEndpointType, NoReachableLeader, ConnectionFailed.
    """
    router = driver.router

    async def read(connection: Connection, timeout: float) -> FeatureMetadata:
        require_endpoint_type(connection, router.endpoint_type)
        await require_metadata(connection, timeout)
        return _metadata(connection.node)

    return await router.first_answer(read, router.deadline(timeout))


async def update_features(
    driver: Driver,
    updates: Mapping[str, FeatureUpdate],
    *,
    validate_only: bool = False,
    timeout: float | None = None,
) -> Outcomes[str, None]:
    """Change the finalized levels of features, all of them or none since Kafka 4.0.

    validate_only: have the active controller check the updates and change nothing.

    1. The active controller refuses levels that a registered node does not support, and
       downgrades that the update's type does not allow.
    2. Since version 2 of the API the refusal of one feature is the outcome of all.
    3. A lost answer is asked for again: a level that is reached already is no error.

    Outcomes: INVALID_UPDATE_VERSION (95), FEATURE_UPDATE_FAILED (96), INVALID_REQUEST (42).
    Raises InvalidValue for no update at all or an empty name, else as
    `describe_metadata_quorum`.
    """
    if not updates or not all(feature.strip() for feature in updates):
        raise InvalidValue("name at least one feature, and its level")
    arguments = KeyedChanges(by_key=dict(updates), validate_only=validate_only)
    return await driver.run(UPDATE_FEATURES, updates, arguments, timeout=timeout)
