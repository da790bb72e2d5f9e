"""The least that stands between two Kafka nodes: copies bytes both ways and counts connections."""

import contextlib
import socket
import socketserver
import threading
from typing import Self

from real_kafka import Address


class Relay(socketserver.ThreadingTCPServer):
    """A port of 127.0.0.1 that leads to ``upstream`` while the context lasts."""

    daemon_threads = True

    def __init__(self, upstream: Address) -> None:
        super().__init__(("127.0.0.1", 0), Connection)
        self.upstream = upstream
        self.connections = 0

    @property
    def address(self) -> Address:
        """The relay's address."""
        return Address("127.0.0.1", self.socket.getsockname()[1])

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
        self.server_close()


class Connection(socketserver.BaseRequestHandler):
    """Copies what a client sends, and what comes back, until both have ended."""

    server: Relay
    request: socket.socket

    def handle(self) -> None:
        """Called in a thread of its own."""
        self.server.connections += 1
        upstream = self.server.upstream
        with (
            contextlib.suppress(OSError),
            socket.create_connection((upstream.host, upstream.port)) as node,
        ):
            back = threading.Thread(target=_copy, args=(node, self.request), daemon=True)
            back.start()
            _copy(self.request, node)
            back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
