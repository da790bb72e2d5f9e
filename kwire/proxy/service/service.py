"""The proxy as it runs: SIGTERM drains it, SIGHUP reads its file again, saved filters are loaded.

`kwire proxy` is this service, with the one cluster of its options or with the clusters of a file.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from enum import Enum, auto
from pathlib import Path

from kwire.errors import InvalidValue, KwireError, LocalError
from kwire.net.metrics_server import MetricsServer
from kwire.net.tasks import cancel_and_wait
from kwire.operating_system import TERMINATION, on_signal
from kwire.proxy.filters.filter import Action
from kwire.proxy.service.cluster import View
from kwire.proxy.service.clusters import Clusters
from kwire.proxy.service.config import ProxyConfig, read_config
from kwire.proxy.service.events import ReportEvent, ServiceEvent, ServiceEventKind
from kwire.proxy.service.metrics_families import ProxyCollector
from kwire.proxy.service.saved_files import LOOK_INTERVAL, SavedFiles
from kwire.proxy.service.serving import SimulateController

FIXED = ("show", "metrics", "log", "limits")
"""Keys that are taken at the start only."""


class NodeBypassed(LocalError):
    """A node was named that is not behind the proxy of a strict cluster."""


class _Command(Enum):
    RELOAD = auto()
    LOAD_SAVED = auto()
    DRAIN = auto()
    STOP = auto()


class ProxyService:
    """Runs the clusters of a configuration, obeys signals, and says how it is at /ready.

    report: takes the events. view: shows the decoded flows. file: of the configuration, read again
    at SIGHUP; None if it came from options. simulate: makes the backend of
    `serve: {mode: controller}`.
    """

    def __init__(
        self,
        config: ProxyConfig,
        *,
        report: ReportEvent,
        view: View | None = None,
        file: Path | None = None,
        simulate: SimulateController | None = None,
    ) -> None:
        self._config = config
        self._report = report
        self._file = file
        self._state = "starting"
        self._commands: asyncio.Queue[_Command] = asyncio.Queue()
        self._saved: set[Path] = set()
        self._bypass = ""
        self._clusters = Clusters(
            config, report=report, view=view, simulate=simulate, on_bypass=self._end_bypassed
        )

    @property
    def dropped(self) -> int:
        """The events that were not shown because too much waited to be decoded."""
        return self._clusters.dropped

    def release(self, action: Action | None) -> bool:
        """Release the message that is held longest; return False if none is held."""
        return self._clusters.release(action)

    def stop(self) -> None:
        """End without draining, once everything has started."""
        self._commands.put_nowait(_Command.STOP)

    async def run(self) -> None:
        """Start everything, obey signals, and return when all is drained, or after `stop`.

        SIGTERM is Ctrl-C until everything has started. Raises KwireError and OSError if something
        cannot start, and NodeBypassed.
        """
        # Without a file SIGHUP keeps its meaning: the terminal is gone.
        if self._file is not None and not on_signal(
            ("SIGHUP",), lambda: self._commands.put_nowait(_Command.RELOAD)
        ):
            self._tell(
                ServiceEventKind.RELOAD_UNAVAILABLE,
                "this system has no SIGHUP: restart kwire after a change of the file",
            )
        saved = SavedFiles(
            path for cluster in self._config.clusters for path in cluster.filter_files
        )
        async with self._metrics(), self._clusters:
            # Not before: draining a proxy that still starts would wait for what may never come.
            on_signal(TERMINATION, lambda: self._commands.put_nowait(_Command.DRAIN))
            self._state = "ready"
            self._tell(ServiceEventKind.READY, "ready")
            following = asyncio.create_task(self._follow(saved))
            try:
                command = await self._execute_commands()
            finally:
                await cancel_and_wait([following])
            if command is _Command.DRAIN:
                await self._drain()
        if self._bypass:
            raise NodeBypassed(self._bypass)

    async def _execute_commands(self) -> _Command:
        """Execute commands; return the one that ends the service."""
        while True:
            match await self._commands.get():
                case _Command.RELOAD:
                    await self._reload()
                case _Command.LOAD_SAVED:
                    await self._reload_filters()
                case ending:
                    return ending

    async def _follow(self, files: SavedFiles) -> None:
        """Notice when rules or scripts are saved."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL)
            if changed := files.changed(self._clusters.filter_files):
                self._saved |= changed
                self._commands.put_nowait(_Command.LOAD_SAVED)

    async def _reload_filters(self) -> None:
        """Load rules and scripts again; if one is wrong, report it and keep those before."""
        try:
            saved, self._saved = self._saved, set()
            await self._clusters.reload_filters(saved)
        except InvalidValue as error:
            self._tell(
                ServiceEventKind.FILTERS_NOT_LOADED,
                "not loaded, the filters stay as they were",
                str(error),
            )
        else:
            self._tell(ServiceEventKind.FILTERS_LOADED, "the filters were loaded again")

    async def _reload(self) -> None:
        """Apply the file as it is now; if it cannot be used, report that and change nothing."""
        assert self._file is not None, "there is no reload without a file"
        try:
            config = read_config(self._file)
            await self._clusters.change(config)
        except (KwireError, OSError) as error:
            self._tell(
                ServiceEventKind.CONFIG_NOT_LOADED, "not loaded, all stays as it was", str(error)
            )
            return
        if fixed := [key for key in FIXED if getattr(config, key) != getattr(self._config, key)]:
            self._tell(
                ServiceEventKind.CONFIG_NEEDS_RESTART,
                f"taken at the next start only: {', '.join(fixed)}",
            )
        self._config = config
        self._tell(ServiceEventKind.CONFIG_LOADED, "the configuration was loaded again")

    def _end_bypassed(self, reason: str) -> None:
        """End as at SIGTERM, but raise NodeBypassed then."""
        if not self._bypass:
            self._bypass = reason
            self._commands.put_nowait(_Command.DRAIN)

    def _metrics(self) -> AbstractAsyncContextManager[object]:
        """Serve metrics around the clusters, so that /ready answers while they start.

        A port that is taken is an error before anything listens.
        """
        address = self._config.metrics
        if address is None:
            return nullcontext()
        pages = {"/health": lambda: (True, "alive"), "/ready": self._ready}
        collector = ProxyCollector(lambda: self._clusters.metered)
        return MetricsServer(collector, address.host, address.port, pages)

    def _ready(self) -> tuple[bool, str]:
        clusters = self._config.clusters
        sentences = (sentence for cluster in clusters for sentence in cluster.lending_sentences)
        return self._state == "ready", "; ".join((self._state, *sentences))

    async def _drain(self) -> None:
        """Let requests be answered, up to the deadline or the next SIGTERM."""
        self._state = "draining"
        seconds = self._config.drain
        self._tell(ServiceEventKind.DRAINING, f"draining, for {seconds:g} s at most")
        draining = asyncio.create_task(self._clusters.drain(seconds))
        again = asyncio.create_task(self._ended_again())
        await asyncio.wait([draining, again], return_when=asyncio.FIRST_COMPLETED)
        await cancel_and_wait([draining, again])
        self._tell(ServiceEventKind.STOPPED, "stopped")

    async def _ended_again(self) -> None:
        while await self._commands.get() not in (_Command.DRAIN, _Command.STOP):
            pass

    def _tell(self, kind: ServiceEventKind, text: str, reason: str = "") -> None:
        self._report(ServiceEvent(kind=kind, text=text, reason=reason))
