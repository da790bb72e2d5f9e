"""The viewers of a feed by address, each until its lease ends."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from kwire.proxy.feed.datagrams import SESSION, CommandResult, Stamp
from kwire.proxy.feed.sessions import Session, milliseconds

LEASE = 10.0
"""Seconds after the last Subscribe at which a viewer is removed; it renews well before."""

VIEWER_LIMIT = 32
"""Most viewers at a time: every event is sent to each of them."""

_NUMBER = 8  # bytes of the number of a challenge, with which the id of its session begins

ViewerAddress = tuple[Any, ...]
"""A socket's address in the form of the socket module."""


@dataclass(slots=True, eq=False)
class Viewer:
    """A viewer.

    until: seconds since the feed was started, when its lease ends. sequence: of the latest event
    for it, sent or lost. result: of its latest command, to answer a repeated command without
    executing it again. samples: True if it wants a sample where many flows pass; left_out: how
    many it was not sent for that.
    """

    address: ViewerAddress
    session: Session
    until: float
    sequence: int = 0
    result: CommandResult | None = None
    samples: bool = False
    left_out: int = 0


class Viewers:
    """The viewers of one feed. All times are seconds since it was started.

    feed: its id, another one for each run. secret: random bytes that ids of sessions are made with.
    """

    def __init__(self, feed: bytes, secret: bytes) -> None:
        self._feed = feed
        self._secret = secret
        self._numbers = count(1)
        self._begun = 0  # the number of the last challenge whose session has begun
        self._known: dict[ViewerAddress, Viewer] = {}

    def __iter__(self) -> Iterator[Viewer]:
        return iter(tuple(self._known.values()))

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, viewer: object) -> bool:
        return isinstance(viewer, Viewer) and self._known.get(viewer.address) is viewer

    def find(self, address: ViewerAddress, session: bytes) -> Viewer | None:
        """Return the viewer that has a session, None if it is over or was never begun."""
        viewer = self._known.get(address)
        return viewer if viewer is not None and viewer.session.id == session else None

    def has_room(self, address: ViewerAddress) -> bool:
        """True if a session with this address can begin."""
        return address in self._known or len(self._known) < VIEWER_LIMIT

    def challenge(self, address: ViewerAddress, now: float) -> Stamp:
        """Return a stamp with the id of a session that has not begun yet.

        Nothing is remembered of it: whoever asks for many challenges takes no memory.
        """
        number = next(self._numbers).to_bytes(_NUMBER)
        return Stamp(self._feed, self._session_id(number, address), 0, milliseconds(now))

    def begin(self, address: ViewerAddress, stamp: Stamp, now: float) -> Viewer | None:
        """Begin the session of a challenge, in place of another with the address.

        Returns None if no challenge was sent to the address with this id, or if its session or that
        of a later challenge began before: what was recorded of it brings no viewer back.
        """
        number = stamp.session[:_NUMBER]
        if not hmac.compare_digest(stamp.session, self._session_id(number, address)):
            return None
        session = Session(self._feed, stamp.session)
        if not session.take(stamp, now) or int.from_bytes(number) <= self._begun:
            return None
        self._begun = int.from_bytes(number)
        self._known[address] = viewer = Viewer(address, session, now + LEASE)
        return viewer

    def remove(self, viewer: Viewer) -> None:
        """Remove a viewer and end its session."""
        if viewer in self:
            del self._known[viewer.address]

    def expire(self, now: float) -> None:
        """Remove the viewers whose lease has ended."""
        for viewer in self:
            if viewer.until <= now:
                self.remove(viewer)

    def _session_id(self, number: bytes, address: ViewerAddress) -> bytes:
        proof = hmac.digest(self._secret, number + repr(address).encode(), "sha256")
        return (number + proof)[:SESSION]
