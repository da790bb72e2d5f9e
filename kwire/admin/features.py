"""Feature levels, supported and finalized: describe_features, UpdateFeatures (KIP-584)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kwire.admin import registry
from kwire.admin.cluster_client import ClusterClient
from kwire.admin.errors import raise_for_code
from kwire.admin.operation import Operation, OperationCall
from kwire.messages.a18_api_versions import ApiVersionsResponse
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


def _features(
    response: ApiVersionsResponse, call: OperationCall[int | None, None]
) -> Iterator[tuple[int | None, FeatureMetadata]]:
    raise_for_code(response.error_code)
    node = NodeApiVersions.of(response)
    yield (
        call.keys[0],
        FeatureMetadata(
            finalized_features=node.finalized_features,
            finalized_features_epoch=node.finalized_features_epoch,
            supported_features=node.supported_features,
        ),
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


class Features(ClusterClient):
    """The operations of AdminClient on feature levels."""

    async def describe_features(
        self, *, node_id: int | None = None, timeout: float | None = None
    ) -> FeatureMetadata:
        """Return supported and finalized features, from the answer to ApiVersions.

        node_id: the node to ask, a controller or a broker as the bootstrap is; by default the
        active controller, or any broker.

        Raises NodeNotFound for a node id the cluster does not have, else as
        `describe_metadata_quorum`.
        """
        operation = DESCRIBE_FEATURES if node_id is None else _DESCRIBE_FEATURES_OF_A_NODE
        return await self._driver.ask(operation, node_id, None, timeout=timeout)
