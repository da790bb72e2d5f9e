"""What `kwire proxy --serve` offers, put together.

metadata: any client bootstraps at the controllers, as if they were brokers. What only brokers
answer comes from the image; what only the active controller does is routed to it; all else passes
to the node of the listener.

kip919: controllers of Kafka 3.6 behind the admin tools of Kafka 4.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kwire.proxy.data_path.server import Proxy
from kwire.proxy.filters.filter import Filter
from kwire.proxy.serve.dispatch import Dispatch
from kwire.proxy.serve.image_service import ImageService
from kwire.proxy.serve.kip919_service import Kip919Service
from kwire.proxy.serve.router import ControllerRouter
from kwire.proxy.serve.routes import WITHHELD
from kwire.proxy.serve.served_cluster import ServedCluster
from kwire.proxy.serve.tasks import as_task


@dataclass(frozen=True, slots=True)
class Serving:
    """A filter that hands requests over, and the cluster that it tells of.

    banner: what must be known of it, if anything.
    """

    cluster: ServedCluster
    filter: Filter
    banner: str = ""

    @asynccontextmanager
    async def run(self, proxy: Proxy) -> AsyncIterator[None]:
        """Answer while the context lasts. Raises what following and listening raise."""
        async with self.cluster.follow(), self.cluster.listen(proxy):
            yield

    def renew(self) -> Callable[[], None]:
        """Read the files of the proxy's own connections again; gives what takes that back."""
        return self.cluster.opener.renew()


def serve_metadata(cluster: ServedCluster) -> Serving:
    """Any client bootstraps at the controllers."""
    service, router = ImageService(cluster.view), ControllerRouter(cluster)
    dispatch = Dispatch(
        service,
        as_task,
        name="metadata",
        router=router,
        withheld=WITHHELD,
        guarded=cluster.opener.with_sasl,
    )
    return Serving(cluster, dispatch)


def serve_kip919(cluster: ServedCluster) -> Serving:
    """Old controllers answer what they can of what new tools ask."""
    service, guarded = Kip919Service(cluster), cluster.opener.with_sasl
    return Serving(cluster, Dispatch(service, as_task, name="kip919", guarded=guarded))
