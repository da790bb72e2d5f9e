"""DescribeCluster of a controller (KIP-700, KIP-919)."""

from __future__ import annotations

from kwire.controller.authorization.access import check_cluster, cluster_operations
from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.controller import ControllerRegistration
from kwire.messages.a60_describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kwire.messages.access_control import AclOperation
from kwire.messages.endpoint_type import EndpointType

OPERATIONS_NOT_REQUESTED = -(1 << 31)


def handle(request: DescribeClusterRequest, context: ControllerContext) -> ControllerResult:
    """Describe the controllers as the listener of the request reaches them.

    1. metadata.version below 3.7-IV0, which has no registered controllers: UNSUPPORTED_VERSION
       (KIP-919 lists UNSUPPORTED_ENDPOINT_TYPE).
    2. ALTER on the cluster is not allowed: CLUSTER_AUTHORIZATION_FAILED. Brokers want no more than
       DESCRIBE.
    3. An endpoint type that does not exist: UNSUPPORTED_ENDPOINT_TYPE; that of brokers:
       MISMATCHED_ENDPOINT_TYPE; both INVALID_REQUEST in version 0, which has no endpoint type.
    4. The registered controllers that have a listener of that name.
    5. A leader that is not among them is given as -1: the client could not connect to it.
    6. The operations that the sender may do on the cluster, if the request asks for them.
    """
    # 1.
    if not context.metadata_version.supports_controller_registration:
        text = f"metadata.version {context.metadata_version.name} has no registered controllers."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    # 2.
    check_cluster(context.access, AclOperation.ALTER)
    # 3.
    _check_type(request.endpoint_type, context.version)
    # 4.
    nodes = [
        node
        for _, controller in sorted(context.image.cluster.controllers.items())
        if (node := _node(controller, context.listener)) is not None
    ]
    # 5.
    leader = context.quorum.leader_id
    is_known = leader is not None and any(node.broker_id == leader for node in nodes)
    # 6.
    operations = OPERATIONS_NOT_REQUESTED
    if request.include_cluster_authorized_operations:
        operations = cluster_operations(context.access)
    return ControllerResult(
        response=DescribeClusterResponse(
            endpoint_type=EndpointType.CONTROLLER,
            cluster_id=context.config.cluster_id,
            controller_id=leader if leader is not None and is_known else -1,
            brokers=nodes,
            cluster_authorized_operations=operations,
        )
    )


def _check_type(type: int, version: int) -> None:
    if type == EndpointType.CONTROLLER:
        return
    is_known = type == EndpointType.BROKER
    code = ErrorCode.MISMATCHED_ENDPOINT_TYPE if is_known else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
    text = (
        "This is a controller; brokers were asked for."
        if is_known
        else f"{type} is no endpoint type."
    )
    # Version 0 has no endpoint type: it asks for brokers without saying so.
    raise ApiError(code if version > 0 else ErrorCode.INVALID_REQUEST, text)


def _node(controller: ControllerRegistration, listener: str) -> DescribeClusterBroker | None:
    """Return a controller's address on the listener; None if it has none of that name."""
    for endpoint in controller.endpoints:
        if endpoint.name == listener:
            return DescribeClusterBroker(
                broker_id=controller.id, host=endpoint.host, port=endpoint.port
            )
    return None
