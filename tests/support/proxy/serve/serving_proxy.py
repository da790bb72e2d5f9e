"""A proxy that serves, in front of the controllers of a cluster and of nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from kwire.net.address import Address
from kwire.proxy import Filters, Flow, Listener, Proxy, Ring
from kwire.proxy.serve.audit import Audit
from kwire.proxy.serve.modes import ServeMode, serve_metadata
from kwire.proxy.serve.served_cluster import ServedCluster
from real_kafka import Cluster


@dataclass(frozen=True, slots=True)
class ServingProxy:
    """ring: what passed. bootstrap: the controllers, as clients are to reach them."""

    proxy: Proxy
    mode: ServeMode
    ring: Ring
    bootstrap: str

    def flows(self, api: str) -> list[Flow]:
        """Return the flows of one API that have ended."""
        return [event for event in self.ring if isinstance(event, Flow) and event.api == api]

    @property
    def problems(self) -> list[str]:
        """Of all flows."""
        return [text for event in self.ring if isinstance(event, Flow) for text in event.problems]

    def handled(self, api: str) -> set[str]:
        """Return how the flows of one API were handled."""
        return {flow.handling for flow in self.flows(api)}


@asynccontextmanager
async def serving(
    controllers: dict[int, Address],
    *,
    audit: Audit = lambda change: None,
    **settings: Any,
) -> AsyncIterator[ServingProxy]:
    """`--serve metadata` in front of these. settings: of the ServedCluster."""
    listeners = [Listener(node_id=id, upstream=address) for id, address in controllers.items()]
    mode = serve_metadata(ServedCluster(listeners, **settings), audit)
    ring = Ring()
    async with Proxy(sinks=[ring], filters=Filters([mode.filter])) as proxy, mode.run(proxy):
        told = [
            str(address)
            for listener, address in proxy.addresses.items()
            if listener.node_id in controllers
        ]
        yield ServingProxy(proxy, mode, ring, ",".join(told))


def controllers(cluster: Cluster) -> dict[int, Address]:
    return {
        id: Address(node.controller_address.host, node.controller_address.port)
        for id, node in cluster.controllers.items()
    }
