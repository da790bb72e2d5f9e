"""DescribeCluster as a broker answers it (KIP-700), for brokers and controllers (KIP-919)."""

from __future__ import annotations

from kwire.error_codes import ErrorCode
from kwire.messages.a60_describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kwire.messages.endpoint_type import EndpointType
from kwire.proxy.serve.cluster_view import ClusterView


def answer(
    request: DescribeClusterRequest, version: int, view: ClusterView
) -> DescribeClusterResponse:
    """Answer with the nodes of an endpoint type (KIP-919).

    1. An unknown type: UNSUPPORTED_ENDPOINT_TYPE.
    2. Type 1, which version 0 means as well: the nodes that Metadata names, and the fenced brokers
       if include_fenced_brokers is set (KIP-1073). Type 2: the controllers.
    """
    # 1.
    type = request.endpoint_type
    if type not in tuple(EndpointType):
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message=f"{type} is no endpoint type.",
            endpoint_type=type,
        )
    # 2.
    return DescribeClusterResponse(
        endpoint_type=type,
        cluster_id=view.cluster_id or "",
        controller_id=view.controller_id,
        brokers=[_node(view, id) for id in _node_ids(request, view)],
    )


def _node_ids(request: DescribeClusterRequest, view: ClusterView) -> list[int]:
    if request.endpoint_type == EndpointType.CONTROLLER:
        return sorted(view.controllers)
    return sorted(view.nodes) if request.include_fenced_brokers else view.alive


def _node(view: ClusterView, id: int) -> DescribeClusterBroker:
    return DescribeClusterBroker(
        broker_id=id,
        host=view.nodes[id].host,
        port=view.nodes[id].port,
        rack=view.rack(id),
        is_fenced=id not in view.alive,
    )
