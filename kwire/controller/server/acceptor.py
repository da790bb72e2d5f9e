"""Takes the connections of one listening socket, as many and as fast as the node's limits allow.

As in Kafka's Acceptor, a connection that has no place yet waits, and those behind it wait with it:
in the meantime the listening socket is not asked for more.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from socket import gaierror, socket
from typing import cast

from kwire.controller.quotas.connection_quotas import ConnectionQuotas, CountedConnection
from kwire.errors import InvalidValue
from kwire.net.accepting import stop_accepting

log = logging.getLogger(__name__)

Take = Callable[[asyncio.Transport, CountedConnection], None]


class Acceptor:
    """Accepts connections for a listener; `take` is called with each that has its place.

    The transport is not read, and its protocol is to be replaced.
    """

    def __init__(self, listener: str, quotas: ConnectionQuotas, take: Take) -> None:
        self._listener = listener
        self._quotas = quotas
        self._take = take
        self._servers: list[asyncio.Server] = []
        self._paused: list[socket] = []
        self._waiting: deque[_Accepted] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._admitting = False
        self._switching: asyncio.Task[None] | None = None
        self._closed = False
        self.port = 0

    async def start(self, host: str, port: int, bound: socket | None = None) -> None:
        """Listen at a bound socket, or at host and port.

        Raises OSError if the port is taken, InvalidValue if the host cannot be resolved.
        """
        loop = asyncio.get_running_loop()
        if bound is not None:
            server = await loop.create_server(self._accepted, sock=bound)
        else:
            try:
                server = await loop.create_server(self._accepted, host or None, port)
            except (gaierror, UnicodeError):
                text = f"listener {self._listener}: {host!r} cannot be resolved: give a host"
                raise InvalidValue(f"{text} or an address of this machine") from None
        self._servers = [server]
        self.port = int(server.sockets[0].getsockname()[1])
        self._quotas.add_listener(self._listener)
        self._quotas.changed.append(self._admit)

    async def close(self) -> None:
        """Listen no more, and close what waits."""
        if self._closed or not self.port:
            return
        self._closed = True
        self._quotas.changed.remove(self._admit)
        if self._timer is not None:
            self._timer.cancel()
        if self._switching is not None:
            await asyncio.wait([self._switching])
        await stop_accepting(*self._servers)
        for listening in self._paused:
            listening.close()
        for connection in self._waiting:
            connection.transport.abort()
        self._waiting.clear()
        self._quotas.remove_listener(self._listener)

    def _accepted(self) -> _Accepted:
        return _Accepted(self._arrived)

    def _arrived(self, connection: _Accepted) -> None:
        if self._closed:  # asyncio may report a connection that it took just before the close
            connection.transport.abort()
            return
        self._waiting.append(connection)
        self._admit()

    def _admit(self) -> None:
        """Give the connections that wait their places, the first one first, as far as there are.

        1. The rates count a connection when its turn comes: it waits for what they say.
        2. Then it waits for a place.
        3. If its address has as many as it may have: close it.
        """
        if self._admitting or self._closed:
            return
        self._admitting = True
        try:
            while self._waiting and self._is_due(self._waiting[0]):
                connection = self._waiting.popleft()
                if not connection.is_lost:
                    self._place(connection)
        finally:
            self._admitting = False
        self._pause_or_go_on()

    def _is_due(self, connection: _Accepted) -> bool:
        loop = asyncio.get_running_loop()
        now = loop.time()
        # 1.
        if connection.due is None:
            wait = self._quotas.throttle_time_ms(self._listener, int(now * 1000)) / 1000
            connection.due = now + wait
            if wait:
                self._timer = loop.call_later(wait, self._admit)
        # 2.
        return now >= connection.due and self._quotas.has_place(self._listener)

    def _place(self, connection: _Accepted) -> None:
        transport, host = connection.transport, connection.host
        now = int(asyncio.get_running_loop().time() * 1000)
        counted = self._quotas.take(self._listener, host, transport.abort, now)
        if counted is None:
            # 3.
            limit = self._quotas.limit_of(host)
            log.info("a connection of %s is refused: it has %d, the most allowed", host, limit)
            transport.abort()
        else:
            connection.is_placed = True
            self._take(transport, counted)

    def _pause_or_go_on(self) -> None:
        """Ask the socket for connections only while none waits."""
        if self._is_to_switch and self._switching is None:
            self._switching = asyncio.get_running_loop().create_task(self._switch())

    @property
    def _is_to_switch(self) -> bool:
        return bool(self._waiting) != bool(self._paused) and not self._closed

    async def _switch(self) -> None:
        loop = asyncio.get_running_loop()
        while self._is_to_switch:
            if self._waiting:
                # The duplicates keep listening, so that the kernel goes on with its queue.
                servers = self._servers
                self._paused = [s.dup() for server in servers for s in server.sockets]
                await stop_accepting(*servers)
                self._servers = []
            else:
                paused, self._paused = self._paused, []
                self._servers = [await loop.create_server(self._accepted, sock=s) for s in paused]
        self._switching = None


class _Accepted(asyncio.Protocol):
    """A connection that waits for its place. due: when the rates let it in, by the loop's clock."""

    transport: asyncio.Transport

    def __init__(self, arrived: Callable[[_Accepted], None]) -> None:
        self._arrived = arrived
        self.host = "unknown"
        self.due: float | None = None
        self.is_placed = self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait, unread."""
        self.transport = cast(asyncio.Transport, transport)
        self.host = (transport.get_extra_info("peername") or (self.host, 0))[0]
        self.transport.pause_reading()
        # Python 3.11.2 forgets the pause of a transport that has just been made.
        asyncio.get_running_loop().call_soon(self._pause_again)
        self._arrived(self)

    def _pause_again(self) -> None:
        if not self.is_placed and not self.transport.is_closing():
            self.transport.resume_reading()
            self.transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note that the client is gone."""
        self.is_lost = True
