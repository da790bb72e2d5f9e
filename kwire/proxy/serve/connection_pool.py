"""The proxy's own connections to nodes, one for each address, opened when they are needed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from ssl import SSLContext

from kwire.codec.declaration import Request, Response
from kwire.errors import KwireError
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.security import Security
from kwire.observer.live_image import Open

CONNECT_TIMEOUT = 2.0
"""Seconds; a standing node must not use up the time in which a new leader is found."""


class NodeConnector:
    """Connects to nodes with the proxy's own security.

    read_security: reads it from its files, at the start and by `renew`. Raises BadTls,
    InvalidValue.
    """

    def __init__(self, read_security: Callable[[], Security]) -> None:
        self._read_security = read_security
        self._security, self._context = self._read()

    @property
    def with_sasl(self) -> bool:
        """True if connections authenticate by SASL, so that nodes want it of clients as well."""
        return self._security.sasl is not None

    async def __call__(self, address: Address) -> Connection:
        """Open a connection. Raises what `Connection.open` raises."""
        tls = self._security.tls
        return await Connection.open(
            address.host,
            address.port,
            client_id="kwire-proxy",
            ssl=self._context,
            server_hostname=None if tls is None else tls.name,
            sasl=self._security.sasl,
            connect_timeout=CONNECT_TIMEOUT,
        )

    def renew(self) -> Callable[[], None]:
        """Read the files again for later connections; return a function that undoes it."""
        before = self._security, self._context
        self._security, self._context = self._read()

        def undo() -> None:
            self._security, self._context = before

        return undo

    def _read(self) -> tuple[Security, SSLContext | None]:
        security = self._read_security()
        return security, None if security.tls is None else security.tls.context()


class ConnectionPool:
    """Open connections by address. Requests overlap on a connection; a closed one is replaced."""

    def __init__(self, open: Open) -> None:
        self._open = open
        self._connections: dict[Address, Connection] = {}
        self._locks: defaultdict[Address, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def connection(self, address: Address) -> Connection:
        """Return an open connection to an address. Raises what opening raises."""
        # The lock keeps two requests from opening a connection each, of which one would stay open.
        async with self._locks[address]:
            connection = self._connections.get(address)
            if connection is None or connection.closed:
                connection = self._connections[address] = await self._open(address)
        return connection

    async def ask(self, address: Address, request: Request, version: int | None = None) -> Response:
        """Send a request; return the response. Raises what `connection` and `send` raise."""
        return await (await self.connection(address)).send(request, version)

    async def close(self) -> None:
        """Close all connections."""
        for connection in self._connections.values():
            with suppress(KwireError):
                await connection.close()
        self._connections.clear()
