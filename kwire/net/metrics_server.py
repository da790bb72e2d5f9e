"""Serves metrics over HTTP from the event loop of what they measure: no thread reads what changes.

Pages beside them say whether the process lives and is ready, for whoever supervises it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Self

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from kwire.errors import LocalError
from kwire.net.address import Address, why_not_bound
from kwire.net.tasks import cancel_and_wait

log = logging.getLogger(__name__)

HEAD_LIMIT = 16 * 1024
PATIENCE = 10.0
"""Seconds that a request may take to arrive, and its answer to leave."""


Page = Callable[[], tuple[bool, str]]
"""Tells whether all is well, which is status 200 or 503, and a line of text."""


class MetricsServer:
    """GET /metrics, and each page by its path, while `async with` lasts.

    port: 0 takes a free one, which `port` then names. OSError where the port is taken.
    """

    def __init__(
        self, collector: Collector, host: str, port: int, pages: Mapping[str, Page] | None = None
    ) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(collector)
        self._pages = pages or {}
        self._host, self.port = host, port
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        try:
            self._server = await asyncio.start_server(
                self._accept, self._host, self.port, limit=HEAD_LIMIT
            )
        except (OSError, UnicodeError) as error:
            where = Address(self._host, self.port)
            raise LocalError(f"no metrics at {where}: {why_not_bound(error)}") from error
        self.port = self._server.sockets[0].getsockname()[1]
        log.info("metrics are at http://%s:%d/metrics", self._host, self.port)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        await asyncio.sleep(0)  # what was accepted just now has its task
        await cancel_and_wait(self._tasks)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; cut off connections that send no HTTP, or too slowly."""
        gone = (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
        try:
            with suppress(*gone):
                async with asyncio.timeout(PATIENCE):
                    writer.write(self._answer(await reader.readuntil(b"\r\n\r\n")))
                    await writer.drain()
                    writer.close()
                    await writer.wait_closed()
        finally:
            writer.transport.abort()

    def _answer(self, head: bytes) -> bytes:
        """Return the response: 405 for methods other than GET and HEAD, 400 for what is no HTTP."""
        line, *fields = head.decode("latin-1").split("\r\n")
        match line.split(" "):
            case ["GET" | "HEAD" as method, target, _]:
                status, kind, body = self._page(target.partition("?")[0], _headers(fields))
                return _response(status, kind, body, head_only=method == "HEAD")
            case [_, _, _]:
                return _response("405 Method Not Allowed", "text/plain", b"GET reads them\n")
        return _response("400 Bad Request", "text/plain", b"this speaks HTTP\n")

    def _page(self, path: str, headers: Mapping[str, str]) -> tuple[str, str, bytes]:
        """Return status, type and body of a path; 404 for an unknown one."""
        if path == "/metrics":
            encode, kind = choose_encoder(headers.get("accept", ""))
            return "200 OK", kind, encode(self._registry)
        if path in self._pages:
            well, text = self._pages[path]()
            status = "200 OK" if well else "503 Service Unavailable"
            return status, "text/plain", f"{text}\n".encode()
        return "404 Not Found", "text/plain", b"the metrics are at /metrics\n"


def _headers(fields: list[str]) -> Mapping[str, str]:
    parts = (field.partition(":") for field in fields)
    return {name.strip().lower(): value.strip() for name, _, value in parts}


def _response(status: str, kind: str, body: bytes, *, head_only: bool = False) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + (b"" if head_only else body)
