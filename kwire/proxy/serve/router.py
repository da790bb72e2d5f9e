"""Routes requests to the active controller, or to the node whose configuration they ask for.

The proxy's own connections have a principal of their own. A request that changes something goes in
an Envelope with the client's principal (KIP-590), and the controller judges that one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from kwire import error_codes
from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.error_codes import ErrorCode
from kwire.errors import AnswerLost, ConnectionFailed, KwireError
from kwire.messages.a32_describe_configs import DescribeConfigsRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.messages.a58_envelope import EnvelopeResponse
from kwire.messages.error_response import visible_error_response
from kwire.messages.forwarding import FORWARDABLE, envelope
from kwire.messages.registry import api_key, api_keys, request
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.frames import decode_response, encode_request
from kwire.net.quorum_request import quorum_request
from kwire.net.service import RequestContext
from kwire.proxy.flows.heads import SIZE
from kwire.proxy.flows.node_addresses import node_addresses
from kwire.proxy.flows.walk import failures
from kwire.proxy.serve.callers import Caller
from kwire.proxy.serve.describe_configs import Owner, join_responses, split_by_owner
from kwire.proxy.serve.dispatch import RoutedResponse
from kwire.proxy.serve.served_cluster import ServedCluster

ACTIVE_CONTROLLER_APIS: Mapping[int, Versions] = {
    api_key(name): request(api_key(name)).versions
    for name in (
        "CreateTopics",
        "DeleteTopics",
        "CreateAcls",
        "DeleteAcls",
        "AlterConfigs",
        "CreatePartitions",
        "CreateDelegationToken",
        "RenewDelegationToken",
        "ExpireDelegationToken",
        "ElectLeaders",
        "IncrementalAlterConfigs",
        "AlterPartitionReassignments",
        "ListPartitionReassignments",
        "AlterClientQuotas",
        "AlterUserScramCredentials",
        "DescribeQuorum",
        "UpdateFeatures",
        "UnregisterBroker",
        "AddRaftVoter",
        "RemoveRaftVoter",
        "UnregisterController",
    )
}
"""The APIs of the active controller. Brokers forward requests to it, other controllers do not."""

READ_APIS = api_keys("DescribeConfigs", "ListPartitionReassignments", "DescribeQuorum")
"""The routed APIs that change nothing."""

assert ACTIVE_CONTROLLER_APIS.keys() <= FORWARDABLE, "changes carry the client's principal"

PATIENCE = 10.0
"""Seconds for which nobody may lead; an election takes one or two."""

PAUSE = 0.1
"""Seconds between two attempts to reach the active controller."""

CATCH_UP = 1.0
"""Most seconds for which the image may lag behind a write; usually it is one round trip."""

_NOT_ACTIVE = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_LEADER_OR_FOLLOWER})


class ControllerRouter:
    """Finds the active controller by following who leads the quorum."""

    def __init__(self, cluster: ServedCluster) -> None:
        self._cluster = cluster

    @property
    def apis(self) -> Mapping[int, Versions]:
        """API key to versions: what is routed to one node."""
        return {
            **ACTIVE_CONTROLLER_APIS,
            api_key("DescribeConfigs"): DescribeConfigsRequest.versions,
        }

    @property
    def reads(self) -> frozenset[int]:
        """The keys of the APIs that change nothing."""
        return READ_APIS

    @property
    def lends_rights(self) -> bool:
        """True if changes are made as the proxy, not as the client."""
        return self._cluster.lends_rights

    def may_route(self, key: int, caller: Caller) -> bool:
        """Return False for what could not be asked as the client.

        Who has logged in may read with the proxy's rights; to change anything, and to read without
        a login, needs an Envelope.
        """
        if not self._cluster.carries_callers:
            return True
        if caller.principal is not None and key in FORWARDABLE:
            return True
        return key in READ_APIS and caller.proved

    async def route(
        self, request: Request, context: RequestContext, caller: Caller
    ) -> RoutedResponse | None:
        """Return the response of the node that can answer, REQUEST_TIMED_OUT if none does.

        None: that error has no place in this response.
        """
        if isinstance(request, DescribeConfigsRequest):
            return await self._describe_configs(request, context.version)

        async def send(connection: Connection) -> Response:
            return await self._send_as(caller, connection, request, context)

        return await self.ask_active(request, context.version, send)

    async def ask_active(
        self, request: Request, version: int, send: Callable[[Connection], Awaitable[Response]]
    ) -> RoutedResponse | None:
        """Return the active controller's response.

        version: of the response to the client. send: sends the request on a connection; raises what
        `Connection.send` raises.

        1. Wait for an active controller. If its connection fails before anything was sent, or its
           answer is that another node is the active controller, begin again.
        2. A request that was sent and not answered may have been carried out: never send it again.
        3. If the Envelope itself is refused, the client gets UNKNOWN_SERVER_ERROR (Java:
           ForwardingManagerImpl).
        4. Wait until the image has what was written, so that a client that reads on after a write
           finds it.
        """
        connections = self._cluster.connections
        loop = asyncio.get_running_loop()
        end = loop.time() + self._cluster.timeouts.request_seconds
        # 1.
        while (leader := await self._leader(end)) is not None:
            node = f"node {self._cluster.live.leader_id}"
            try:
                connection = await connections.connection(leader)
            except KwireError:
                await asyncio.sleep(PAUSE)
                continue
            try:
                response = await send(connection)
            except KwireError as error:
                # 2.
                if isinstance(error, AnswerLost) or not isinstance(error, ConnectionFailed):
                    return _refused(
                        request, version, ErrorCode.REQUEST_TIMED_OUT, f"{node}: no answer"
                    )
                await asyncio.sleep(PAUSE)  # it was closed before anything was sent
                continue
            if _is_not_active(response) and loop.time() < end:
                await asyncio.sleep(PAUSE)
                continue
            # 3.
            if isinstance(response, EnvelopeResponse):
                why = f"{node}, which refuses its Envelope: {error_codes.name(response.error_code)}"
                return _refused(request, version, ErrorCode.UNKNOWN_SERVER_ERROR, why)
            self._rewrite_addresses(response)
            # 4. Clients often list what they have just made.
            if type(request).key not in READ_APIS:
                await self._catch_up(leader)
            return RoutedResponse(response=response, node=node)
        why = "the active controller, which was not found"
        return _refused(request, version, ErrorCode.REQUEST_TIMED_OUT, why)

    async def _send_as(
        self, caller: Caller, connection: Connection, request: Request, context: RequestContext
    ) -> Response:
        """Return the response to a request of this caller, or the Envelope that is refused."""
        version, principal = context.version, caller.principal
        if not self._cluster.carries_callers or principal is None:
            return await connection.send(request, version)
        frame = encode_request(
            request,
            version,
            correlation_id=context.correlation_id,
            client_id=context.client_id,
        )
        response = await connection.send(
            envelope(
                frame[SIZE.size :],
                principal,
                context.peer[0],
                by_delegation_token=caller.by_delegation_token,
            )
        )
        assert isinstance(response, EnvelopeResponse), "nothing else answers it"
        if response.error_code or response.response_data is None:
            return response
        return decode_response(response.response_data, type(request).key or 0, version).body

    async def _catch_up(self, leader: Address) -> None:
        """Wait until the image has reached the leader's high watermark of now, or for CATCH_UP."""
        live = self._cluster.live
        with suppress(KwireError, TimeoutError):
            async with asyncio.timeout(CATCH_UP):
                response = await self._cluster.connections.send(leader, quorum_request())
                assert isinstance(response, DescribeQuorumResponse), "nothing else answers it"
                high_watermarks = (
                    partition.high_watermark
                    for topic in response.topics
                    for partition in topic.partitions
                )
                committed = max(high_watermarks, default=0)
                while live.offset < committed:
                    await live.changed()

    def _rewrite_addresses(self, response: Response) -> None:
        """Replace the nodes' addresses, such as the voters' in DescribeQuorum, by the proxy's."""
        addresses = self._cluster.nodes.addresses
        for node_address in node_addresses(response):
            if node_address.node_id is not None and node_address.node_id in addresses:
                node_address.change(addresses[node_address.node_id])

    async def _leader(self, end: float) -> Address | None:
        """Wait for an active controller; return its address, None if there is none in time."""
        live, now = self._cluster.live, asyncio.get_running_loop().time
        with suppress(TimeoutError):
            async with asyncio.timeout_at(min(end, now() + PATIENCE)):
                while live.leader is None:
                    await live.changed()
        return live.leader if now() < end else None

    async def _describe_configs(
        self, request: DescribeConfigsRequest, version: int
    ) -> RoutedResponse | None:
        responses: dict[Owner, Response] = {}
        nodes = []
        for owner, share in split_by_owner(request, self._is_node).items():
            routed = await self._ask_owner(owner, share, version)
            if routed is None:
                return None
            responses[owner] = routed.response
            nodes.append(routed.node)
        return RoutedResponse(response=join_responses(request, responses), node=", ".join(nodes))

    def _is_node(self, id: int) -> bool:
        return self._cluster.upstream(id) is not None

    async def _ask_owner(self, owner: Owner, share: Request, version: int) -> RoutedResponse | None:
        address = None if owner is None else self._cluster.upstream(owner)
        if address is None:
            return await self.ask_active(
                share, version, lambda connection: connection.send(share, version)
            )
        node = f"node {owner}"
        try:
            response = await self._cluster.connections.send(address, share, version)
        except KwireError:
            return _refused(share, version, ErrorCode.REQUEST_TIMED_OUT, f"{node}: no answer")
        return RoutedResponse(response=response, node=node)


def _is_not_active(response: Response) -> bool:
    """True if the node did nothing, since another node is the active controller."""
    codes = {failure.code for failure in failures(response)}
    return bool(codes) and codes <= _NOT_ACTIVE


def _refused(request: Request, version: int, code: int, node: str) -> RoutedResponse | None:
    response = visible_error_response(request, version, code)
    return None if response is None else RoutedResponse(response=response, node=node)
