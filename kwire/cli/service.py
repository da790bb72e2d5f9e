"""Runs the proxies of a configuration file: SIGTERM drains them, SIGHUP reads the file again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from pathlib import Path

from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.printer import Printer
from kwire.cli.proxy_run import Display, Selection
from kwire.cli.saved_files import LOOK, SavedFiles
from kwire.cli.service_cluster import View
from kwire.cli.service_clusters import Clusters
from kwire.cli.service_log import log, logging_to_stderr
from kwire.errors import InvalidValue, KwireError
from kwire.net.metrics_server import MetricsServer
from kwire.net.tasks import cancel_and_wait
from kwire.operating_system import TERMINATION, on_signal
from kwire.proxy import DecodedFlow, Notice
from kwire.proxy.service.config import ProxyConfig, ShowConfig, read_config
from kwire.proxy.service.metrics_families import ProxyCollector

RELOAD, SAVED, DRAIN = "reload", "saved", "drain"

FIXED = ("show", "metrics", "log", "limits")
"""Keys that are taken at the start only."""


def serve(path: Path) -> None:
    """Run until SIGTERM, which drains, or Ctrl-C. WrongUsage for a file that cannot be used."""
    try:
        config = read_config(path)
    except InvalidValue as error:
        raise WrongUsage(str(error)) from error
    with logging_to_stderr(config.log.form, config.log.level), _shown(config.show) as view:
        clusters = Clusters(config, view)
        asyncio.run(Service(path, config, clusters).run())


@contextmanager
def _shown(config: ShowConfig | None) -> Iterator[View | None]:
    """What prints the flows that are to be shown; at the end it prints the counts."""
    if config is None:
        yield None
        return
    selection = Selection(frozenset(config.api), frozenset(config.no_api), config.view)
    display = Display(selection, verbose=config.verbose, as_json=config.as_json)

    def show(seen: DecodedFlow | Notice) -> None:
        weight = (seen.flow if isinstance(seen, DecodedFlow) else seen).weight
        printer.put(lambda: display.show(seen), weight)

    with Printer(lambda: log.warning("nobody reads the flows any more")) as printer:
        yield show
        printer.put(lambda: display.end(printer.dropped))


class Service:
    """What signals do to the clusters of a file, and what a supervisor is told."""

    def __init__(self, path: Path, config: ProxyConfig, clusters: Clusters) -> None:
        self._path = path
        self._config = config
        self._clusters = clusters
        self._state = "starting"
        self._signals: asyncio.Queue[str] = asyncio.Queue()
        self._saved: set[Path] = set()
        self._failure = ""
        clusters.failed = self._fail

    async def run(self) -> None:
        """Start everything, obey signals, and return when all is drained.

        Raises CommandFailed where a node is named that is not behind the proxy of a strict cluster.

        SIGTERM is Ctrl-C until everything has started.
        """
        if not on_signal(("SIGHUP",), lambda: self._signals.put_nowait(RELOAD)):
            log.info("this system has no SIGHUP: restart kwire after a change of the file")
        async with self._metrics(), self._clusters:
            on_signal(TERMINATION, lambda: self._signals.put_nowait(DRAIN))
            self._state = "ready"
            log.info("ready")
            following = asyncio.create_task(self._follow())
            try:
                while (what := await self._signals.get()) != DRAIN:
                    await (self._reload() if what == RELOAD else self._reload_filters())
            finally:
                await cancel_and_wait([following])
            await self._drain()
        if self._failure:
            raise CommandFailed(self._failure)

    async def _follow(self) -> None:
        """Notice when rules or scripts are saved."""
        saved = SavedFiles(self._clusters.files)
        while True:
            await asyncio.sleep(LOOK)
            if changed := saved.changed(self._clusters.files):
                self._saved |= changed
                self._signals.put_nowait(SAVED)

    async def _reload_filters(self) -> None:
        """Load rules and scripts again; what is wrong with them is told, and those before stay."""
        try:
            saved, self._saved = self._saved, set()
            await self._clusters.reload_filters(saved)
        except InvalidValue as error:
            for line in str(error).splitlines():
                log.error("not loaded, the filters stay as they were: %s", line)
        else:
            log.info("the filters were loaded again")

    def _fail(self, reason: str) -> None:
        """End as at SIGTERM, with exit code 1."""
        if not self._failure:
            self._failure = reason
            self._signals.put_nowait(DRAIN)

    def _metrics(self) -> AbstractAsyncContextManager[object]:
        """Around the clusters, so that a port that is taken is told before anything listens."""
        where = self._config.metrics
        if where is None:
            return nullcontext()
        pages = {"/health": lambda: (True, "alive"), "/ready": self._ready}
        collector = ProxyCollector(lambda: self._clusters.metered)
        return MetricsServer(collector, where.host, where.port, pages)

    def _ready(self) -> tuple[bool, str]:
        return self._state == "ready", self._state

    async def _reload(self) -> None:
        """Do as the file says now; what is wrong with it is told, and all stays as it was."""
        try:
            config = read_config(self._path)
            await self._clusters.change(config)
        except (KwireError, OSError, WrongUsage, CommandFailed) as error:
            for line in str(error).splitlines():
                log.error("not loaded, all stays as it was: %s", line)
            return
        if fixed := [key for key in FIXED if getattr(config, key) != getattr(self._config, key)]:
            log.warning("taken at the next start only: %s", ", ".join(fixed))
        self._config = config
        log.info("the configuration was loaded again")

    async def _drain(self) -> None:
        """Let what was asked be answered, up to the deadline or the next SIGTERM."""
        self._state = "draining"
        log.info("draining, for %g s at most", self._config.drain)
        draining = asyncio.create_task(self._clusters.drain(self._config.drain))
        again = asyncio.create_task(self._terminated())
        await asyncio.wait([draining, again], return_when=asyncio.FIRST_COMPLETED)
        await cancel_and_wait([draining, again])
        log.info("stopped")

    async def _terminated(self) -> None:
        while await self._signals.get() != DRAIN:
            pass
