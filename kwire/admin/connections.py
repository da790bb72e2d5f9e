"""The connections of one client: at most one to each address, opened when it is needed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

from kwire.net.address import Address
from kwire.net.connection import Connection

if TYPE_CHECKING:
    from ssl import SSLContext


class AdminConnections:
    """Opens, shares and closes connections.

    connect_timeout, request_timeout: seconds, the upper bounds of every attempt.
    """

    def __init__(
        self,
        *,
        client_id: str,
        ssl: SSLContext | None,
        connect_timeout: float,
        request_timeout: float,
    ) -> None:
        self._client_id = client_id
        self._ssl = ssl
        self._connect_timeout = connect_timeout
        self._request_timeout = request_timeout
        self._connections: dict[Address, Connection] = {}
        self._retired: list[Connection] = []
        self._opening: defaultdict[Address, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def connection(self, address: Address, within: float) -> Connection:
        """Return the open connection to an address; open one within so many seconds if needed.

        Raises the errors of `Connection.open`.
        """
        # The lock is per address: operations that start together share one connection, and a node
        # that does not answer delays nobody who asks another.
        async with self._opening[address]:
            known = self._connections.get(address)
            if known is not None and not known.closed:
                return known
            opened = await Connection.open(
                address.host,
                address.port,
                client_id=self._client_id,
                ssl=self._ssl,
                connect_timeout=min(within, self._connect_timeout),
                request_timeout=self._request_timeout,
            )
            self._connections[address] = opened
            return opened

    async def drop(self, connection: Connection) -> None:
        """Stop handing out a connection that does not answer; the next call opens another.

        It stays open until `close` if other operations still wait for answers on it.
        """
        for address, known in list(self._connections.items()):
            if known is connection:
                del self._connections[address]
        if connection.idle:
            await connection.close()
        else:
            self._retired.append(connection)

    async def close(self) -> None:
        """Close every connection."""
        connections = [*self._connections.values(), *self._retired]
        self._connections.clear()
        self._retired.clear()
        await asyncio.gather(*(connection.close() for connection in connections))
