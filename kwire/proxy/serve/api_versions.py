"""What ApiVersions may promise where a service and a router stand before a node."""

from __future__ import annotations

from collections.abc import Container, Mapping

from kwire.codec.versions import Versions
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsResponse


def merge(
    response: ApiVersionsResponse,
    answered: Mapping[int, Versions],
    routed: Mapping[int, Versions],
    withheld: Container[int],
) -> None:
    """Change a node's answer to what can be had here, in order of the keys.

    1. What is answered here: the service's versions, whatever the node says.
    2. What is routed: those versions of the node that the router has as well.
    3. All else as the node says, but for what is withheld.
    """
    offered = {one.api_key: one for one in response.api_keys if one.api_key not in withheld}
    for key, versions in routed.items():
        if key in offered:
            offered[key] = _shared(offered[key], versions)
    for key, versions in answered.items():
        offered[key] = ApiVersion(
            api_key=key, min_version=versions.first, max_version=versions.last
        )
    response.api_keys = [one for _, one in sorted(offered.items())]


def _shared(node: ApiVersion, versions: Versions) -> ApiVersion:
    return node.replace(
        min_version=max(node.min_version, versions.first),
        max_version=min(node.max_version, versions.last),
    )
