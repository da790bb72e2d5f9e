"""A session of a viewer, at either end: each of its datagrams counts once, and not for long."""

from __future__ import annotations

from dataclasses import dataclass, field

from kwire.proxy.feed.datagrams import Stamp

PATIENCE = 30.0
"""Seconds that a datagram may take: one that somebody held back must not have effects later."""

COMMAND_PATIENCE = 5.0
"""Seconds for a command: its viewer gives up a little earlier, and must not be told wrong."""

REORDERED = 1024
"""Datagrams that may overtake one. A network changes the order of a few."""

_MASK = (1 << REORDERED) - 1


class ReplayWindow:
    """Takes each number once, in almost any order (RFC 4303, section 3.4.3, as IPsec does it).

    Numbers start at 1. One that REORDERED others have overtaken is refused, so that all of a run is
    remembered in a few bytes.
    """

    __slots__ = ("_highest", "_taken")

    def __init__(self) -> None:
        self._highest = 0
        self._taken = 1  # bit n is set if the number `_highest - n` was taken

    def take(self, number: int) -> bool:
        """Take a number; return False if it was taken before, or is too far behind."""
        ahead = number - self._highest
        if ahead > 0:
            # Anybody may send 2**64: no shift may be longer than the window.
            earlier = self._taken << ahead if ahead < REORDERED else 0
            self._taken = (earlier | 1) & _MASK
            self._highest = number
            return True
        if -ahead >= REORDERED or self._taken >> -ahead & 1:
            return False
        self._taken |= 1 << -ahead
        return True


@dataclass(slots=True, eq=False)
class Session:
    """Stamps what one end sends, and tells which datagrams of the other end are new.

    feed: the id of the run of the proxy. id: of the session in it. All times are seconds since the
    feed was started.
    """

    feed: bytes
    id: bytes
    _sent: int = 0
    _received: ReplayWindow = field(default_factory=ReplayWindow)

    def stamp(self, now: float) -> Stamp:
        """Return the stamp of the next datagram."""
        self._sent += 1
        return Stamp(self.feed, self.id, self._sent, milliseconds(now))

    def take(self, stamp: Stamp, now: float, patience: float = PATIENCE) -> bool:
        """Take a datagram; return False if it is of another session, late, or came before."""
        return (
            (stamp.feed, stamp.session) == (self.feed, self.id)
            and abs(stamp.time - milliseconds(now)) <= patience * 1000
            and self._received.take(stamp.number)
        )


def milliseconds(now: float) -> int:
    """Return a time as in stamps, which have 8 bytes for it."""
    return min(max(int(now * 1000), 0), (1 << 64) - 1)
