"""Runs a proxy and shows what passes, until Ctrl-C or until nobody reads the output any more."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from kwire.cli.certificate_warnings import CertificateWarnings
from kwire.cli.errors import CommandFailed
from kwire.cli.flow_counts import FlowCounts
from kwire.cli.flow_json import flow_data, notice_data
from kwire.cli.flow_lines import flow_lines, notice_lines
from kwire.cli.printer import Printer
from kwire.cli.screen import screen
from kwire.cli.service_log import NoticeLog, logging_to_stderr
from kwire.net.metrics_server import MetricsServer
from kwire.net.tasks import cancel_and_wait
from kwire.operating_system import TERMINATION, on_signal
from kwire.proxy import DecodedFlow, Listener, Notice, Proxy, Sink, Tap
from kwire.proxy.addresses import NewListeners
from kwire.proxy.addresses.bypass import BypassWatch
from kwire.proxy.capture.recorder import Recorder, files_at
from kwire.proxy.flows.subject import Subject
from kwire.proxy.service.metrics import Metrics
from kwire.proxy.service.metrics_families import Metered, ProxyCollector

if TYPE_CHECKING:
    from kwire.cli.interference import Interference
    from kwire.cli.record_topic import TopicRecording
    from kwire.net.address import Address
    from kwire.proxy.flows.language import Expression


DRAIN = 30.0
"""Seconds that requests have to be answered after SIGTERM."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is shown: APIs in `only`, or all, without those in `hidden`, of which `view` is so."""

    only: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    view: Expression | None = None

    def __contains__(self, decoded: DecodedFlow) -> bool:
        api = decoded.flow.api
        if api in self.hidden or (self.only and api not in self.only):
            return False
        return self.view is None or self.view(Subject.of_flow(decoded))


class Display:
    """How to show what passes, and the counts of what has passed.

    serving: whether it is told of each flow who answered it. secrets: show those in messages.
    """

    def __init__(
        self,
        selection: Selection,
        *,
        verbose: bool = False,
        as_json: bool = False,
        secrets: bool = False,
    ) -> None:
        self.selection = selection
        self.secrets = secrets
        self.verbose = verbose
        self.as_json = as_json
        self.serving = False
        self.counts = FlowCounts()
        self._console = screen()

    def show(self, seen: DecodedFlow | Notice) -> None:
        """Print a flow, or a notice."""
        self.counts.add(seen)
        if isinstance(seen, DecodedFlow) and seen not in self.selection:
            return
        if isinstance(seen, Notice):
            self._show_notice(seen)
        elif self.as_json:
            _write(flow_data(seen, tree=self.verbose, secrets=self.secrets))
        else:
            lines = flow_lines(
                seen,
                self._console,
                tree=self.verbose,
                handling=self.serving,
                secrets=self.secrets,
            )
            self._console.print(lines)

    def _show_notice(self, notice: Notice) -> None:
        if self.as_json:
            _write(notice_data(notice))
        else:
            self._console.print(notice_lines(notice, self._console))

    def end(self, dropped: int) -> None:
        """Print the counts."""
        if self.as_json:
            _write(self.counts.data() | {"dropped": dropped})
            return
        console = screen(stderr=True)
        console.print(Text(f"\n{self.counts.sentence}", "bold"))
        if dropped:
            console.print(f"{dropped} were not shown: the output is too slow", style="yellow")
        if self.counts.flows:
            console.print(self.counts.table())
            if (sentence := self.counts.leader_sentence) is not None:
                console.print(sentence)


@dataclass(frozen=True, slots=True)
class Recording:
    """Where to write down what passes, or what is meant of it: a file, or a folder for many.

    frame_limit: bytes of a frame, else all.
    """

    path: Path
    meant: Expression | None = None
    show_secrets: bool = False
    frame_limit: int | None = None

    @contextmanager
    def recorded(self) -> Iterator[Recorder]:
        """The sink that records; at the end it is told what was, an end by an error at once.

        Raises CannotRecord, OSError, and Exit with 1 in the end where not all could be written.
        """
        recorder = Recorder(
            files_at(self.path),
            meant=self.meant,
            show_secrets=self.show_secrets,
            frame_limit=self.frame_limit,
            stopped=_warn,
        )
        try:
            with recorder:
                yield recorder
        finally:
            said = f"{recorder.events} events recorded at {self.path}"
            if not recorder.events and not self.path.is_dir():
                said = f"no event was recorded: there is no {self.path}"
            lost = f", {recorder.dropped} not: the disk is too slow" if recorder.dropped else ""
            screen(stderr=True).print(said + lost, style="yellow" if lost else "dim")
        if recorder.failure:
            raise typer.Exit(1)


def run(
    listeners: Sequence[Listener],
    how: Display,
    recordings: Sequence[Recording | TopicRecording] = (),
    interference: Interference | None = None,
    metrics: Address | None = None,
    log_format: str | None = None,
    *,
    strict: bool = False,
) -> None:
    """Stand in front of the nodes until SIGTERM, which lets requests under way be answered, or
    Ctrl-C, which is a KeyboardInterrupt here as everywhere. metrics: where to serve them. strict:
    raise CommandFailed when a node is named that is not behind the proxy."""
    with _recorded(recordings) as sinks, _logged(log_format, sinks):
        asyncio.run(_run(listeners, how, sinks, interference, metrics, strict=strict))


@contextmanager
def _recorded(recordings: Sequence[Recording | TopicRecording]) -> Iterator[list[Sink]]:
    """The sinks that record."""
    with ExitStack() as open_:
        yield [open_.enter_context(one.recorded()) for one in recordings]


@contextmanager
def _logged(form: str | None, sinks: list[Sink]) -> Iterator[None]:
    """What is logged, notices among it, is written to stderr; where no form is given, nothing."""
    if form is None:
        yield
        return
    sinks.append(NoticeLog())
    with logging_to_stderr(form, "info"):
        yield


async def _run(
    listeners: Sequence[Listener],
    how: Display,
    sinks: Sequence[Sink],
    interference: Interference | None,
    metrics: Address | None,
    *,
    strict: bool,
) -> None:
    loop = asyncio.get_running_loop()
    unread, terminated = asyncio.Event(), asyncio.Event()
    counts, bypass = Metrics(), _Bypass()

    def view(seen: DecodedFlow | Notice) -> None:
        bypass.see(seen)
        weight = (seen.flow if isinstance(seen, DecodedFlow) else seen).weight
        printer.put(lambda: how.show(seen), weight)
        counts.see(seen)

    with Printer(lambda: loop.call_soon_threadsafe(unread.set)) as printer:
        tap = Tap(view)
        how.serving = interference is not None and interference.serving is not None
        try:
            async with (
                tap,
                _proxy(listeners, [*sinks, counts, tap], interference, terminated) as proxy,
                _served(metrics, counts, proxy, tap, interference),
            ):
                if interference is None or not interference.decides_addresses:
                    bypass.watch(proxy)
                ends = (terminated, unread, *([bypass.found] if strict else []))
                if await _either(*ends) is terminated:
                    await proxy.drain(DRAIN)
        except asyncio.CancelledError:
            printer.put(lambda: how.end(printer.dropped + tap.dropped))
            raise
        printer.put(lambda: how.end(printer.dropped + tap.dropped))
    if strict and bypass.found.is_set():
        raise CommandFailed(bypass.reason)


class _Bypass:
    """Notes the first node that is named and not behind the proxy.

    found: set from then on. reason: the notice of it.
    """

    def __init__(self) -> None:
        self.found = asyncio.Event()
        self.reason = ""
        self._watch: BypassWatch | None = None

    def watch(self, proxy: Proxy) -> None:
        """Look at the flows of a proxy from now on, and have it tell its sinks."""

        def tell(notice: Notice) -> None:
            proxy.tell(notice)
            self.reason = notice.text
            self.found.set()

        self._watch = BypassWatch(lambda: proxy.addresses, tell)

    def see(self, seen: DecodedFlow | Notice) -> None:
        """Look at a flow, once there is a proxy to watch."""
        if self._watch is not None:
            self._watch.see(seen)


@asynccontextmanager
async def _proxy(
    listeners: Sequence[Listener],
    sinks: list[Sink],
    interference: Interference | None,
    terminated: asyncio.Event,
) -> AsyncIterator[Proxy]:
    """Open the proxy with all that interferes, and announce it; SIGTERM sets `terminated`."""
    certificates = CertificateWarnings(lambda text: _warn(text, "yellow"))
    feed = None if interference is None else interference.feed
    serving = None if interference is None else interference.serving
    book = None if interference is None else interference.book
    async with (
        feed or nullcontext(),
        Proxy(
            [] if serving else listeners,
            sinks=[*sinks, *([] if feed is None else [feed])],
            filters=None if interference is None else interference.filters,
            opened=lambda listener, address: _announce(listener, address, certificates),
        ) as proxy,
        nullcontext() if serving is None else serving.run(proxy),
    ):
        on_signal(TERMINATION, terminated.set)
        if serving is not None and serving.banner:
            screen(stderr=True).print(serving.banner, style="bold white on red")
        if feed is not None:
            _say(f"watch it: kwire watch {feed.address}")
        new = nullcontext() if book is None else NewListeners(proxy, book)
        async with new, interference or nullcontext():
            yield proxy


async def _either(*events: asyncio.Event) -> asyncio.Event:
    """Wait until one of them is set, and return it."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel_and_wait(waiting)
    return next(event for event in events if event.is_set())


def _served(
    where: Address | None,
    counts: Metrics,
    proxy: Proxy,
    tap: Tap,
    interference: Interference | None,
) -> AbstractAsyncContextManager[object]:
    """Serve the metrics of the proxy, if that is wanted."""
    if where is None:
        return nullcontext()
    filters = None if interference is None else interference.filters
    metered = Metered(metrics=counts, proxy=proxy, tap=tap, filters=filters)
    return MetricsServer(ProxyCollector(lambda: [metered]), where.host, where.port)


def _warn(reason: str, style: str = "red") -> None:
    screen(stderr=True).print(reason, style=style, markup=False, highlight=False)


def _write(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    screen(stderr=True).print(text, style="dim")


def _announce(listener: Listener, address: Address, certificates: CertificateWarnings) -> None:
    node = "" if listener.node_id is None else f" of node {listener.node_id}"
    _say(f"listening at {address} in front of {listener.upstream}{node}")
    certificates.look(listener)
