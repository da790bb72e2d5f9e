"""Limits the connections of clients, in all and of each address."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import cast

from kwire.net.address import Address
from kwire.proxy.data_path.descriptors import Descriptors
from kwire.proxy.data_path.listener import Limits
from kwire.proxy.flows.reports import ReportedTexts


class ConnectionCounts:
    """Counts the connections of each host, and the descriptors that they need."""

    def __init__(self, limits: Limits, descriptors: Descriptors) -> None:
        self._limits = limits
        self.descriptors = descriptors
        self._hosts: Counter[str] = Counter()
        self._taken = 0
        self._reported = ReportedTexts(limits.connections)

    def refusal(self, host: str, number: int) -> str:
        """Return why a host gets no further connection, "" if it gets one.

        number: of the descriptor of its socket.
        """
        limits = self._limits
        if self._taken >= limits.connections:
            return f"{self._taken} connections are open, the most allowed"
        if self._hosts[host] >= limits.connections_per_ip:
            return f"it has {self._hosts[host]} connections open, the most allowed for one address"
        return self.descriptors.refusal(number)

    def note_refusal(self, host: str) -> bool:
        """Note a refusal; return True if it is the host's first since one of its connections ended.

        A client that is refused may try again and again.
        """
        return self._reported.is_first(host)

    def add(self, host: str) -> None:
        """Count a connection, and leave a descriptor for that to its node."""
        self.descriptors.promise()
        self._hosts[host] += 1
        self._taken += 1

    def remove(self, host: str) -> None:
        """Count a connection no more."""
        self._taken -= 1
        self._hosts[host] -= 1
        self._reported.forget(host)
        if not self._hosts[host]:
            del self._hosts[host]


class Admission(asyncio.Protocol):
    """Takes a client's socket, and hands it on or closes it.

    then: makes the protocol that takes over, for a client on this host. refused: takes a client
    that is over a limit, and the reason.
    """

    def __init__(
        self,
        counts: ConnectionCounts,
        then: Callable[[str], asyncio.Protocol],
        refused: Callable[[Address, str], None],
    ) -> None:
        self._counts = counts
        self._then = then
        self._refused = refused

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand the socket on, or close it."""
        socket = cast(asyncio.Transport, transport)
        host, port = (socket.get_extra_info("peername") or ("?", 0))[:2]
        own = socket.get_extra_info("socket")
        if refusal := self._counts.refusal(host, -1 if own is None else own.fileno()):
            socket.abort()
            if self._counts.note_refusal(host):
                self._refused(Address(host, port), refusal)
            return
        protocol = self._then(host)
        socket.set_protocol(protocol)
        protocol.connection_made(socket)
