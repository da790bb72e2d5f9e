"""DescribeCluster, API key 60."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, field, int8, int16, int32, nullable, since, string


class DescribeClusterRequest(
    Request, key=60, versions="0-2", flexible="0+", listeners="broker controller"
):
    """An admin asks for the cluster's id, its nodes and its controller (KIP-700)."""

    include_cluster_authorized_operations: bool = boolean
    endpoint_type: int = since(1, int8, default=1)
    include_fenced_brokers: bool = since(2, boolean)


class DescribeClusterBroker(Group):
    broker_id: int = int32
    host: str = string
    port: int = int32
    rack: str | None = field(nullable(string), default=None)
    is_fenced: bool = since(2, boolean)


class DescribeClusterResponse(Response, key=60, versions="0-2", flexible="0+"):
    """A node gives the cluster's id and the endpoints of brokers or controllers (KIP-700)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    endpoint_type: int = since(1, int8, default=1)
    cluster_id: str = string
    controller_id: int = field(int32, default=-1)
    brokers: list[DescribeClusterBroker] = array(DescribeClusterBroker)
    cluster_authorized_operations: int = field(int32, default=-2147483648)
