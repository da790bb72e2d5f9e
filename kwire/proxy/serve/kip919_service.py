"""The service that gives controllers of Kafka 3.6 the admin APIs of KIP-919 and KIP-853.

Responses have nothing but what those controllers know: directory ids are zero, kraft.version is
not offered, and the voters of `controller.quorum.voters` cannot be changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.error_codes import ErrorCode
from kwire.messages import a55_describe_quorum as quorum
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.net.service import RequestContext
from kwire.proxy.serve.answers import describe_cluster
from kwire.proxy.serve.router import ControllerRouter
from kwire.proxy.serve.served_cluster import ServedCluster

ANSWERED: Mapping[int, Versions] = {
    request.key or 0: request.versions
    for request in (
        quorum.DescribeQuorumRequest,
        DescribeClusterRequest,
        AddRaftVoterRequest,
        RemoveRaftVoterRequest,
    )
}

LISTENER = "CONTROLLER"
"""The listener name of the proxy's addresses: such controllers do not tell their own."""

_NODES_SINCE = 2  # DescribeQuorum has the nodes' addresses since then (KIP-853)

_STATIC = "The voters are those of controller.quorum.voters: kraft.version is 0 in this cluster."


class Kip919Service:
    """Answers DescribeCluster, DescribeQuorum and the voter changes."""

    def __init__(self, cluster: ServedCluster) -> None:
        self._cluster = cluster
        self._router = ControllerRouter(cluster)

    @property
    def apis(self) -> Mapping[int, Versions]:
        """API key to versions: every version that Kafka has."""
        return ANSWERED

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """Answer from the proxy's listeners and from the leader.

        1. DescribeCluster: the controllers at the proxy's addresses, and which of them leads.
        2. DescribeQuorum: the leader's response in its own version, with the nodes of KIP-853.
        3. AddRaftVoter, RemoveRaftVoter: UNSUPPORTED_VERSION, as KIP-853 says of kraft.version 0.
        """
        match request:
            case DescribeClusterRequest():  # 1.
                view = await self._cluster.view()
                return describe_cluster.answer(request, context.version, view)
            case quorum.DescribeQuorumRequest():  # 2.
                return await self._describe_quorum(request, context)
            case AddRaftVoterRequest():  # 3.
                code = ErrorCode.UNSUPPORTED_VERSION
                return AddRaftVoterResponse(error_code=code, error_message=_STATIC)
            case RemoveRaftVoterRequest():
                code = ErrorCode.UNSUPPORTED_VERSION
                return RemoveRaftVoterResponse(error_code=code, error_message=_STATIC)
        return None

    async def _describe_quorum(
        self, request: quorum.DescribeQuorumRequest, context: RequestContext
    ) -> Response | None:
        routed = await self._router.ask_active(
            request, context.version, lambda connection: connection.send(request)
        )
        if routed is None:
            return None
        response = routed.response
        assert isinstance(response, quorum.DescribeQuorumResponse), "nothing else answers it"
        if context.version >= _NODES_SINCE and not response.nodes:
            response.nodes = [self._node(id) for id in _voters(response)]
        return response

    def _node(self, id: int) -> quorum.Node:
        address = self._cluster.nodes.addresses.get(id)
        listeners = (
            []
            if address is None
            else [quorum.Listener(name=LISTENER, host=address.host, port=address.port)]
        )
        return quorum.Node(node_id=id, listeners=listeners)


def _voters(response: quorum.DescribeQuorumResponse) -> list[int]:
    return sorted(
        {
            voter.replica_id
            for topic in response.topics
            for partition in topic.partitions
            for voter in partition.current_voters
        }
    )
