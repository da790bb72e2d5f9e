"""A session of a viewer, at either end: each of its datagrams counts once, and not for long.

One that a later one has overtaken is lost, like any that does not arrive.
"""

from __future__ import annotations

from dataclasses import dataclass

from kwire.proxy.feed.datagrams import Stamp

PATIENCE = 30.0
"""Seconds that a datagram may take: one that somebody held back must not have effects later."""

COMMAND_PATIENCE = 5.0
"""Seconds for a command: its viewer gives up a little earlier, and must not be told wrong."""


@dataclass(slots=True, eq=False)
class Session:
    """Stamps what one end sends, and tells which datagrams of the other end are new.

    feed: the id of the run of the proxy. id: of the session in it. received: the number of the last
    datagram that was taken. All times are seconds since the feed was started.
    """

    feed: bytes
    id: bytes
    sent: int = 0
    received: int = 0

    def stamp(self, now: float) -> Stamp:
        """Return the stamp of the next datagram."""
        self.sent += 1
        return Stamp(self.feed, self.id, self.sent, milliseconds(now))

    def take(self, stamp: Stamp, now: float, patience: float = PATIENCE) -> bool:
        """Take a datagram; return False if it is of another session, late, or came before."""
        is_new = (
            (stamp.feed, stamp.session) == (self.feed, self.id)
            and abs(stamp.time - milliseconds(now)) <= patience * 1000
            and stamp.number > self.received
        )
        if is_new:
            self.received = stamp.number
        return is_new


def milliseconds(now: float) -> int:
    """Return a time as in stamps, which have 8 bytes for it."""
    return min(max(int(now * 1000), 0), (1 << 64) - 1)
