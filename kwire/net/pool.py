"""Connections of one client to many nodes: at most one to each address, opened when needed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf
from typing import TypeVar

from kwire.codec.declaration import Request, Response
from kwire.errors import AnswerLost, ConnectionFailed, ConnectTimedOut, InvalidValue
from kwire.net.address import Address
from kwire.net.awaited import Awaited
from kwire.net.connection import CONNECT_TIMEOUT, Connection
from kwire.net.tasks import cancel_and_wait

T = TypeVar("T")

Connect = Callable[[Address, float], Awaitable[Connection]]
"""Opens a connection to an address within so many seconds. Raises what `Connection.open` raises."""


class ConnectionPool:
    """Opens connections, shares them among concurrent callers, and replaces closed ones.

    connect_timeout: seconds, the upper bound of every opening. awaited: the addresses at which a
    caller of `use` waits.
    """

    def __init__(self, connect: Connect, *, connect_timeout: float = CONNECT_TIMEOUT) -> None:
        self.awaited = Awaited()
        self._connect = connect
        self._connect_timeout = connect_timeout
        self._connections: dict[Address, Connection] = {}
        self._openings: dict[Address, _Opening] = {}
        self._tasks: set[asyncio.Task[Connection]] = set()
        self._retired: list[Connection] = []
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def connection(self, address: Address, within: float = inf) -> Connection:
        """Return the open connection to an address; open one within so many seconds if needed.

        1. An open connection is returned as it is.
        2. If one is being opened, wait for it, no longer than `within`.
        3. Else begin to open one, bounded by `within` and `connect_timeout`.

        All that wait for an opening get its connection, or its failure; the next call opens anew.

        A caller may be cancelled; with the last one that waits the opening ends, too.
        Raises what `connect` raises, ConnectionFailed when the pool is closed, and InvalidValue in
        another event loop than that of the first call.
        """
        self._check_loop()
        # 1.
        connection = self._connections.get(address)
        if connection is not None and not connection.closed:
            return connection
        # 2. The opening is a task of its own: a first caller that is cancelled must not take the
        # connection away from those that wait with it.
        opening = self._openings.get(address)
        if opening is not None:
            return await self._join(address, opening, within)
        # 3. The first caller's bound is that of the opening, which knows best what was missing.
        return await self._join(address, self._begin(address, within), inf)

    async def send(
        self, address: Address, request: Request, version: int | None = None
    ) -> Response:
        """Send a request; return the response. Raises what `connection` and `send` raise."""
        return await (await self.connection(address)).send(request, version)

    async def use(
        self, address: Address, work: Callable[[Connection], Awaitable[T]], within: float = inf
    ) -> T:
        """Return the result of `work` with the connection to an address.

        A connection that fails is dropped. If it is an older one, which the node has closed in the
        meantime, and nothing was sent on it, `work` runs once more on a new one.
        Raises what `connection` and `work` raise.
        """
        with self.awaited.asking(address):
            older = self._connections.get(address)
            connection = await self.connection(address, within)
            try:
                return await work(connection)
            except ConnectionFailed as error:
                await self.drop(connection)
                if isinstance(error, AnswerLost) or connection is not older:
                    raise
            return await work(await self.connection(address, within))

    def _check_loop(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise InvalidValue(
                "the connections belong to another event loop: open a client in each loop, or take"
                " kwire.admin.sync for all"
            )

    async def drop(self, connection: Connection) -> None:
        """Give up a connection that does not answer; the next call opens another.

        It is closed at once if nobody waits for an answer on it, else later: others may have more
        patience, and their answers may still come.
        """
        for address, known in list(self._connections.items()):
            if known is connection:
                del self._connections[address]
        if connection not in self._retired:  # several requests on it may have been lost
            self._retired.append(connection)
        unused = [retired for retired in self._retired if retired.idle]
        self._retired = [retired for retired in self._retired if not retired.idle]
        await asyncio.gather(*(retired.close() for retired in unused))

    async def close(self) -> None:
        """End all openings and close all connections, and return when they are gone.

        Callers that wait for an opening get ConnectionFailed, as do all later ones.
        """
        self._closed = True
        await cancel_and_wait(task for task in self._tasks if not task.done())
        connections = [*self._connections.values(), *self._retired]
        self._connections.clear()
        self._retired.clear()
        await asyncio.gather(*(connection.close() for connection in connections))

    def _begin(self, address: Address, within: float) -> _Opening:
        if self._closed:
            raise _closed(address)
        timeout = min(within, self._connect_timeout)
        task = asyncio.get_running_loop().create_task(self._open(address, timeout))
        self._tasks.add(task)
        opening = self._openings[address] = _Opening(task)
        task.add_done_callback(lambda task: self._forget(address, opening))
        return opening

    async def _open(self, address: Address, timeout: float) -> Connection:
        connection = await self._connect(address, timeout)
        # No await between the opening's end and this line: `close` either cancels the task, and
        # `Connection.open` then aborts its transport, or finds the connection here.
        self._connections[address] = connection
        return connection

    async def _join(self, address: Address, opening: _Opening, within: float) -> Connection:
        task = opening.task
        opening.callers += 1
        try:
            # asyncio.wait leaves the task alone when a caller is cancelled, as `await task` would
            # not.
            await asyncio.wait((task,), timeout=None if within == inf else within)
        finally:
            opening.callers -= 1
            if not opening.callers and not task.done():
                task.cancel()
                # Forgotten at once, so that the next caller does not join what is being cancelled.
                self._openings.pop(address)
        if not task.done():
            raise ConnectTimedOut(
                f"{address} could not be connected to within {within:.1f} s: it is slow, or silent"
            )
        if task.cancelled():
            raise _closed(address)
        return task.result()

    def _forget(self, address: Address, opening: _Opening) -> None:
        self._tasks.discard(opening.task)
        if self._openings.get(address) is opening:
            del self._openings[address]
        if not opening.task.cancelled():
            opening.task.exception()  # retrieved, in case that no caller waits for it any more


@dataclass(slots=True, eq=False)
class _Opening:
    """A connection that is being opened. callers: how many wait for it."""

    task: asyncio.Task[Connection]
    callers: int = 0


def _closed(address: Address) -> ConnectionFailed:
    return ConnectionFailed(f"{address} is not connected to: the client was closed")
