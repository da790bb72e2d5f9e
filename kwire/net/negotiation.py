"""The APIs and features that a node offers, and the choice of a version (KIP-35, KIP-511)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kwire import __version__
from kwire.codec.declaration import Request
from kwire.errors import UnsupportedVersion
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.registry import api_name

SOFTWARE_NAME = "kwire"
SOFTWARE_VERSION = __version__

_UNKNOWN_EPOCH = -1


@dataclass(frozen=True, slots=True)
class VersionRange:
    """A range of versions, both ends included; a peer's values are not checked."""

    min_version: int
    max_version: int

    def __contains__(self, version: int) -> bool:
        return self.min_version <= version <= self.max_version

    def __str__(self) -> str:
        if self.min_version == self.max_version:
            return str(self.min_version)
        return f"{self.min_version}-{self.max_version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeApiVersions:
    """A node's APIs by key, and its cluster's features by name (KIP-584).

    finalized_features_epoch: None where the node knows none. A broker counts it otherwise than a
    controller does: compare it only with what the same node said before. zk_migration_ready: True
    for nodes of Kafka 3.x that run with zookeeper.metadata.migration.enable (KIP-866).
    """

    api_versions: Mapping[int, VersionRange]
    supported_features: Mapping[str, VersionRange] = field(default_factory=dict)
    finalized_features: Mapping[str, VersionRange] = field(default_factory=dict)
    finalized_features_epoch: int | None = None
    zk_migration_ready: bool = False

    @property
    def lacks_metadata(self) -> bool:
        """True for a controller that has read none of its cluster's metadata since it started.

        It reads its log up to the high watermark, which only a leader tells. Until then it stands
        at the lowest metadata.version, which says nothing of the cluster's, and answers requests as
        if the cluster had no topics, ACLs and so on. False where a missing epoch proves nothing:
        before Kafka 3.7, which offers no DescribeCluster at controllers, and without features.
        """
        is_controller = {VoteRequest.key, DescribeClusterRequest.key} <= self.api_versions.keys()
        tells_features = is_controller and bool(self.supported_features)
        return tells_features and self.finalized_features_epoch is None

    @classmethod
    def of(cls, response: ApiVersionsResponse) -> NodeApiVersions:
        """Return the content of an answer without an error."""
        epoch = response.finalized_features_epoch
        return cls(
            api_versions={
                api.api_key: VersionRange(api.min_version, api.max_version)
                for api in response.api_keys
            },
            supported_features={
                feature.name: VersionRange(feature.min_version, feature.max_version)
                for feature in response.supported_features
            },
            finalized_features={
                feature.name: VersionRange(feature.min_version_level, feature.max_version_level)
                for feature in response.finalized_features
            },
            finalized_features_epoch=None if epoch == _UNKNOWN_EPOCH else epoch,
            zk_migration_ready=response.zk_migration_ready,
        )

    def version_for(self, request: type[Request], peer: str = "the node") -> int:
        """Return the highest version both sides have.

        Raises UnsupportedVersion naming both ranges.
        """
        key = request.key
        assert key is not None, f"{request.__name__} has no API key"
        offered = self.api_versions.get(key)
        if offered is None:
            raise UnsupportedVersion(
                f"{peer} does not offer {api_name(key)}, of which kwire has versions"
                f" {request.versions}"
            )
        shared = [version for version in request.versions if version in offered]
        if not shared:
            raise UnsupportedVersion(
                f"{peer} has {api_name(key)} in versions {offered}, kwire in versions"
                f" {request.versions}: none in common"
            )
        return shared[-1]


def api_versions_request() -> ApiVersionsRequest:
    """Return the request every connection begins with.

    The node shows name and version in its metrics.
    """
    return ApiVersionsRequest(
        client_software_name=SOFTWARE_NAME, client_software_version=SOFTWARE_VERSION
    )


def fall_back(asked: int, response: ApiVersionsResponse) -> int:
    """Return the version to ask in after UNSUPPORTED_VERSION (35) to version `asked`.

    1. If the node lists ApiVersions beside the error: the highest version that both have (KIP-511).
    2. If it lists nothing, as older nodes do: version 0.

    Each step goes down. Raises UnsupportedVersion when there is no lower version left.
    """
    # 1. and 2.: without a list the offer is version 0 alone.
    listed = {api.api_key: api for api in response.api_keys}.get(ApiVersionsRequest.key or 0)
    offered = VersionRange(listed.min_version, listed.max_version) if listed else VersionRange(0, 0)
    # Only downwards, so that a node that always answers 35 cannot keep a client asking.
    lower = [v for v in ApiVersionsRequest.versions if v < asked and v in offered]
    if not lower:
        raise UnsupportedVersion(
            f"ApiVersions v{asked} was refused by a node that offers versions {offered},"
            f" kwire has {ApiVersionsRequest.versions}"
        )
    return lower[-1]
