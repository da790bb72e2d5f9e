"""Sends the spans of RPCs to a collector of OpenTelemetry, by the exporter of its own library.

A collector that is slow or away holds up nothing: its spans wait in a queue that has an end, and
those that find no room, or that it does not take, are counted.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain, islice
from threading import Event as Signal
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kwire.errors import InvalidValue
from kwire.extras import importing
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Event, Flow
from kwire.proxy.flows.spans import RpcSpan, SpanIds, Spans
from kwire.text.untrusted import cut_repr

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext

QUEUE_LIMIT = 16 * 1024 * 1024
"""Bytes of flows that may wait to be sent."""

BATCH = 500
"""Spans of one request to the collector."""

_PAUSE = 0.5  # seconds between two looks at the queue
_TIMEOUT = 5.0  # seconds for a request to the collector, its repetitions included
_LIBRARY = logging.getLogger("opentelemetry.exporter")


def endpoint(url: str) -> str:
    """Return the address of the collector's traces: `/v1/traces` where a URL has no path.

    Raises InvalidValue for what is no URL of http or https.
    """
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # of a port that is no number
        is_url = False
    if not is_url:
        shown = "the URL" if "@" in url else cut_repr(url)  # it may have a password
        raise InvalidValue(f"{shown} is no collector: write http://HOST:4318")
    if parts.username or parts.password:
        raise InvalidValue(
            "a password in a URL is seen by others: OTEL_EXPORTER_OTLP_HEADERS is not"
        )
    return url if parts.path.strip("/") else f"{url.rstrip('/')}/v1/traces"


class SpanCollector:
    """A collector at a URL. failed: its last reason to take no spans. Raises MissingExtra."""

    def __init__(self, url: str, service: str = "kafka") -> None:
        with importing("opentelemetry", "otel", "sending spans"):
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from requests import Session
        self._service = service or "kafka"
        session = Session()
        session.max_redirects = 0  # what leads elsewhere, a page to log in for one, takes no spans
        self._exporter = OTLPSpanExporter(endpoint(url), timeout=_TIMEOUT, session=session)
        self.failed = ""

    def send(self, spans: list[RpcSpan]) -> bool:
        """Send spans; return False if the collector did not take them."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        reason = _FirstMessage()
        _LIBRARY.addHandler(reason)
        _LIBRARY.propagate = False  # the caller says it, once
        try:
            result = self._exporter.export([_readable(span, self._service) for span in spans])
        finally:
            _LIBRARY.removeHandler(reason)
        self.failed = reason.text or "it did not take them"
        return result is SpanExportResult.SUCCESS

    def close(self) -> None:
        """Wait for no repetition of a request any more."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]


class SpanExport:
    """A sink that sends spans in a thread from `start` until `end`.

    report: is told when the collector begins to take no spans. sent: spans that it took. lost: that
    it did not take. dropped: flows that found no room.
    """

    def __init__(self, collector: SpanCollector, report: Callable[[str], None]) -> None:
        self._collector = collector
        self._report = report
        self._queue: deque[Flow] = deque()
        self._taken = self._read = 0  # bytes; as in the recorder no lock is needed
        self._spans = Spans()
        self._ending = Signal()
        self._fails = False
        self._thread = Thread(target=self._run, name="spans", daemon=True)
        self.sent = self.lost = self.dropped = 0

    def start(self) -> None:
        """Send what comes from now on."""
        self._thread.start()

    def __call__(self, event: Event) -> None:
        """Take an event from the data path."""
        if not isinstance(event, Flow):
            return
        if self._taken + event.weight - self._read > QUEUE_LIMIT:
            self.dropped += 1
            return
        self._taken += event.weight
        self._queue.append(event)

    def end(self) -> None:
        """Send what waits, if the collector takes it; otherwise count it as lost."""
        self._ending.set()
        if self._fails:
            self._collector.close()
        self._thread.join()

    @property
    def summary(self) -> str:
        """A sentence of what was sent and what was not."""
        text = f"{self.sent} spans sent"
        if self.lost:
            text += f", {self.lost} not: {self._collector.failed}"
        if self.dropped:
            text += f", {self.dropped} RPCs without spans: too much passes"
        return text

    def _run(self) -> None:
        while not self._ending.wait(_PAUSE):
            self._send_all(self._waiting())
        self._send_all(chain(self._waiting(), self._spans.rest()))

    def _waiting(self) -> Iterator[RpcSpan]:
        while self._queue:
            flow = self._queue.popleft()
            self._read += flow.weight
            yield from self._spans.add(DecodedFlow(flow))

    def _send_all(self, spans: Iterator[RpcSpan]) -> None:
        while batch := list(islice(spans, BATCH)):
            self._send(batch)

    def _send(self, batch: list[RpcSpan]) -> None:
        if self._ending.is_set() and self._fails:
            self.lost += len(batch)
        elif self._collector.send(batch):
            self.sent += len(batch)
            self._fails = False
        else:
            self.lost += len(batch)
            if not self._fails:
                self._report(f"the collector takes no spans: {self._collector.failed}")
            self._fails = True


class _FirstMessage(logging.Handler):
    """Keeps what the library logs first: its results have no reason."""

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        # Behind it the library says how long it waits until it tries again.
        self.text = self.text or record.getMessage().partition(" encountered while")[0]


def _readable(span: RpcSpan, service: str) -> ReadableSpan:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Link, SpanKind, Status, StatusCode

    resource = {"service.name": service, "service.instance.id": span.node}
    return ReadableSpan(
        span.name,
        _context(span.ids),
        None if span.parent is None else _context(span.parent),
        Resource(resource),
        span.attributes,
        links=[Link(_context(ids), {"kwire.about": about}) for ids, about in span.links],
        kind=SpanKind.SERVER,
        status=Status(StatusCode.ERROR, span.error) if span.error else Status(),
        start_time=span.start,
        end_time=span.end,
    )


def _context(ids: SpanIds) -> SpanContext:
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(ids.trace, ids.span, is_remote=False, trace_flags=TraceFlags(1))
