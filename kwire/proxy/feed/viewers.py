"""The viewers of a feed by address, each until its lease ends."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kwire.proxy.feed.datagrams import CommandResult

LEASE = 10.0
"""Seconds after the last Subscribe at which a viewer is removed; it renews well before."""

VIEWER_LIMIT = 32
"""Most viewers at a time: every event is sent to each of them."""

COOKIE_SIZE = 16
"""Bytes of a cookie."""

SocketAddress = tuple[Any, ...]
"""A socket's address in the form of the socket module."""


@dataclass(slots=True, eq=False)
class Viewer:
    """A viewer.

    until: monotonic seconds, when its lease ends. sequence: of the latest event for it, sent or
    lost. result: of its latest command, to answer a repeated datagram without executing the command
    again. rules: the number of its latest GetRules, and the encoded rules of that moment.
    """

    address: SocketAddress
    until: float
    sequence: int = 0
    result: CommandResult | None = None
    rules: tuple[int, bytes] | None = None


class Viewers:
    """The viewers of one feed. secret: random bytes that cookies are derived from."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._known: dict[SocketAddress, Viewer] = {}

    def __iter__(self) -> Iterator[Viewer]:
        return iter(tuple(self._known.values()))

    def __len__(self) -> int:
        return len(self._known)

    def cookie(self, address: SocketAddress) -> bytes:
        """Return the bytes that a viewer at an address has to repeat in all its messages.

        They keep a sender with a forged address from having events sent to somebody else.
        """
        return hmac.digest(self._secret, repr(address).encode(), "sha256")[:COOKIE_SIZE]

    def proven(self, address: SocketAddress, cookie: bytes) -> bool:
        """True if this is the cookie of an address."""
        return hmac.compare_digest(cookie, self.cookie(address))

    def get(self, address: SocketAddress) -> Viewer | None:
        """Return the viewer at an address, None if there is none."""
        return self._known.get(address)

    def renew(self, address: SocketAddress, now: float) -> tuple[Viewer | None, bool]:
        """Renew the lease of a viewer or add it; return it and True if it is new.

        Return no viewer if there is no room for one more.
        """
        known = self._known.get(address)
        if known is not None:
            known.until = now + LEASE
            return known, False
        self.expire(now)
        if len(self._known) >= VIEWER_LIMIT:
            return None, True
        self._known[address] = viewer = Viewer(address, now + LEASE)
        return viewer, True

    def remove(self, address: SocketAddress) -> None:
        """Remove the viewer at an address."""
        self._known.pop(address, None)

    def expire(self, now: float) -> None:
        """Remove the viewers whose lease has ended."""
        for viewer in self:
            if viewer.until <= now:
                del self._known[viewer.address]
