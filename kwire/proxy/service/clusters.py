"""The clusters of the service: started, changed as a whole or not at all, drained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

from kwire.net.tasks import cancel_and_wait
from kwire.proxy.data_path.descriptors import Descriptors
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.filters.filter import Action
from kwire.proxy.service.cluster import ClusterRuntime, View
from kwire.proxy.service.cluster_filters import LoadedFilters
from kwire.proxy.service.config import ClusterConfig, ProxyConfig
from kwire.proxy.service.events import ReportEvent
from kwire.proxy.service.metrics_families import MeteredProxy
from kwire.proxy.service.recording import ClusterRecording
from kwire.proxy.service.serving import SimulateController


class Clusters:
    """Runs the clusters of a configuration while the context lasts.

    report: takes the events. view: shows the decoded flows. simulate: makes the backend of
    `serve: {mode: controller}`. on_bypass: called with the reason if a node is named that is not
    behind the proxy of a strict cluster.
    """

    def __init__(
        self,
        config: ProxyConfig,
        *,
        report: ReportEvent,
        view: View | None,
        simulate: SimulateController | None,
        on_bypass: Callable[[str], None],
    ) -> None:
        self._first = config
        self._report = report
        self._view = view
        self._simulate = simulate
        self._on_bypass = on_bypass
        self._descriptors = Descriptors()
        self._running: dict[str, ClusterRuntime] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def metered(self) -> list[MeteredProxy]:
        """The proxies that Prometheus reads."""
        proxies = (cluster.metered for cluster in self._running.values())
        return [metered for metered in proxies if metered is not None]

    @property
    def filter_files(self) -> list[Path]:
        """The rules and scripts in use."""
        return [path for cluster in self._running.values() for path in cluster.filter_files]

    @property
    def dropped(self) -> int:
        """The events that were not shown because too much waited to be decoded."""
        return sum(cluster.tap.dropped for cluster in self._running.values())

    def release(self, action: Action | None) -> bool:
        """Release the message that is held longest, of the first cluster that holds one."""
        return any(cluster.filters.release(action) for cluster in self._running.values())

    async def reload_filters(self, saved: set[Path]) -> None:
        """Load the rules and scripts again of clusters that have one of these files.

        Raises InvalidValue, and then those before stay.
        """
        # Only these clusters: loading again would reset what the other scripts remember.
        clusters = self._running.values()
        running = [cluster for cluster in clusters if saved & set(cluster.filter_files)]
        loaded = [LoadedFilters(cluster.config) for cluster in running]
        for cluster, filters in zip(running, loaded, strict=True):
            await cluster.change(filters, cluster.recording)

    async def __aenter__(self) -> Self:
        await self.change(self._first)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await cancel_and_wait(self._ending)
        for cluster in self._running.values():
            await cluster.__aexit__(*exc)

    async def drain(self, seconds: float) -> None:
        """Take no more requests; return when all are answered, or this time is over."""
        draining = (cluster.proxy.drain(seconds) for cluster in self._running.values())
        await asyncio.gather(*self._ending, *draining)

    async def change(self, config: ProxyConfig) -> None:
        """Run these clusters. Connections through listeners that stay are not touched.

        1. All rules and scripts are loaded, and new recordings and clusters begun.
        2. Listeners that are to go stop listening: another may want their address.
        3. New listeners are opened, then those where an earlier run listened.
        4. Filters and recordings change, and the connections of listeners that go are drained.
        Raises KwireError and OSError in 1 to 3, and then all is as it was.
        """
        async with AsyncExitStack() as undo:
            # 1.
            for cluster_config in config.clusters:
                if cluster_config.name in self._running:
                    self._running[cluster_config.name].check_reload(cluster_config)
            loaded = [LoadedFilters(cluster_config) for cluster_config in config.clusters]
            recordings = [
                await self._recording(cluster_config, undo) for cluster_config in config.clusters
            ]
            clusters = {
                filters.config.name: await self._cluster(filters, recording, undo)
                for filters, recording in zip(loaded, recordings, strict=True)
            }
            # 2.
            going = self._going(config)
            for cluster, listener in going:
                await cluster.proxy.unlisten(listener)
                undo.push_async_callback(cluster.proxy.listen, listener)
            # 3.
            for cluster_config in config.clusters:
                await self._listen(clusters[cluster_config.name], cluster_config, undo)
            undo.pop_all()
        for cluster in clusters.values():
            await cluster.listen_again()
        # 4.
        gone = [cluster for name, cluster in self._running.items() if name not in clusters]
        started = [cluster for name, cluster in clusters.items() if name not in self._running]
        self._running = clusters
        for filters, recording in zip(loaded, recordings, strict=True):
            cluster = clusters[filters.config.name]
            if cluster not in started:
                await cluster.change(filters, recording)
        for cluster in started:
            cluster.announce_feed()
        for cluster, listener in going:
            if cluster not in gone:
                self._in_background(cluster.proxy.drain(config.drain, listener))
        for cluster in gone:
            self._in_background(_drain_and_end(cluster, config.drain))

    async def _recording(
        self, config: ClusterConfig, undo: AsyncExitStack
    ) -> ClusterRecording | None:
        """Return the recording that runs, if it is still wanted and has not failed; else a new one.

        One that has failed goes on only in a folder, in a new file: nothing is written over.
        """
        if config.record is None:
            return None
        running = self._running.get(config.name)
        recording = None if running is None else running.recording
        is_same = recording is not None and recording.config == config.record
        if recording is not None and is_same and not recording.may_start_again:
            return recording
        recording = ClusterRecording(config.record, self._report, config.name)
        undo.push_async_callback(recording.end)
        return recording

    async def _cluster(
        self, loaded: LoadedFilters, recording: ClusterRecording | None, undo: AsyncExitStack
    ) -> ClusterRuntime:
        running = self._running.get(loaded.config.name)
        if running is not None:
            return running
        cluster = ClusterRuntime(
            loaded,
            recording,
            self._first.limits.limits,
            self._descriptors,
            report=self._report,
            view=self._view,
            has_metrics=self._first.metrics is not None,
            simulate=self._simulate,
            on_bypass=self._on_bypass,
        )
        return await undo.enter_async_context(cluster)

    def _going(self, config: ProxyConfig) -> list[tuple[ClusterRuntime, Listener]]:
        """Return the listeners that run and that a configuration has no more.

        Those that were opened for nodes of the metadata go with their cluster.
        """
        listeners = {
            cluster_config.name: cluster_config.listeners for cluster_config in config.clusters
        }
        going: list[tuple[ClusterRuntime, Listener]] = []
        for name, cluster in self._running.items():
            if name not in listeners:
                going += [(cluster, listener) for listener in cluster.proxy.addresses]
            elif cluster.backend is None:
                before = cluster.config.listeners
                gone = (listener for listener in before if listener not in listeners[name])
                going += [(cluster, listener.listener) for listener in gone]
        return going

    async def _listen(
        self, cluster: ClusterRuntime, config: ClusterConfig, undo: AsyncExitStack
    ) -> None:
        """Renew the keys of a cluster's listeners, and open those that are not open yet."""
        for listener in cluster.proxy.addresses:
            undo.callback(cluster.proxy.renew(listener))
            cluster.certificates.check(listener)
        if cluster.backend is not None:
            undo.callback(cluster.backend.renew())
            return
        for listener_config in config.listeners:
            if listener_config.listener not in cluster.proxy.addresses:
                await cluster.listen(listener_config.listener)
                undo.push_async_callback(cluster.proxy.unlisten, listener_config.listener)

    def _in_background(self, ending: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(ending)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _drain_and_end(cluster: ClusterRuntime, seconds: float) -> None:
    """End a cluster that is configured no more: requests under way are answered first."""
    try:
        await cluster.proxy.drain(seconds)
    finally:
        await cluster.__aexit__(None, None, None)
