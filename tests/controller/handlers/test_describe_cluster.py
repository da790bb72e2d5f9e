"""DescribeCluster of a controller (KIP-919)."""

from typing import Any

import pytest

from kwire.controller.handlers.result import QuorumView
from kwire.error_codes import ErrorCode
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from tests.support.controller.handlers.registrations import (
    register,
)

BROKERS, CONTROLLERS = 1, 2


def test_the_cluster_is_described_as_the_listener_reaches_it(lab: Any) -> None:
    """KIP-919."""
    register(lab, 3001)
    register(lab, 3000)
    lab.controller.quorum = QuorumView(leader_id=3001)

    response = lab.ask(
        DescribeClusterRequest(
            endpoint_type=CONTROLLERS, include_cluster_authorized_operations=True
        )
    )

    nodes = [(node.broker_id, node.host, node.port) for node in response.brokers]
    assert nodes == [(3000, "c3000", 12000), (3001, "c3001", 12001)]
    assert (response.controller_id, response.endpoint_type) == (3001, CONTROLLERS)
    assert response.cluster_authorized_operations == 0b1111110100000
    assert response.cluster_id == lab.controller.config.cluster_id


def test_a_leader_that_has_not_registered_is_not_named(lab: Any) -> None:
    lab.controller.quorum = QuorumView(leader_id=3001)

    assert lab.ask(DescribeClusterRequest(endpoint_type=CONTROLLERS)).controller_id == -1


@pytest.mark.parametrize(
    ("version", "type", "code"),
    [
        (0, BROKERS, ErrorCode.INVALID_REQUEST),
        (1, BROKERS, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (2, BROKERS, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (2, 7, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
    ],
)
def test_who_asks_a_controller_for_brokers_is_told(
    lab: Any, version: int, type: int, code: ErrorCode
) -> None:
    """KIP-919; a Java controller's refusal has the schema's default for the type."""
    response = lab.ask(DescribeClusterRequest(endpoint_type=type), version)
    assert (response.error_code, response.endpoint_type) == (code, BROKERS)
