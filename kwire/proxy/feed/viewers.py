"""Who watches: viewers by their address, each until it has not been heard of for a while."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kwire.proxy.feed.datagrams import Done

LEASE = 10.0
"""Seconds for which a viewer is remembered; it renews well before."""

MOST = 32
"""Viewers at a time; one more is not taken until another goes."""

COOKIE = 16
"""Bytes of a cookie."""

At = tuple[Any, ...]
"""A socket's address, as the system writes it."""


@dataclass(slots=True, eq=False)
class Viewer:
    """until: when it is forgotten. sequence: of the latest event for it, sent or lost.

    done: the answer to its latest command, which is not obeyed again when it comes again.
    rules: the number of its latest GetRules, and what it is answered with.
    """

    address: At
    until: float
    sequence: int = 0
    done: Done | None = None
    rules: tuple[int, bytes] | None = None


class Viewers:
    """The viewers of one feed. secret: random bytes that cookies are made with."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._known: dict[At, Viewer] = {}

    def __iter__(self) -> Iterator[Viewer]:
        return iter(tuple(self._known.values()))

    def __len__(self) -> int:
        return len(self._known)

    def cookie(self, address: At) -> bytes:
        """What somebody at this address has to repeat: so nobody is sent what he did not want."""
        return hmac.digest(self._secret, repr(address).encode(), "sha256")[:COOKIE]

    def proven(self, address: At, cookie: bytes) -> bool:
        """Whether it has been given this cookie."""
        return hmac.compare_digest(cookie, self.cookie(address))

    def get(self, address: At) -> Viewer | None:
        """The viewer there."""
        return self._known.get(address)

    def renew(self, address: At, now: float) -> tuple[Viewer | None, bool]:
        """Remember a viewer; and whether it is new. None where there is no room for one more."""
        known = self._known.get(address)
        if known is not None:
            known.until = now + LEASE
            return known, False
        self.expire(now)
        if len(self._known) >= MOST:
            return None, True
        self._known[address] = viewer = Viewer(address, now + LEASE)
        return viewer, True

    def forget(self, address: At) -> None:
        """It has left."""
        self._known.pop(address, None)

    def expire(self, now: float) -> None:
        """Forget whom nothing was heard of."""
        for viewer in self:
            if viewer.until <= now:
                del self._known[viewer.address]
