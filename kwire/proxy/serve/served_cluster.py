"""The cluster behind a proxy that serves: followed by an observer, each node with a listener."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kwire.errors import ConnectionFailed, KwireError
from kwire.image import MetadataImage
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.pool import ConnectionPool
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import Security, read_security
from kwire.net.service import ANONYMOUS
from kwire.net.tasks import cancel_and_wait
from kwire.net.timeouts import merged, read_timeouts
from kwire.observer import LiveImage
from kwire.proxy.data_path.allowed_nodes import AllowedNodes
from kwire.proxy.data_path.given_addresses import GivenAddresses
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.data_path.server import Proxy
from kwire.proxy.flows.flow import ClientConnection
from kwire.proxy.serve.callers import Caller, logged_in
from kwire.proxy.serve.cluster_view import ClusterView
from kwire.proxy.serve.node_connector import NodeConnector
from kwire.proxy.serve.virtual_nodes import VirtualNodes


class ServedCluster:
    """The metadata, the listeners and the connections that services and routers use.

    First `follow` the cluster, then `listen` for its nodes. carries_callers: changes that are
    routed name the client's principal, since the proxy's connections have one of their own;
    lends_rights: they do not. refusal: returns why an address does not count, "" if it does.

    listeners: in front of controllers, with node ids; listeners that are opened later have the TLS
    of the first. client_config: a properties file for the proxy's own connections, with their
    limits of time; without it they have the TLS of the first listener. Their principal needs
    CLUSTER_ACTION, to fetch the metadata log. lend_rights: let clients act as that principal.
    cluster_id: needed if controllers before Kafka 3.7 do not tell it. allowed: the addresses that
    count of those in the metadata. given: keeps those that clients are given. Raises BadTls,
    InvalidValue.
    """

    def __init__(
        self,
        listeners: Sequence[Listener],
        *,
        client_config: Path | None = None,
        lend_rights: bool = False,
        cluster_id: str | None = None,
        advertised_host: str | None = None,
        allowed: AllowedNodes | None = None,
        given: GivenAddresses | None = None,
    ) -> None:
        configured = [listener.upstream for listener in listeners]
        allowed = allowed or AllowedNodes()

        def refusal(address: Address) -> str:
            return allowed.refusal(address, configured)

        self.refusal = refusal
        as_listener = Security(tls=listeners[0].upstream_tls)
        limits = {} if client_config is None else read_timeouts(client_config)
        self.timeouts = timeouts = merged(limits)

        def connect() -> SecureConnect:
            security = as_listener if client_config is None else read_security(client_config)
            return SecureConnect(security, "kwire-proxy", timeouts=timeouts)

        self.connector = NodeConnector(connect, refusal)
        # A leader that is silent for longer is left for the next one: its cluster may have another.
        self.live = LiveImage(configured, open=self.connector, patience=timeouts.connect_seconds)
        self.nodes = VirtualNodes(listeners, refusal, advertised_host, given)
        self.connections = ConnectionPool(self.connector, connect_timeout=timeouts.request_seconds)
        self.cluster_id = cluster_id
        has_principal = client_config is not None
        self.lends_rights = has_principal and lend_rights
        self.carries_callers = has_principal and not lend_rights
        # Nodes know the clients behind a certificate of the proxy's by it, and by rules of theirs
        # (ssl.principal.mapping.rules).
        with_certificate = any(listener.presents_certificate for listener in listeners)
        principal = None if with_certificate else ANONYMOUS
        self._without_sasl = Caller(principal, proved=False)

    def caller(self, connection: ClientConnection, now: float) -> Caller | None:
        """Return who sends the requests of a connection; see FindCaller."""
        if self.connector.with_sasl:
            return logged_in(connection, now, lambda: self.live.image)
        return self._without_sasl

    @asynccontextmanager
    async def follow(self) -> AsyncIterator[MetadataImage]:
        """Read the metadata log, and follow it while the context lasts.

        Raises ConnectionFailed if no controller leads in time, BrokerError if the log may not be
        read.
        """
        # The node that lets the log be fetched is the active controller: no other node is asked who
        # leads.
        async with self.live as live:
            try:
                async with asyncio.timeout(self.timeouts.operation):
                    image = await live.ready()
            except TimeoutError:
                raise ConnectionFailed(
                    "no controller let the metadata log be read within"
                    f" {self.timeouts.operation:g} s ({self.live.trouble or 'none answers'}):"
                    " check the addresses of the nodes, whether they want TLS or SASL, and that"
                    " the quorum has a leader"
                ) from None
            await self._learn_cluster_id()
            try:
                yield image
            finally:
                await self.connections.close()

    @asynccontextmanager
    async def listen(self, proxy: Proxy) -> AsyncIterator[None]:
        """Listen for every node, and for those that join later. Raises CannotListen."""
        await self.nodes.start(proxy, self.live.image)
        following = asyncio.get_running_loop().create_task(self._follow(proxy))
        try:
            yield
        finally:
            await cancel_and_wait([following])

    async def view(self) -> ClusterView:
        """Return the cluster as it is now; wait for a first image."""
        image = await self.live.ready()
        return ClusterView(
            image=image,
            cluster_id=self.cluster_id,
            controller_id=self.live.leader_id,
            nodes=self.nodes.addresses,
            controllers=self.nodes.controllers(image),
        )

    def upstream(self, node_id: int) -> Address | None:
        """Return the address of a node itself, None if it is not known."""
        return self.nodes.upstream(node_id, self.live.image)

    async def _follow(self, proxy: Proxy) -> None:
        while True:
            await self.nodes.follow(proxy, self.live.image)
            await self.live.changed()

    async def _learn_cluster_id(self) -> None:
        leader = self.live.leader
        if self.cluster_id is not None or leader is None:
            return
        with suppress(KwireError):  # controllers before 3.7 have no DescribeCluster
            request = DescribeClusterRequest(endpoint_type=EndpointType.CONTROLLER)
            response = await self.connections.send(leader, request)
            if isinstance(response, DescribeClusterResponse) and not response.error_code:
                self.cluster_id = response.cluster_id
