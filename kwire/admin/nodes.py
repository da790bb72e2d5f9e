"""The connections of one client: at most one to each address, opened when it is needed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

from kwire.net.address import Address
from kwire.net.connection import Connection

if TYPE_CHECKING:
    from ssl import SSLContext


class Nodes:
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
        """The open connection to an address, made anew when there is none; `within` in seconds.

        Raises what `Connection.open` raises.
        """
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
        """Give up a connection that does not answer; others may still wait for it to.

        The next call opens another.
        """
        for address, known in list(self._connections.items()):
            if known is connection:
                del self._connections[address]
        if connection.idle:
            await connection.close()
        else:
            self._retired.append(connection)

    async def close(self) -> None:
        """Close them all."""
        connections = [*self._connections.values(), *self._retired]
        self._connections.clear()
        self._retired.clear()
        await asyncio.gather(*(connection.close() for connection in connections))
