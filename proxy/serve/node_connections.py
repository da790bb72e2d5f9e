"""The proxy's own connections to nodes, one for each address, opened when they are needed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress

from kwire.address import Address
from kwire.connection import Connection
from kwire.declaration import Request, Response
from kwire.errors import KwireError
from kwire.observer.live_image import Open
from proxy.tls import ClientTls

CONNECT_TIMEOUT = 2.0


def opening(tls: ClientTls | None) -> Open:
    """What connects to nodes. Raises BadTls."""
    context = None if tls is None else tls.context()

    async def open(address: Address) -> Connection:
        return await Connection.open(
            address.host,
            address.port,
            client_id="kwire-proxy",
            ssl=context,
            connect_timeout=CONNECT_TIMEOUT,
        )

    return open


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
