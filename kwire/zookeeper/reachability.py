"""The addresses of ZooKeeper that cannot be connected to, and why (zookeeper.connect)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kwire.net.address import Address

SocketAddress = tuple[str, int]
"""An IP address and a port, as a host's name is resolved to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAttempt:
    """An attempt to connect that failed. is_refused: False if nobody answered in time."""

    reason: str
    is_refused: bool


class ServerReachability:
    """Learns how attempts to connect end, and which names cannot be resolved."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = tuple(dict.fromkeys(addresses))
        self._resolved: dict[Address, frozenset[SocketAddress]] = {}
        self._failed: dict[SocketAddress, FailedAttempt] = {}

    async def look_up(self, changed: Callable[[], object]) -> None:
        """Resolve all names, as kazoo does by itself; call `changed` after each."""

        async def look_up_one(address: Address) -> None:
            loop = asyncio.get_running_loop()
            try:
                found = await loop.getaddrinfo(address.host, address.port, proto=socket.IPPROTO_TCP)
            except (OSError, UnicodeError):  # a label of more than 63 characters is the latter
                found = []
            self._resolved[address] = frozenset((str(end[0]), int(end[1])) for *_, end in found)
            changed()

        await asyncio.gather(*map(look_up_one, self._addresses))

    def attempted(self, address: SocketAddress, failure: FailedAttempt | None) -> None:
        """Note how the latest attempt at an address ended; None for a connection."""
        if failure is None:
            self._failed.pop(address, None)
        else:
            self._failed[address] = failure

    @property
    def is_hopeless(self) -> bool:
        """True if no name is resolved to an address that has not refused the connection."""
        return self._resolved.keys() == set(self._addresses) and all(
            attempt is not None and attempt.is_refused
            for ends in self._resolved.values()
            for attempt in map(self._failed.get, ends)
        )

    @property
    def failures(self) -> list[str]:
        """The failures by address, and the names that are not resolved."""
        unresolved = [
            f"{address.host} cannot be resolved"
            for address, ends in self._resolved.items()
            if not ends
        ]
        failed = [
            f"{Address(*address)}: {attempt.reason}" for address, attempt in self._failed.items()
        ]
        return [*dict.fromkeys(unresolved), *failed]
