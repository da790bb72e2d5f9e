"""DescribeConfigs of nodes: only a node itself knows its own configuration (KIP-226, KIP-412)."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Response
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.text.untrusted import whole_number

BROKER, BROKER_LOGGER = 4, 8
"""The resource types whose resources are nodes."""

Owner = int | None
"""The id of the node that knows a configuration, None if every controller knows it."""


def split_by_owner(
    request: DescribeConfigsRequest, is_node: Callable[[int], bool]
) -> dict[Owner, DescribeConfigsRequest]:
    """Return the part of a request that each owner can answer.

    is_node: False for an id that no node has. Those are asked of one controller together: a client
    may name any number.
    """
    shares: dict[Owner, list[DescribeConfigsResource]] = {}
    for resource in request.resources:
        owner = _owner(resource)
        known = owner is not None and is_node(owner)
        shares.setdefault(owner if known else None, []).append(resource)
    return {owner: request.replace(resources=share) for owner, share in shares.items()}


def join_responses(
    request: DescribeConfigsRequest, responses: dict[Owner, Response]
) -> DescribeConfigsResponse:
    """Return one response with the owners' results in the order of the request."""
    results: dict[tuple[int, str], DescribeConfigsResult] = {}
    throttle_time = 0
    for response in responses.values():
        assert isinstance(response, DescribeConfigsResponse), "nothing else answers it"
        throttle_time = max(throttle_time, response.throttle_time_ms)
        results |= {
            (result.resource_type, result.resource_name): result for result in response.results
        }
    keys = dict.fromkeys(
        (resource.resource_type, resource.resource_name) for resource in request.resources
    )
    return DescribeConfigsResponse(
        throttle_time_ms=throttle_time, results=[results[key] for key in keys if key in results]
    )


def _owner(resource: DescribeConfigsResource) -> Owner:
    is_of_node = resource.resource_type in (BROKER, BROKER_LOGGER)
    return whole_number(resource.resource_name, bits=31) if is_of_node else None
