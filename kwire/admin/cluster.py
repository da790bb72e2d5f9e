"""Who is in the cluster: DescribeCluster of brokers (KIP-700) and of controllers (KIP-919)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from kwire.admin.bootstrap import EndpointType
from kwire.admin.errors import MismatchedEndpointType, raise_for_code
from kwire.admin.operations import Operations
from kwire.error_codes import ErrorCode
from kwire.errors import UnsupportedVersion
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.address import Address
from kwire.net.connection import Connection

_NO_CONTROLLER = -1
_NOT_ASKED = -(2**31)
_ENDPOINT_TYPE_SINCE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A broker, or a controller where controllers were asked; at its advertised address."""

    node_id: int
    host: str
    port: int
    rack: str | None = None
    is_fenced: bool = False

    @property
    def address(self) -> Address:
        """Host and port."""
        return Address(self.host, self.port)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDescription:
    """What one node knows of its cluster.

    cluster_id: a string; compare it as one.
    controller_id: where controllers were asked, whom that node takes for the active controller:
    right in a healthy quorum, the last one known when there is none. A broker names any live
    broker here, to which it would forward. None where none is known.
    nodes: by id. Controllers are those registered, voters or not.
    authorized_operations: a bit for each AclOperation code; None where it was not asked for.
    """

    cluster_id: str
    controller_id: int | None
    nodes: Mapping[int, Node]
    authorized_operations: int | None = None

    @property
    def controller(self) -> Node | None:
        """The node of `controller_id`, where it is listed."""
        return None if self.controller_id is None else self.nodes.get(self.controller_id)


class ClusterOperations(Operations):
    """Operations on the cluster as a whole."""

    async def describe_cluster(
        self,
        *,
        include_fenced_brokers: bool = False,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """The cluster's id and its nodes: brokers, or controllers if those are the bootstrap.

        1. Ask the first node that answers; what it says may lag behind the active controller.
        2. With controllers, fenced brokers are not to be had: UnsupportedEndpointType.

        Raises MismatchedEndpointType where a node of the other kind answers, UnsupportedVersion for
        a controller from before KIP-919, ConnectionFailed where none answers.
        """
        return await self._router.describe_cluster(
            DescribeClusterRequest(
                include_fenced_brokers=include_fenced_brokers,
                include_cluster_authorized_operations=include_authorized_operations,
            ),
            timeout,
        )


async def ask_cluster(
    connection: Connection,
    request: DescribeClusterRequest,
    wanted: EndpointType,
    timeout: float,
) -> ClusterDescription:
    """One DescribeCluster at one node, which must be of the wanted type.

    1. A node without API 60 is a controller from before KIP-919 when it offers Vote.
    2. One with v0 only is a broker from before KIP-919.
    3. Any other answers MISMATCHED_ENDPOINT_TYPE (114) itself; its endpoint type field is no help.
    4. UNSUPPORTED_ENDPOINT_TYPE (115): the metadata version is too old to register controllers.
    """
    _refuse_old(connection, wanted)
    request = request.replace(endpoint_type=int(wanted))
    answer = await connection.send(request, timeout=timeout)
    response = cast(DescribeClusterResponse, answer)
    if response.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE:
        raise _mismatched(connection.peer, wanted)
    raise_for_code(response.error_code, response.error_message)
    operations = response.cluster_authorized_operations
    return ClusterDescription(
        cluster_id=response.cluster_id,
        controller_id=None if response.controller_id == _NO_CONTROLLER else response.controller_id,
        nodes={
            one.broker_id: Node(
                node_id=one.broker_id,
                host=one.host,
                port=one.port,
                rack=one.rack,
                is_fenced=one.is_fenced,
            )
            for one in response.brokers
        },
        authorized_operations=None if operations == _NOT_ASKED else operations,
    )


def _refuse_old(connection: Connection, wanted: EndpointType) -> None:
    offered = connection.node.api_versions
    votes = VoteRequest.key in offered
    if DescribeClusterRequest.key not in offered and votes:
        if wanted is EndpointType.BROKER:
            raise _mismatched(connection.peer, wanted)
        raise UnsupportedVersion(
            f"{connection.peer} is a controller older than Kafka 3.7, which does not answer admin"
            " clients (KIP-919): give a broker as bootstrap server instead"
        )
    version = connection.version_for(DescribeClusterRequest)
    if wanted is EndpointType.CONTROLLER and version < _ENDPOINT_TYPE_SINCE:
        raise _mismatched(connection.peer, wanted)


def _mismatched(peer: str, wanted: EndpointType) -> MismatchedEndpointType:
    found, right = (
        (EndpointType.CONTROLLER, "bootstrap controller")
        if wanted is EndpointType.BROKER
        else (EndpointType.BROKER, "bootstrap server")
    )
    return MismatchedEndpointType(
        ErrorCode.MISMATCHED_ENDPOINT_TYPE,
        f"{peer} is a {found.noun}, not a {wanted.noun}: give it as {right} instead",
    )
