"""The ApiVersions response of a listener whose requests a service and a router answer as well."""

from __future__ import annotations

from collections.abc import Container, Mapping

from kwire.codec.versions import Versions
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsResponse
from kwire.proxy.flows.login import LEAST_VERSIONS


def merge_api_versions(
    response: ApiVersionsResponse,
    answered: Mapping[int, Versions],
    routed: Mapping[int, Versions],
    withheld: Container[int],
) -> None:
    """Change a node's response to what the listener offers, in order of the API keys.

    1. An API that is answered here has the service's versions, whatever the node offers.
    2. An API that is routed has the versions that the node and the router share.
    3. All others stay as the node offers them, except those that are withheld.
    4. Versions of logins that cannot be followed are left out. If a client uses one, its requests
       go to the node.
    """
    # 3.
    offered = {api.api_key: api for api in response.api_keys if api.api_key not in withheld}
    # 2.
    for key, versions in routed.items():
        if key in offered:
            offered[key] = _shared(offered[key], versions)
    # 1.
    for key, versions in answered.items():
        offered[key] = ApiVersion(
            api_key=key, min_version=versions.first, max_version=versions.last
        )
    # 4.
    for key, least in LEAST_VERSIONS.items():
        if key in offered:
            api = offered[key]
            offered[key] = api.replace(min_version=max(api.min_version, least))
    response.api_keys = [api for _, api in sorted(offered.items())]


def _shared(api: ApiVersion, versions: Versions) -> ApiVersion:
    return api.replace(
        min_version=max(api.min_version, versions.first),
        max_version=min(api.max_version, versions.last),
    )
