"""A cluster as one of its nodes describes it: DescribeCluster at one node (KIP-700, KIP-919).

The router needs it too, to find the active controller, so it stands below the operations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import cast

from kwire.admin.errors import (
    ClusterIdNotTold,
    MetadataNotRead,
    MismatchedEndpointType,
    raise_for_code,
)
from kwire.error_codes import ErrorCode
from kwire.errors import UnsupportedVersion
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.quorum_request import quorum_request

_NO_CONTROLLER = -1
_OPERATIONS_OMITTED = -(2**31)
_ENDPOINT_TYPE_SINCE = 1
_FENCED_SINCE = 2
_TOO_OLD = (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """A broker, or a controller if controllers were asked; at its advertised address."""

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
    """A cluster as the node that was asked knows it.

    cluster_id: a string; compare it as one. None where controllers did not tell it, and the leader
    described its voters instead (DescribeQuorum).
    controller_id: if controllers were asked, the active controller as that node knows it: right in
    a healthy quorum, the last one known when no controller leads. A broker names any live broker
    here, to which it would forward. None if none is known.
    nodes: by id. Controllers are those registered, voters or not; the voters if the leader
    described them.
    authorized_operations: a bit for each AclOperation code; None if they were not asked for.
    """

    cluster_id: str | None
    controller_id: int | None
    nodes: Mapping[int, ClusterNode]
    authorized_operations: int | None = None

    def told_cluster_id(self) -> str:
        """Return the cluster id. Raises ClusterIdNotTold if there is none."""
        if self.cluster_id is None:
            raise ClusterIdNotTold
        return self.cluster_id

    @property
    def controller(self) -> ClusterNode | None:
        """The node of `controller_id`; None if it is not listed."""
        return None if self.controller_id is None else self.nodes.get(self.controller_id)


async def fetch_description(
    connection: Connection,
    request: DescribeClusterRequest,
    endpoint_type: EndpointType,
    timeout: float,
) -> ClusterDescription:
    """Send DescribeCluster to one node, which must be of this type, and return its description.

    1. A node without API 60 is a controller from before KIP-919 if it offers Vote.
    2. A node with v0 only is a broker from before KIP-919.
    3. Any other answers MISMATCHED_ENDPOINT_TYPE (114) itself; its endpoint type field is no help.
    4. UNSUPPORTED_VERSION (35), in KIP-919 UNSUPPORTED_ENDPOINT_TYPE (115): metadata.version is too
       old to register controllers. One that has found no leader since it started answers the same
       and does not know metadata.version: MetadataNotRead.
    """
    _refuse_old(connection, endpoint_type)
    version = connection.version_for(DescribeClusterRequest)
    if request.include_fenced_brokers and version < _FENCED_SINCE:
        raise UnsupportedVersion(
            f"{connection.peer} is older than Kafka 4.0 and lists no fenced brokers"
        )
    request = request.replace(endpoint_type=int(endpoint_type))
    response = cast(DescribeClusterResponse, await connection.send(request, timeout=timeout))
    # 4.
    if response.error_code in _TOO_OLD and connection.node.lacks_metadata:
        await require_metadata(connection, timeout)
        response = cast(DescribeClusterResponse, await connection.send(request, timeout=timeout))
    # 3.
    if response.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE:
        raise _mismatched(connection.peer, endpoint_type)
    raise_for_code(response.error_code, response.error_message)
    return _description(response)


def _description(response: DescribeClusterResponse) -> ClusterDescription:
    operations = response.cluster_authorized_operations
    return ClusterDescription(
        cluster_id=response.cluster_id,
        controller_id=None if response.controller_id == _NO_CONTROLLER else response.controller_id,
        nodes={
            broker.broker_id: ClusterNode(
                node_id=broker.broker_id,
                host=broker.host,
                port=broker.port,
                rack=broker.rack,
                is_fenced=broker.is_fenced,
            )
            for broker in response.brokers
        },
        authorized_operations=None if operations == _OPERATIONS_OMITTED else operations,
    )


async def fetch_voters(
    connection: Connection, reached: Collection[Address], timeout: float
) -> ClusterDescription | None:
    """Send DescribeQuorum to one node, and return the voters if it leads.

    None before Kafka 3.9, where the leader tells no endpoints. reached: addresses at which
    controllers were asked; of a voter's listeners the one with the same name as these is taken,
    else its first.

    Raises BrokerError, NOT_LEADER_OR_FOLLOWER if it does not lead.
    """
    answer = await connection.send(quorum_request(), timeout=timeout)
    response = cast(DescribeQuorumResponse, answer)
    raise_for_code(response.error_code, response.error_message)
    leader_id = None
    for partition in (part for topic in response.topics for part in topic.partitions):
        raise_for_code(partition.error_code, partition.error_message)
        leader_id = partition.leader_id
    listeners = [listener for node in response.nodes for listener in node.listeners]
    names = {at.name for at in listeners if Address(at.host, at.port) in reached}
    nodes = {}
    for node in response.nodes:
        own = sorted(node.listeners, key=lambda listener: listener.name not in names)
        if own:
            nodes[node.node_id] = ClusterNode(
                node_id=node.node_id, host=own[0].host, port=own[0].port
            )
    if not nodes:
        return None
    return ClusterDescription(cluster_id=None, controller_id=leader_id, nodes=nodes)


async def require_metadata(connection: Connection, timeout: float) -> None:
    """Raise MetadataNotRead for a controller that has found no leader since it started."""
    if connection.node.lacks_metadata:
        # The connection may have been opened before it had.
        await connection.renegotiate(timeout)
    if connection.node.lacks_metadata:
        raise MetadataNotRead(connection.peer)


def require_endpoint_type(connection: Connection, endpoint_type: EndpointType) -> None:
    """Raise MismatchedEndpointType for a node of the other kind, as its list of APIs tells.

    Only controllers offer Vote, on every version with KRaft.
    """
    votes = VoteRequest.key in connection.node.api_versions
    if votes is not (endpoint_type is EndpointType.CONTROLLER):
        raise _mismatched(connection.peer, endpoint_type)


def _refuse_old(connection: Connection, endpoint_type: EndpointType) -> None:
    # 1. Only controllers offer Vote: its declaration names no broker listener.
    offered = connection.node.api_versions
    votes = VoteRequest.key in offered
    if DescribeClusterRequest.key not in offered and votes:
        if endpoint_type is EndpointType.BROKER:
            raise _mismatched(connection.peer, endpoint_type)
        raise UnsupportedVersion(
            f"{connection.peer} is a controller older than Kafka 3.7, which does not answer admin"
            " clients (KIP-919): give a broker as `bootstrap_servers` instead"
        )
    # 2. Version 0 has no endpoint type: such a broker would answer as if brokers were asked for.
    version = connection.version_for(DescribeClusterRequest)
    if endpoint_type is EndpointType.CONTROLLER and version < _ENDPOINT_TYPE_SINCE:
        raise _mismatched(connection.peer, endpoint_type)


def _mismatched(peer: str, expected: EndpointType) -> MismatchedEndpointType:
    actual, parameter = (
        (EndpointType.CONTROLLER, "`bootstrap_controllers`")
        if expected is EndpointType.BROKER
        else (EndpointType.BROKER, "`bootstrap_servers`")
    )
    return MismatchedEndpointType(
        ErrorCode.MISMATCHED_ENDPOINT_TYPE,
        f"{peer} is a {actual.noun}, not a {expected.noun}: give it as {parameter} instead",
    )
