"""One run of the demo: a cluster behind a proxy, an admin client's session, what passed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from itertools import repeat
from socket import AF_INET, SOCK_DGRAM, socket
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status
from rich.text import Text

from kwire.cli.cluster_ports import broker_ports, controller_ports
from kwire.cli.demo.cluster import DemoCluster
from kwire.cli.demo.options import DemoOptions
from kwire.cli.demo.screen import DemoScreen
from kwire.cli.demo.steps import show_steps
from kwire.cli.errors import CommandFailed
from kwire.cli.printer import Printer
from kwire.cli.screen import screen
from kwire.extras import MissingExtra
from kwire.net.address import Address
from kwire.proxy import Filters, Listener, Proxy, Sink, Tap
from kwire.proxy.capture.recorder import Recorder, files_at
from kwire.proxy.service.cluster_filters import ClusterFilters
from kwire.proxy.service.config import FeedConfig

if TYPE_CHECKING:
    from kwire.proxy.feed.sender import Feed

FEED_PORT = 9900
"""Of a feed beside fixed ports, as in kwire's documentation, if it is free."""


def run(options: DemoOptions, make_cluster: Callable[[Callable[[str], None]], DemoCluster]) -> None:
    """Run the demo. Raises CommandFailed if a step does not do what it should.

    make_cluster: takes a function that shows the user what the cluster waits for.
    """
    console = screen()
    spinner = console.status("starting") if console.is_terminal else None

    def progress(text: str) -> None:
        if spinner is not None:
            spinner.update(text)
        else:
            console.print(text)

    with spinner or nullcontext():
        cluster = make_cluster(progress)
        try:
            asyncio.run(DemoSession(cluster, console, spinner, options).run())
        finally:
            cluster.close()


class DemoSession:
    """One run of the demo; the proxy stops after the nodes behind it."""

    def __init__(
        self, cluster: DemoCluster, console: Console, spinner: Status | None, options: DemoOptions
    ) -> None:
        self._cluster = cluster
        self._console = console
        self._spinner = spinner
        self._options = options
        self._unread = False

    async def run(self) -> None:
        """Show all steps; return early, without an error, if the reader of the output has gone."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        stop = task.cancel

        def reader_has_gone() -> None:
            self._unread = True
            loop.call_soon_threadsafe(stop)

        try:
            with Printer(reader_has_gone) as printer:
                demo_screen = DemoScreen(
                    self._console,
                    printer,
                    every=self._options.every,
                    verbose=self._options.verbose,
                )
                await self._show(demo_screen)
        except asyncio.CancelledError:
            if not self._unread:
                raise

    async def _show(self, demo_screen: DemoScreen) -> None:
        viewers = _viewers(fixed=self._options.ports is not None) if self._options.keep else None
        feed = None if viewers is None else viewers.feed
        filters = None if viewers is None else viewers.filters
        path = self._options.write
        with nullcontext() if path is None else Recorder(files_at(path)) as recorder:
            sinks: list[Sink] = [sink for sink in (feed, recorder) if sink is not None]
            await self._show_through(sinks, filters, feed, demo_screen)

    async def _show_through(
        self, sinks: list[Sink], filters: Filters | None, feed: Feed | None, demo_screen: DemoScreen
    ) -> None:
        async with (
            Tap(demo_screen.view) as tap,
            feed or nullcontext(),
            Proxy(sinks=[tap, *sinks], filters=filters) as proxy,
        ):
            controllers = await self._listen_in_front(proxy)
            try:
                demo_screen.heading(f"{self._cluster.description} starts, the proxy in front of it")
                await asyncio.to_thread(self._cluster.start)
                if self._spinner is not None:
                    self._spinner.stop()
                await show_steps(controllers, demo_screen)
                await self._watch(controllers, demo_screen, feed)
                await tap.caught_up()
                self._finish(demo_screen)
            finally:
                demo_screen.close()
                self._cluster.close()

    async def _listen_in_front(self, proxy: Proxy) -> list[str]:
        """Listen in front of each node and have it advertise that; return controllers' addresses.

        Raises CommandFailed if a port that was asked for is taken.
        """
        cluster, first = self._cluster, self._options.ports
        controllers = controller_ports(first, len(cluster.controllers))
        brokers = broker_ports(first, len(cluster.brokers))
        addresses = []
        for nodes, ports in ((cluster.controllers, controllers), (cluster.brokers, brokers)):
            for (node_id, upstream), port in zip(nodes.items(), ports or repeat(0), strict=False):
                listen = Address("127.0.0.1", port)
                listener = Listener(node_id=node_id, upstream=upstream, listen=listen)
                address = await proxy.listen(listener)
                cluster.advertise(node_id, address)
                addresses.append(str(address))
        return addresses[: len(cluster.controllers)]

    async def _watch(
        self, controllers: list[str], demo_screen: DemoScreen, feed: Feed | None
    ) -> None:
        if self._options.keep:
            demo_screen.heading("It runs until Ctrl-C. In another terminal, try")
            demo_screen.say(f"kwire quorum status --bootstrap-controller {controllers[0]}")
            if servers := self._cluster.bootstrap_servers:
                demo_screen.say(f"kwire topics create orders --bootstrap-server {servers}")
            if feed is not None:
                demo_screen.say(f"kwire watch {feed.address}")
            await asyncio.Event().wait()
        if self._options.seconds:
            demo_screen.heading(f"The nodes among themselves, for {self._options.seconds:g} s")
            await asyncio.sleep(self._options.seconds)

    def _finish(self, demo_screen: DemoScreen) -> None:
        counts = demo_screen.counts
        demo_screen.close()
        demo_screen.print_counts()
        if counts.undecoded:
            raise CommandFailed(f"{counts.undecoded} of {counts.flows} RPCs could not be decoded.")
        demo_screen.say(Text("Every RPC was decoded; the voters are what they were.", "green"))


def _viewers(*, fixed: bool) -> ClusterFilters | None:
    """Return the feed and the filters of `kwire watch`; None if its packages are not installed.

    fixed: at FEED_PORT, unless something has it: another demo, or a proxy.
    """
    port = FEED_PORT if fixed and _is_free(FEED_PORT) else 0
    try:
        return ClusterFilters(feed=FeedConfig(listen=Address("127.0.0.1", port)))
    except MissingExtra:
        return None


def _is_free(port: int) -> bool:
    with socket(AF_INET, SOCK_DGRAM) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
