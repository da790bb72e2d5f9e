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


class Opener:
    """Connects to nodes.

    security: how, read from its files at the start and by `renew`. Raises BadTls, InvalidValue.
    """

    def __init__(self, security: Callable[[], Security]) -> None:
        self._read = security
        self._security, self._context = self._prepared()

    @property
    def with_sasl(self) -> bool:
        """Whether nodes want clients to authenticate by SASL, as far as is known here."""
        return self._security.sasl is not None

    async def __call__(self, address: Address) -> Connection:
        """A new connection. Raises what `Connection.open` raises."""
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
        """Read the files again, for the connections to come; gives what takes that back."""
        before = self._security, self._context
        self._security, self._context = self._prepared()

        def take_back() -> None:
            self._security, self._context = before

        return take_back

    def _prepared(self) -> tuple[Security, SSLContext | None]:
        security = self._read()
        return security, None if security.tls is None else security.tls.context()


class NodeConnections:
    """Requests overlap on a connection; one that has ended is replaced."""

    def __init__(self, open: Open) -> None:
        self._open = open
        self._connections: dict[Address, Connection] = {}
        self._locks: defaultdict[Address, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def to(self, address: Address) -> Connection:
        """An open connection. Raises what opening raises."""
        async with self._locks[address]:
            connection = self._connections.get(address)
            if connection is None or connection.closed:
                connection = self._connections[address] = await self._open(address)
        return connection

    async def ask(self, address: Address, request: Request, version: int | None = None) -> Response:
        """The node's answer. Raises what opening and `Connection.send` raise."""
        return await (await self.to(address)).send(request, version)

    async def close(self) -> None:
        """End them all."""
        for connection in self._connections.values():
            with suppress(KwireError):
                await connection.close()
        self._connections.clear()
