"""The APIs that each node offers, node by node: ApiVersions, as kafka-broker-api-versions asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.net.negotiation import NodeApiVersions, api_versions_request


def _versions(
    response: ApiVersionsResponse, call: OperationCall[int, None]
) -> Iterator[tuple[int, NodeApiVersions]]:
    raise_for_code(response.error_code)
    for node_id in call.keys:
        yield node_id, NodeApiVersions.of(response)


# Java's Admin has no such operation: the row is that of describe_features, which asks the same API.
NODE_API_VERSIONS: Operation[int, None, NodeApiVersions] = Operation(
    row=replace(registry.DESCRIBE_FEATURES, route=registry.Route.NODE),
    build=lambda call: api_versions_request(),
    parse=_versions,
)


async def node_api_versions(
    driver: Driver, node_ids: Iterable[int] | None = None, *, timeout: float | None = None
) -> Outcomes[int, NodeApiVersions]:
    """Return the APIs, versions and features that each node offers.

    node_ids: by default every broker that is not fenced, or every registered controller if
    controllers are the bootstrap; a node that is down has its error as outcome.
    """
    if node_ids is None:
        return await driver.run_everywhere(NODE_API_VERSIONS, None, timeout=timeout)
    return await driver.run(NODE_API_VERSIONS, node_ids, None, timeout=timeout)
