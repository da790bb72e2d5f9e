"""The operation describe_features: supported and finalized feature levels (KIP-584)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from kwire.admin.errors import raise_for_code
from kwire.admin.routing import Operation
from kwire.messages.a18_api_versions import ApiVersionsResponse
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


class DescribeFeaturesOperation(Operation):
    """`AdminClient.describe_features`; the request is ApiVersions."""

    async def describe_features(
        self, *, node_id: int | None = None, timeout: float | None = None
    ) -> FeatureMetadata:
        """Return supported and finalized features, from the answer to ApiVersions.

        node_id: the node to ask, a controller or a broker as the bootstrap is; by default the
        active controller, or any broker.

        Raises InvalidValue for a node id the cluster does not have, else as
        `describe_metadata_quorum`.
        """
        if node_id is None:
            return await self._router.call(fetch_features, timeout=timeout)
        return await self._router.call_node(node_id, fetch_features, timeout=timeout)


async def fetch_features(connection: Connection, timeout: float) -> FeatureMetadata:
    """Send ApiVersions to one node: features may have changed since its connection was opened."""
    answer = await connection.send(api_versions_request(), timeout=timeout)
    response = cast(ApiVersionsResponse, answer)
    raise_for_code(response.error_code)
    node = NodeApiVersions.of(response)
    return FeatureMetadata(
        finalized_features=node.finalized_features,
        finalized_features_epoch=node.finalized_features_epoch,
        supported_features=node.supported_features,
    )
