"""DescribeConfigs of nodes: only a node itself knows its own configuration (KIP-226, KIP-412)."""

from __future__ import annotations

from kwire.codec.declaration import Response
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.text.numbers import whole_number

BROKER, BROKER_LOGGER = 4, 8

Owner = int | None
"""A node's id, or None for what every controller knows."""


def by_owner(request: DescribeConfigsRequest) -> dict[Owner, DescribeConfigsRequest]:
    """The request for each node whose resources are asked for."""
    shares: dict[Owner, list[DescribeConfigsResource]] = {}
    for resource in request.resources:
        shares.setdefault(_owner(resource), []).append(resource)
    return {owner: request.replace(resources=share) for owner, share in shares.items()}


def together(
    request: DescribeConfigsRequest, answers: dict[Owner, Response]
) -> DescribeConfigsResponse:
    """One response in the order of the request."""
    found: dict[tuple[int, str], DescribeConfigsResult] = {}
    throttle = 0
    for answer in answers.values():
        assert isinstance(answer, DescribeConfigsResponse), "nothing else answers it"
        throttle = max(throttle, answer.throttle_time_ms)
        found |= {(one.resource_type, one.resource_name): one for one in answer.results}
    asked = ((one.resource_type, one.resource_name) for one in request.resources)
    results = [found[one] for one in dict.fromkeys(asked) if one in found]
    return DescribeConfigsResponse(throttle_time_ms=throttle, results=results)


def _owner(resource: DescribeConfigsResource) -> Owner:
    of_node = resource.resource_type in (BROKER, BROKER_LOGGER)
    return whole_number(resource.resource_name, bits=31) if of_node else None
