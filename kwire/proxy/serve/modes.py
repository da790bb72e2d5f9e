"""The modes of `kwire proxy --serve`.

metadata: any client bootstraps at the controllers, as if they were brokers. APIs that only brokers
answer are answered from the image, those that only the active controller carries out are routed to
it, and all others pass to the node of the listener.

kip919: controllers of Kafka 3.6 behind the admin tools of Kafka 4.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from kwire.messages.registry import api_keys
from kwire.proxy.data_path.server import Proxy
from kwire.proxy.filters.filter import Filter
from kwire.proxy.serve.audit import Audit
from kwire.proxy.serve.dispatch import Cancel, Dispatch, ServiceOutcome
from kwire.proxy.serve.image_service import ImageService
from kwire.proxy.serve.kip919_service import Kip919Service
from kwire.proxy.serve.router import ControllerRouter
from kwire.proxy.serve.served_cluster import ServedCluster

WITHHELD = api_keys("DescribeDelegationToken")
"""The APIs that controllers offer and do not answer."""

# The loop keeps only weak references to tasks: without this set one could vanish while it runs.
_running: set[asyncio.Task[ServiceOutcome]] = set()


@dataclass(frozen=True, slots=True)
class ServeMode:
    """The filter of a mode, and the cluster that it serves.

    banner: a warning to show before traffic starts, if there is one.
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
        """Read the files of the proxy's own connections again; return a function that undoes it."""
        return self.cluster.connector.renew()


def serve_metadata(cluster: ServedCluster, audit: Audit) -> ServeMode:
    """Return the mode in which any client bootstraps at the controllers."""
    dispatch = Dispatch(
        ImageService(cluster.view),
        start_task,
        name="metadata",
        router=ControllerRouter(cluster),
        withheld=WITHHELD,
        find_caller=cluster.caller,
        audit=audit,
    )
    return ServeMode(cluster, dispatch)


def serve_kip919(cluster: ServedCluster) -> ServeMode:
    """Return the mode in which old controllers can be asked what new tools ask."""
    dispatch = Dispatch(
        Kip919Service(cluster),
        start_task,
        name="kip919",
        find_caller=cluster.caller,
    )
    return ServeMode(cluster, dispatch)


def start_task(
    work: Coroutine[Any, Any, ServiceOutcome], resume: Callable[[ServiceOutcome], None]
) -> Cancel:
    """Run a coroutine as a task; return a function that cancels it.

    `resume` gets what it returned or raised, unless it is cancelled before.
    """
    task = asyncio.get_running_loop().create_task(work)
    _running.add(task)

    def finish(task: asyncio.Task[ServiceOutcome]) -> None:
        _running.discard(task)
        if not task.cancelled():
            failure = task.exception()
            resume(task.result() if failure is None else failure)

    task.add_done_callback(finish)

    def cancel() -> None:
        task.cancel()

    return cancel
