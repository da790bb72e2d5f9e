"""`kwire proxy --serve controller`: a sandbox controller answers in front of a real cluster.

It leads a copy of the cluster's metadata that was made when the proxy started. Nothing that it does
reaches the cluster.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.sandbox import APIS, ClusterCopy, SandboxController
from kwire.errors import ConnectionFailed
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.data.voters_record import VotersRecord
from kwire.migration.driver.rules import MigrationRules
from kwire.net.service import RequestContext
from kwire.proxy import Proxy
from kwire.proxy.flows.node_addresses import node_addresses
from kwire.proxy.serve import Dispatch
from kwire.proxy.serve.answers import describe_cluster
from kwire.proxy.serve.modes import start_task
from kwire.proxy.serve.served_cluster import ServedCluster

BANNER = (
    "SIMULATED: voters, ISRs, features and registrations are those of a copy."
    " The cluster carries out nothing of what is answered here."
)

_DESCRIBE_CLUSTER = DescribeClusterRequest.key or 0


class SandboxBackend:
    """Answers with a sandbox controller; see `kwire.proxy.service.serving.ServeBackend`."""

    banner = BANNER

    def __init__(self, cluster: ServedCluster) -> None:
        self.cluster = cluster
        self._started: asyncio.Future[SandboxController] | None = None
        self.filter = Dispatch(
            self,
            start_task,
            name="simulated controller",
            simulated=APIS,
            find_caller=cluster.caller,
        )

    @property
    def apis(self) -> Mapping[int, Versions]:
        """The APIs of the sandbox controller, and DescribeCluster, by which tools find it."""
        return {**APIS, _DESCRIBE_CLUSTER: DescribeClusterRequest.versions}

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """Return the sandbox controller's answer, whichever node is asked."""
        if isinstance(request, DescribeClusterRequest):
            view = await self.cluster.view()
            return describe_cluster.answer(request, context.version, view)
        assert self._started is not None, "listeners are opened after the start"
        # Shielded: a request that is cancelled must not cancel the start for all others.
        return await (await asyncio.shield(self._started)).answer(request, context)

    @asynccontextmanager
    async def run(self, proxy: Proxy) -> AsyncIterator[None]:
        """Copy the metadata, and answer while the context lasts."""
        self._started = asyncio.get_running_loop().create_future()
        async with (
            self.cluster.follow(),
            self.cluster.listen(proxy),
            SandboxController(
                self._copy(),
                lambda address: not self.cluster.refusal(address),
                MigrationRules(),
            ) as controller,
        ):
            self._started.set_result(controller)
            yield

    def renew(self) -> Callable[[], None]:
        """Read the files of the proxy's own connections again; return what undoes that."""
        return self.cluster.connector.renew()

    def _copy(self) -> ClusterCopy:
        cluster = self.cluster
        observer = cluster.live.observer
        if cluster.cluster_id is None:
            raise ConnectionFailed(
                "the controllers do not tell the cluster's id: give --cluster-id"
            )
        return ClusterCopy(
            cluster_id=cluster.cluster_id,
            node_id=observer.leader_id,
            end=observer.position,
            epoch=observer.epoch,
            image=observer.image,
            kraft_version=observer.kraft_version,
            voters=self._voters(observer.voters),
            static_voters=tuple(
                f"{id}@{cluster.nodes.addresses[id]}"
                for id in sorted(cluster.nodes.controllers(cluster.live.image))
            ),
        )

    def _voters(self, voters: VotersRecord | None) -> VotersRecord | None:
        """Return voters with the proxy's addresses, so that clients of the quorum stay here."""
        if voters is None:
            return None
        addresses = self.cluster.nodes.addresses
        copy = VotersRecord.decode(voters.encode(0), 0)
        for node_address in node_addresses(copy):
            if node_address.node_id is not None and node_address.node_id in addresses:
                node_address.change(addresses[node_address.node_id])
        return copy
