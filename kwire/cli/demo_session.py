"""The demo from its first download to its last line: cluster, proxy, admin session, counts."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status
from rich.text import Text

from kwire.cli.demo_kafka import DemoCluster, RealKafka
from kwire.cli.demo_quorum import KwireQuorum
from kwire.cli.demo_screen import DemoScreen
from kwire.cli.demo_steps import show_steps
from kwire.cli.failure import Failure
from kwire.cli.feeding import Feeding
from kwire.cli.interference import Interference
from kwire.cli.printer import Printer
from kwire.cli.screen import screen
from kwire.net.address import Address
from kwire.proxy import Listener, Proxy, Tap

if TYPE_CHECKING:
    from kwire.proxy.feed.sender import Feed


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """As `kwire demo` takes them. kafka: real Kafka in place of kwire's own controllers."""

    seconds: float
    keep: bool
    every: bool
    verbose: bool
    kafka: bool = False


def run(options: Options) -> None:
    """Run it all. Raises Failure where a step does not do what it should."""
    console = screen()
    waits = "looking for Java and Kafka" if options.kafka else "starting"
    spinner = console.status(waits) if console.is_terminal else None

    def progress(text: str) -> None:
        if spinner is not None:
            spinner.update(text)
        else:
            console.print(text)

    with spinner or nullcontext():
        cluster: DemoCluster = RealKafka(progress) if options.kafka else KwireQuorum()
        try:
            asyncio.run(Session(cluster, console, spinner, options).run())
        finally:
            cluster.close()


class Session:
    """One run; the proxy outlives the nodes behind it."""

    def __init__(
        self, cluster: DemoCluster, console: Console, spinner: Status | None, options: Options
    ) -> None:
        self._cluster = cluster
        self._console = console
        self._spinner = spinner
        self._options = options
        self._unread = False

    async def run(self) -> None:
        """Until the end, until Ctrl-C, or until nobody reads the output any more."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        stop = task.cancel

        def gone() -> None:
            self._unread = True
            loop.call_soon_threadsafe(stop)

        try:
            with Printer(gone) as printer:
                shown = DemoScreen(
                    self._console,
                    printer,
                    every=self._options.every,
                    verbose=self._options.verbose,
                )
                await self._show(shown)
        except asyncio.CancelledError:
            if not self._unread:
                raise

    async def _show(self, shown: DemoScreen) -> None:
        viewers = _viewers() if self._options.keep else None
        feed = None if viewers is None else viewers.feed
        filters = None if viewers is None else viewers.filters
        async with (
            Tap(shown.view) as tap,
            feed or nullcontext(),
            Proxy(sinks=[tap] if feed is None else [tap, feed], filters=filters) as proxy,
        ):
            controllers = await self._stand_in_front(proxy)
            try:
                shown.heading(f"{self._cluster.what} starts, the proxy in front of it")
                await asyncio.to_thread(self._cluster.start)
                if self._spinner is not None:
                    self._spinner.stop()
                await show_steps(controllers, shown)
                await self._watch(controllers, shown, feed)
                self._judge(shown)
            finally:
                shown.close()
                self._cluster.close()

    async def _stand_in_front(self, proxy: Proxy) -> list[str]:
        """A listener for each controller, which advertises it."""
        for node_id, upstream in self._cluster.controllers.items():
            address = await proxy.listen(Listener(node_id=node_id, upstream=upstream))
            self._cluster.advertise(node_id, address)
        return [str(address) for address in proxy.addresses.values()]

    async def _watch(self, controllers: list[str], shown: DemoScreen, feed: Feed | None) -> None:
        if self._options.keep:
            shown.heading("It runs until Ctrl-C. In another terminal, try")
            shown.say(f"kwire quorum status --bootstrap-controller {controllers[0]}")
            if feed is not None:
                shown.say(f"kwire watch {feed.address}")
            await asyncio.Event().wait()
        if self._options.seconds:
            shown.heading(f"The nodes among themselves, for {self._options.seconds:g} s")
            await asyncio.sleep(self._options.seconds)

    def _judge(self, shown: DemoScreen) -> None:
        counts = shown.counts
        shown.close()
        shown.print_counts()
        if counts.undecoded:
            raise Failure(f"{counts.undecoded} of {counts.flows} RPCs could not be decoded.")
        shown.say(Text("Every RPC was decoded; the voters are what they were.", "green"))


def _viewers() -> Interference | None:
    """What lets `kwire watch` see and hold; None where the packages for it are not there."""
    try:
        return Interference(feeding=Feeding(Address("127.0.0.1", 0), b""))
    except Failure:
        return None
