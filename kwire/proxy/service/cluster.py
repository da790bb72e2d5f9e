"""One cluster of the service: its proxy, with its own filters, recording and counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.proxy.addresses.address_book import AddressBook
from kwire.proxy.addresses.bypass import BypassWatch
from kwire.proxy.addresses.new_listeners import NewListeners
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.data_path.allowed_nodes import AllowedNodes
from kwire.proxy.data_path.copies import COPY_LIMIT, Copies
from kwire.proxy.data_path.descriptors import Descriptors
from kwire.proxy.data_path.given_addresses import GivenAddresses
from kwire.proxy.data_path.listener import Limits, Listener
from kwire.proxy.data_path.server import Proxy
from kwire.proxy.data_path.tap import Tap
from kwire.proxy.filters.filter import Filter
from kwire.proxy.flows.counted_flows import CountedFlows
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Event, Notice
from kwire.proxy.flows.interest import Direction, Interest
from kwire.proxy.service.certificate_warnings import CertificateWarnings
from kwire.proxy.service.cluster_filters import ClusterFilters, LoadedFilters
from kwire.proxy.service.config import ClusterConfig
from kwire.proxy.service.events import (
    ClusterChange,
    ClusterNotice,
    ReportEvent,
    ServiceEvent,
    ServiceEventKind,
)
from kwire.proxy.service.metrics import Metrics
from kwire.proxy.service.metrics_families import MeteredProxy
from kwire.proxy.service.recording import ClusterRecording
from kwire.proxy.service.serving import ServeBackend, SimulateController, serve_backend
from kwire.proxy.service.span_export import SpanCollector, SpanExport

if TYPE_CHECKING:
    from kwire.proxy.serve.audit import RoutedChange

View = Callable[[DecodedFlow | Notice], None]
"""Shows what passes, decoded."""

CODES_LIMIT = 64 * 1024
"""Bytes of a response that are copied if only its error codes are wanted."""

PERMANENT = (
    "hold",
    "feed",
    "rewrite_endpoints",
    "advertised_host",
    "allowed_nodes",
    "address_file",
    "node_ports",
    "serve",
    "lend_rights",
    "otlp",
)
"""Keys of a cluster that a reload cannot change: viewers and clients already know the result."""


class ClusterRuntime:
    """The proxy of a cluster while the context lasts. Its listeners are opened by `listen`.

    recording: takes what passes, and is ended with this. descriptors: of all clusters. view: shows
    the decoded flows. has_metrics: count them. on_bypass: called with the reason if a node is named
    that is not behind the proxy of a strict cluster. Raises BadTls, InvalidValue,
    MissingExtra.
    """

    def __init__(
        self,
        loaded: LoadedFilters,
        recording: ClusterRecording | None,
        limits: Limits,
        descriptors: Descriptors | None = None,
        *,
        report: ReportEvent,
        view: View | None = None,
        has_metrics: bool = False,
        simulate: SimulateController | None = None,
        on_bypass: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self.config = config = loaded.config
        self._permanent = config
        self._report = report
        self._view = view
        self._on_bypass = on_bypass
        self.recording = recording
        allowed = AllowedNodes(config.allowed_nodes)
        self._given = GivenAddresses(config.address_file, config.node_ports)
        self.book = AddressBook(config.advertised_host) if config.rewrite_endpoints else None
        self.backend = self._make_backend(allowed, simulate)
        self.filters = ClusterFilters(
            hold=config.hold, feed=config.feed, last=self._last_filters(), tell=self._tell
        )
        self.filters.use(loaded)
        self.feed = self.filters.feed
        self.metrics = Metrics() if has_metrics else None
        self._spans = None if config.otlp is None else self._span_export(config.otlp)
        self.tap = Tap(self._see)
        self.certificates = CertificateWarnings(self._warn_of_certificate)
        self.proxy = Proxy(
            sinks=[self._take],
            wants=self._wants,
            limits=limits,
            copies=Copies(self._copy_limit),
            filters=self.filters.filters if _has_filters(config) else None,
            opened=self._opened,
            descriptors=descriptors,
            counted=self._count,
        )
        # Rewriting and serving give clients the proxy's addresses, whatever the nodes say.
        nodes_advertise = self.book is None and self.backend is None
        bypass = BypassWatch(
            lambda: self.proxy.addresses, self._bypassed, lambda: self.proxy.look_again()
        )
        self._bypass = bypass if nodes_advertise else None
        self._new = (
            None if self.book is None else NewListeners(self.proxy, self.book, allowed, self._given)
        )
        self._parts = AsyncExitStack()

    def _make_backend(
        self, allowed: AllowedNodes, simulate: SimulateController | None
    ) -> ServeBackend | None:
        config = self.config
        if config.serve is None:
            return None
        return serve_backend(
            config.serve,
            [listener.listener for listener in config.listeners],
            config.advertised_host,
            allowed,
            simulate,
            given=self._given,
            lend_rights=config.lend_rights,
            audit=self._audit,
        )

    @property
    def name(self) -> str:
        """The name of the cluster, empty if it is the only one."""
        return self.config.name

    @property
    def filter_files(self) -> tuple[Path, ...]:
        """The scripts and rules, to be loaded again when they are saved."""
        return self.config.filter_files

    @property
    def metered(self) -> MeteredProxy | None:
        """The parts that Prometheus reads; None without metrics."""
        if self.metrics is None:
            return None
        return MeteredProxy(
            metrics=self.metrics,
            proxy=self.proxy,
            tap=self.tap,
            filters=self.filters.filters,
            recorders=() if self.recording is None else self.recording.recorders,
            cluster=self.name,
        )

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as parts:
            parts.push_async_callback(self._end_recording)
            if self._spans is not None:
                self._spans.start()
                parts.push_async_callback(self._end_spans, self._spans)
            for part in (self._given, self.tap, self.feed, self.proxy, self._new):
                if part is not None:
                    await parts.enter_async_context(part)
            if self.backend is not None:
                await parts.enter_async_context(self.backend.run(self.proxy))
                if self.backend.banner:
                    self._tell(ServiceEventKind.SIMULATING, self.backend.banner)
            self._tell_rights()
            self._parts = parts.pop_all()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._parts.aclose()

    async def listen(self, listener: Listener) -> None:
        """Listen in front of one more node. Raises CannotListen, BadTls."""
        await (self.proxy if self._new is None else self._new).listen(listener)

    async def listen_again(self) -> None:
        """Listen where an earlier run did, and give out no address of a listener that is closed."""
        if self._new is not None:
            self._new.forget_closed()
            await self._new.listen_again()

    def announce_feed(self) -> None:
        """Report where viewers find the feed, if there is one."""
        if self.feed is not None:
            self._tell(ServiceEventKind.FEEDING, f"watch it: kwire watch {self.feed.address}")

    def check_reload(self, config: ClusterConfig) -> None:
        """Raise InvalidValue if a configuration changes what only a restart can change."""
        for key in PERMANENT:
            if getattr(config, key) != getattr(self._permanent, key):
                raise InvalidValue(f"cluster {config.name!r}: another {key} needs a restart")
        if self.backend is not None and config.listeners != self._permanent.listeners:
            raise InvalidValue(
                f"cluster {config.name!r} serves: a change of its listeners needs a restart"
            )

    async def change(self, loaded: LoadedFilters, recording: ClusterRecording | None) -> None:
        """Filter and record like this from now on, on connections that are open as well."""
        before_rights, self.config = self.config.lending_sentences, loaded.config
        if self.config.lending_sentences != before_rights:
            self._tell_rights()
        self.filters.use(loaded)
        if _has_filters(self.config) and self.proxy.filters is None:
            # A connection that began without filters has no place where messages can be held.
            self._tell(
                ServiceEventKind.FILTERS_FOR_NEW_CONNECTIONS,
                "filters act on the connections that are opened from now on",
            )
        self.proxy.filters = self.filters.filters if _has_filters(self.config) else None
        if recording is not self.recording:
            before, self.recording = self.recording, recording
            self.proxy.copies.copy_limit = self._copy_limit
            self.proxy.look_again()
            if before is not None:
                await before.end()

    def _last_filters(self) -> list[Filter]:
        filters: list[Filter] = [] if self.book is None else [RewriteEndpoints(self.book)]
        return filters if self.backend is None else [*filters, self.backend.filter]

    async def _end_recording(self) -> None:
        if self.recording is not None:
            await self.recording.end()

    def _span_export(self, url: str) -> SpanExport:
        return SpanExport(
            SpanCollector(url, self.name),
            lambda text: self._tell(ServiceEventKind.SPANS_LOST, text),
        )

    async def _end_spans(self, spans: SpanExport) -> None:
        # In a thread: the collector may be slow.
        await asyncio.to_thread(spans.end)
        is_complete = not (spans.lost or spans.dropped)
        kind = ServiceEventKind.SPANS_SENT if is_complete else ServiceEventKind.SPANS_LOST
        self._tell(kind, spans.summary)

    def _tell_rights(self) -> None:
        for sentence in self.config.lending_sentences:
            self._tell(ServiceEventKind.RIGHTS_LENT, sentence)

    def _audit(self, change: RoutedChange) -> None:
        self._report(ClusterChange(cluster=self.name, change=change))

    def _tell(self, kind: ServiceEventKind, text: str) -> None:
        self._report(ServiceEvent(kind=kind, text=text, cluster=self.name))

    def _opened(self, listener: Listener, address: Address) -> None:
        text = f"listening at {address} in front of {listener.upstream}"
        kind, node = ServiceEventKind.LISTENING, listener.node_id
        self._report(ServiceEvent(kind=kind, text=text, cluster=self.name, node=node))
        self._tell_what_is_not_kept(listener, address)
        self.certificates.check(listener)

    def _tell_what_is_not_kept(self, listener: Listener, address: Address) -> None:
        """Tell of an address that is given out, and that the next run would not listen at."""
        gives_out = self.book is not None or self.backend is not None
        # Who serves with a port of the system's choice wants no lasting address.
        is_configured = listener.guard is None and (listener.listen.port or self.book is None)
        if not gives_out or is_configured or self.config.address_file is not None:
            return
        node = "" if listener.node_id is None else f"{listener.node_id}@"
        at = f"{listener.listen.host}:{address.port}={listener.upstream}"
        text = (
            f"a restarted proxy would not listen at {address}, where nodes and clients that were"
            f" given this address go on connecting: give --address-file (in a file: address_file),"
            f" or --listen {node}{at}"
        )
        self._tell(ServiceEventKind.ADDRESS_NOT_KEPT, text)

    def _warn_of_certificate(self, sentence: str) -> None:
        self._tell(ServiceEventKind.CERTIFICATE_INVALID, sentence)

    def _bypassed(self, notice: Notice) -> None:
        self.proxy.tell(notice)
        if self.config.strict:
            self._on_bypass(notice.text)

    @property
    def _copies_all(self) -> bool:
        """True if somebody wants whole messages."""
        users = (self._view, self.recording, self.feed, self._spans)
        return any(user is not None for user in users)

    @property
    def _copy_limit(self) -> int:
        """The bytes of a frame that are copied: no more than somebody wants, to save memory."""
        if self._view is not None or self.feed is not None:
            return COPY_LIMIT
        recorded = 0 if self.recording is None else self.recording.copy_limit
        return min(max(recorded, CODES_LIMIT), COPY_LIMIT)

    def _wants(self, key: int, version: int, direction: Direction) -> Interest:
        if self._copies_all:
            return Interest.TAP
        if self.metrics is not None and direction is Direction.RESPONSE:
            return Interest.TAP
        has_addresses = self._bypass is not None and self._bypass.wants(key, version, direction)
        return Interest.TAP if has_addresses else Interest.COUNT

    def _count(self, counted: CountedFlows) -> None:
        if self.metrics is not None:
            self.metrics.count(counted)

    def _take(self, event: Event) -> None:
        """Give an event of the data path to everybody who wants it."""
        if isinstance(event, Notice):
            self._report(ClusterNotice(cluster=self.name, notice=event))
        for sink in (self.recording, self.feed, self.metrics, self._spans):
            if sink is not None:
                sink(event)
        users = (self.metrics, self._view, self._bypass)
        if any(user is not None for user in users):
            self.tap(event)

    def _see(self, seen: DecodedFlow | Notice) -> None:
        """Give a decoded flow to everybody who wants it."""
        if self._bypass is not None:
            self._bypass.see(seen)
        if self.metrics is not None:
            self.metrics.see(seen)
        if self._view is not None:
            self._view(seen)


def _has_filters(config: ClusterConfig) -> bool:
    """True if a message can meet a filter now, or when a file is saved or a viewer commands."""
    permanent = (config.hold, config.feed, config.serve)
    return (
        bool(config.filter_files)
        or config.rewrite_endpoints
        or any(key is not None for key in permanent)
    )
