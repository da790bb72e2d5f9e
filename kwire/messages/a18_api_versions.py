"""ApiVersions, API key 18."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    boolean,
    int16,
    int32,
    int64,
    nullable,
    since,
    string,
    tagged,
)


class ApiVersionsRequest(
    Request, key=18, versions="0-5", flexible="3+", listeners="broker controller"
):
    """A client asks which APIs, in which versions, the node at the other end speaks (KIP-35)."""

    client_software_name: str = since(3, string, ignorable=True)
    client_software_version: str = since(3, string, ignorable=True)
    cluster_id: str | None = since(5, nullable(string), default=None, ignorable=True)
    node_id: int = since(5, int32, default=-1, ignorable=True)


class ApiVersion(Group):
    api_key: int = int16
    min_version: int = int16
    max_version: int = int16


class SupportedFeatureKey(Group):
    name: str = since(3, string)
    min_version: int = since(3, int16)
    max_version: int = since(3, int16)


class FinalizedFeatureKey(Group):
    name: str = since(3, string)
    max_version_level: int = since(3, int16)
    min_version_level: int = since(3, int16)


class ApiVersionsResponse(Response, key=18, versions="0-5", flexible="3+"):
    """A node lists the version range of each API, and the features of its cluster (KIP-35)."""

    error_code: int = int16
    api_keys: list[ApiVersion] = array(ApiVersion)
    throttle_time_ms: int = since(1, int32, ignorable=True)
    supported_features: list[SupportedFeatureKey] = tagged(
        0, array(SupportedFeatureKey), "3+", ignorable=True
    )
    finalized_features_epoch: int = tagged(1, int64, "3+", default=-1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = tagged(
        2, array(FinalizedFeatureKey), "3+", ignorable=True
    )
    zk_migration_ready: bool = tagged(3, boolean, "3+", ignorable=True)
