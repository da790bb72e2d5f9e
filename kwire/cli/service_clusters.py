"""The clusters of a service: started, changed as a whole or not at all, drained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

from kwire.cli.service_cluster import ClusterService, Prepared, View, begin_recording, end_recording
from kwire.cli.service_log import log
from kwire.net.tasks import cancel_and_wait
from kwire.proxy import Listener
from kwire.proxy.capture.recorder import Recorder
from kwire.proxy.service.config import ClusterConfig, ProxyConfig
from kwire.proxy.service.metrics_families import Metered


class Clusters:
    """Runs those of a configuration while the context lasts. view: is shown the decoded flows.

    failed: takes why the service is to end.
    """

    def __init__(self, config: ProxyConfig, view: View | None) -> None:
        self._first = config
        self._view = view
        self._running: dict[str, ClusterService] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self.failed: Callable[[str], None] = log.error

    @property
    def metered(self) -> list[Metered]:
        """What Prometheus reads."""
        return [found for one in self._running.values() if (found := one.metered) is not None]

    @property
    def files(self) -> list[Path]:
        """The rules and scripts in use."""
        return [path for one in self._running.values() for path in one.files]

    async def reload_filters(self, saved: set[Path]) -> None:
        """Load the rules and scripts again of clusters that have one of these.

        Raises InvalidValue, and then those before stay.
        """
        running = [one for one in self._running.values() if saved & set(one.files)]
        prepared = [Prepared(one.config) for one in running]
        for cluster, ready in zip(running, prepared, strict=True):
            await cluster.change(ready, cluster.recorder)

    async def __aenter__(self) -> Self:
        await self.change(self._first)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await cancel_and_wait(self._ending)
        for cluster in self._running.values():
            await cluster.__aexit__(*exc)

    async def drain(self, seconds: float) -> None:
        """Take no more requests; return when all are answered, or this time is over."""
        await asyncio.gather(
            *self._ending, *(one.proxy.drain(seconds) for one in self._running.values())
        )

    async def change(self, config: ProxyConfig) -> None:
        """Run these clusters. Connections through listeners that stay are not touched.

        1. All rules and scripts are loaded, and new recordings and clusters begun.
        2. Listeners that are to go stop listening: another may want their address.
        3. New listeners are opened.
        4. Filters and recordings change, and the connections of listeners that go are drained.
        Raises KwireError, OSError, WrongUsage and Failure in 1 to 3, and then all is as it was.
        """
        async with AsyncExitStack() as undo:
            for one in config.clusters:
                if one.name in self._running:
                    self._running[one.name].lasting.check(one)
            prepared = [Prepared(one) for one in config.clusters]
            recorders = [await self._recorder(one, undo) for one in config.clusters]
            clusters = {
                one.config.name: await self._cluster(one, recorder, undo)
                for one, recorder in zip(prepared, recorders, strict=True)
            }
            going = self._going(config)
            for cluster, listener in going:
                await cluster.proxy.unlisten(listener)
                undo.push_async_callback(cluster.proxy.listen, listener)
            for one in config.clusters:
                await self._listen(clusters[one.name], one, undo)
            undo.pop_all()
        gone = [one for name, one in self._running.items() if name not in clusters]
        self._running = clusters
        for ready, recorder in zip(prepared, recorders, strict=True):
            await clusters[ready.config.name].change(ready, recorder)
        for cluster, listener in going:
            if cluster not in gone:
                self._later(cluster.proxy.drain(config.drain, listener))
        for cluster in gone:
            self._later(_end(cluster, config.drain))

    async def _recorder(self, config: ClusterConfig, undo: AsyncExitStack) -> Recorder | None:
        """The one that goes on, unless it failed and may write a new file; else a new one."""
        if config.record is None:
            return None
        running = self._running.get(config.name)
        found = running.recorder if running and running.config.record == config.record else None
        path = config.record.path
        in_folder = path is not None and path.is_dir()
        if found is not None and not (found.failure and in_folder):
            return found
        recorder = begin_recording(config.record)
        undo.push_async_callback(end_recording, recorder)
        return recorder

    async def _cluster(
        self, prepared: Prepared, recorder: Recorder | None, undo: AsyncExitStack
    ) -> ClusterService:
        running = self._running.get(prepared.config.name)
        if running is not None:
            return running
        limits, metered = self._first.limits.limits, self._first.metrics is not None
        cluster = ClusterService(
            prepared,
            recorder,
            limits,
            view=self._view,
            metered=metered,
            failed=lambda reason: self.failed(reason),
        )
        return await undo.enter_async_context(cluster)

    def _going(self, config: ProxyConfig) -> list[tuple[ClusterService, Listener]]:
        """Listeners that run and that a configuration has no more.

        Those that were opened for nodes of the metadata go with their cluster.
        """
        wanted = {one.name: one.listeners for one in config.clusters}
        going: list[tuple[ClusterService, Listener]] = []
        for name, cluster in self._running.items():
            if name not in wanted:
                going += [(cluster, one) for one in cluster.proxy.addresses]
            elif cluster.lasting.serving is None:
                gone = (one for one in cluster.config.listeners if one not in wanted[name])
                going += [(cluster, one.listener) for one in gone]
        return going

    async def _listen(
        self, cluster: ClusterService, config: ClusterConfig, undo: AsyncExitStack
    ) -> None:
        """Renew the keys of the listeners of a cluster, and open those that are not open yet."""
        for listener in cluster.proxy.addresses:
            undo.callback(cluster.proxy.renew(listener))
            cluster.certificates.look(listener)
        if cluster.lasting.serving is not None:
            undo.callback(cluster.lasting.serving.renew())
            return
        for one in config.listeners:
            if one.listener not in cluster.proxy.addresses:
                await cluster.listen(one.listener)
                undo.push_async_callback(cluster.proxy.unlisten, one.listener)

    def _later(self, ending: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(ending)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _end(cluster: ClusterService, seconds: float) -> None:
    """A cluster that is configured no more: what was asked is answered first."""
    try:
        await cluster.proxy.drain(seconds)
    finally:
        await cluster.__aexit__(None, None, None)
