"""`--serve metadata`: any client bootstraps at the controllers, as if they were brokers.

What only brokers answer comes from an image that an observer of the quorum keeps; what only the
active controller does is routed to it; all else passes to the node of the listener.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from kwire.apis.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.errors import ConnectionFailed, KwireError
from kwire.observer import LiveImage
from kwire.observer.live_image import Open, connect
from proxy.listener import Listener
from proxy.serve.answers.describe_cluster import CONTROLLERS
from proxy.serve.cluster_view import ClusterView
from proxy.serve.dispatch import Dispatch
from proxy.serve.image_service import ImageService
from proxy.serve.node_connections import NodeConnections
from proxy.serve.router import ControllerRouter
from proxy.serve.routes import WITHHELD
from proxy.serve.tasks import as_task
from proxy.serve.virtual_nodes import VirtualNodes
from proxy.server import Proxy

READY = 30.0
"""Seconds until a leader has let the whole metadata log be read."""


class MetadataMode:
    """What stands behind the filter; `run` while the proxy does.

    listeners: in front of controllers, with their ids. cluster_id: where controllers before Kafka
    3.7 cannot tell. open: connects to nodes; its principal needs CLUSTER_ACTION, to read the log.
    """

    def __init__(
        self,
        listeners: Sequence[Listener],
        *,
        cluster_id: str | None = None,
        advertised_host: str | None = None,
        open: Open = connect,
    ) -> None:
        self._live = LiveImage([one.upstream for one in listeners], open=open)
        self._nodes = VirtualNodes(listeners, advertised_host)
        self._connections = NodeConnections(open)
        self._cluster_id = cluster_id
        self.filter = Dispatch(
            ImageService(self._view),
            as_task,
            name="metadata",
            router=ControllerRouter(self._live, self._connections, self._nodes),
            withheld=WITHHELD,
        )

    @property
    def image(self) -> LiveImage:
        """The cluster, as it is known here."""
        return self._live

    @asynccontextmanager
    async def run(self, proxy: Proxy) -> AsyncIterator[None]:
        """Let the proxy listen for every node once the metadata is known, and for new ones.

        Raises ConnectionFailed where nobody leads in time, BrokerError where the log may not be
        read, CannotListen.
        """
        async with self._live as live:
            try:
                async with asyncio.timeout(READY):
                    image = await live.ready()
            except TimeoutError:
                raise ConnectionFailed(
                    f"no controller let the metadata log be read within {READY:g} s: check the"
                    " addresses behind --listen, and that the quorum has a leader"
                ) from None
            await self._learn_cluster_id()
            await self._nodes.start(proxy, image)
            following = asyncio.get_running_loop().create_task(self._follow(proxy))
            try:
                yield
            finally:
                following.cancel()
                with suppress(asyncio.CancelledError):
                    await following
                await self._connections.close()

    async def _follow(self, proxy: Proxy) -> None:
        while True:
            await self._nodes.follow(proxy, self._live.image)
            await self._live.changed()

    async def _learn_cluster_id(self) -> None:
        leader = self._live.leader
        if self._cluster_id is not None or leader is None:
            return
        with suppress(KwireError):  # controllers before 3.7 have no DescribeCluster
            request = DescribeClusterRequest(endpoint_type=CONTROLLERS)
            response = await self._connections.ask(leader, request)
            if isinstance(response, DescribeClusterResponse) and not response.error_code:
                self._cluster_id = response.cluster_id

    async def _view(self) -> ClusterView:
        image = await self._live.ready()
        return ClusterView(
            image=image,
            cluster_id=self._cluster_id,
            controller_id=self._live.leader_id,
            nodes=self._nodes.addresses,
            controllers=self._nodes.controllers(image),
        )
