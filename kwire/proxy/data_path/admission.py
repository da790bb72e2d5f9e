"""The places for clients' connections, in all and of each address."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import cast

from kwire.net.address import Address
from kwire.proxy.data_path.listener import Limits


class Places:
    """Counts the connections of each host."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._hosts: Counter[str] = Counter()
        self._taken = 0
        self._told: set[str] = set()

    def refusal(self, host: str) -> str:
        """Return why a host gets no more places; "" if it does."""
        limits = self._limits
        if self._taken >= limits.connections:
            return f"{self._taken} connections are open, the most allowed"
        if self._hosts[host] >= limits.connections_per_ip:
            return f"it has {self._hosts[host]} connections open, the most allowed for one address"
        return ""

    def is_news(self, host: str) -> bool:
        """Return True at the first refusal of a host since one of its connections has ended.

        A client that is refused may try again and again.
        """
        is_news = host not in self._told
        # Hosts without a connection may be many: forget all rather than grow.
        if len(self._told) >= self._limits.connections:
            self._told.clear()
        self._told.add(host)
        return is_news

    def add(self, host: str) -> None:
        """Count a connection."""
        self._hosts[host] += 1
        self._taken += 1

    def remove(self, host: str) -> None:
        """Count a connection no more."""
        self._taken -= 1
        self._hosts[host] -= 1
        self._told.discard(host)
        if not self._hosts[host]:
            del self._hosts[host]


class Admission(asyncio.Protocol):
    """Takes a client's socket, and hands it on if there is a place for it.

    then: makes the protocol that takes over, for a client on this host. refused: takes a client
    for which there is no place, and why.
    """

    def __init__(
        self,
        places: Places,
        then: Callable[[str], asyncio.Protocol],
        refused: Callable[[Address, str], None],
    ) -> None:
        self._places = places
        self._then = then
        self._refused = refused

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand the socket on, or close it."""
        socket = cast(asyncio.Transport, transport)
        host, port = (socket.get_extra_info("peername") or ("?", 0))[:2]
        if refusal := self._places.refusal(host):
            socket.abort()
            if self._places.is_news(host):
                self._refused(Address(host, port), refusal)
            return
        protocol = self._then(host)
        socket.set_protocol(protocol)
        protocol.connection_made(socket)
