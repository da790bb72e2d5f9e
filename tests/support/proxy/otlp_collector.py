"""A collector of OpenTelemetry over HTTP: reads requests by the classes of OpenTelemetry's own."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class ReceivedSpans:
    """Spans that came.

    url: of the collector. status: with which it answers. open: it answers while this is set.
    resources: the attributes of the resource, for each span.
    """

    url: str = ""
    status: int = 200
    spans: list[Any] = field(default_factory=list)
    resources: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)

    def named(self, name: str) -> list[Any]:
        """The spans of an API."""
        return [span for span in self.spans if span.name == name]


@contextmanager
def otlp_collector() -> Iterator[ReceivedSpans]:
    """Run a collector while the context lasts."""
    received = ReceivedSpans()
    received.open.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            received.open.wait(30)
            if received.status == 200:
                _take(received, body)
            self.send_response(received.status)
            self.send_header("Location", "/login")
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *values: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received.url = f"http://127.0.0.1:{server.server_port}"
    serving = threading.Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    try:
        yield received
    finally:
        received.open.set()
        server.shutdown()
        serving.join()
        server.server_close()


def _take(received: ReceivedSpans, body: bytes) -> None:
    received.bodies.append(body)
    for group in ExportTraceServiceRequest.FromString(body).resource_spans:
        named = {item.key: item.value.string_value for item in group.resource.attributes}
        for scope in group.scope_spans:
            received.spans += scope.spans
            received.resources += [named] * len(scope.spans)
