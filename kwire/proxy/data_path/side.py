"""One of the two sockets of a relay: what a peer sends, and what waits to be sent to it."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from kwire.proxy.data_path.framer import Framer
from kwire.proxy.data_path.listener import Limits

if TYPE_CHECKING:
    from kwire.proxy.data_path.relay import Relay

WRITE_LIMIT = 64 * 1024
"""Bytes that may wait for a slow reader before its writer is no longer read."""

READ_SIZE = 1024 * 1024
"""Bytes that are read at once; with asyncio's 256 KiB a large fetch costs a third more."""


class Side(asyncio.Protocol):
    """One of the two sockets of a relay; what it receives goes through its framer to the other.

    early: what was received before the other one was there. end_passed: the other one has been told
    that the peer here has sent its last byte.
    """

    def __init__(self, relay: Relay, framer: Framer) -> None:
        self._relay = relay
        self._framer = framer
        self._other: Side = self
        self._mark = (0, 0)
        self._marked = 0.0
        self.transport: asyncio.Transport | None = None
        self.early = b""
        self.over = False
        self.eof = False
        self.held = False
        self._blocked = self._crowded = self._enough = self._closing = False
        self.end_passed = self._finished = False

    def face(self, other: Side) -> None:
        """What comes here goes there."""
        self._other = other

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is there."""
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=WRITE_LIMIT)
        if hasattr(transport, "max_size"):  # of a plain socket in asyncio's own loop
            transport.max_size = READ_SIZE
        self._marked = time.monotonic()
        self._relay.made(self)

    def data_received(self, data: bytes) -> None:
        """Bytes: look at them and hand them on."""
        if self._other.transport is None:
            self._keep(data)
            return
        self._relay.moved = now = time.monotonic()
        self._other.write(self._framer.feed(data, time.time(), now))

    def _keep(self, data: bytes) -> None:
        """Before the other one is there: Python 3.11.2 forgets to pause what has just been made."""
        assert self.transport is not None
        self.early += data
        self.transport.resume_reading()
        self.transport.pause_reading()

    def write(self, data: bytes) -> None:
        """Send bytes on, unless the socket is going away or the end has been sent."""
        transport = self.transport
        if transport is None or self._closing or self._finished:
            return
        if not transport.is_closing():
            transport.write(data)

    def eof_received(self) -> bool:
        """The peer has sent its last byte, and may still read where it does not speak TLS."""
        self.eof = True
        self._relay.ends(self)
        self._framer.finish()
        self._relay.last_came(self)
        if self._relay.drained(self):
            self.pass_end_on()
        return self.can_half_close

    def pass_end_on(self) -> None:
        """All that came has been sent on: so has the end."""
        if not self.end_passed:
            self.end_passed = True
            self._other.finish()
            self._relay.ended(self)

    @property
    def can_half_close(self) -> bool:
        """Whether one direction can end before the other: not with TLS."""
        return self.transport is not None and self.transport.can_write_eof()

    def finish(self) -> None:
        """Tell the peer that no more bytes will come, where it can be told."""
        if self.transport and self.can_half_close and not self.transport.is_closing():
            self._finished = True
            with suppress(OSError):  # the peer may be gone already
                self.transport.write_eof()

    def pause_writing(self) -> None:
        """The peer reads too slowly."""
        self._other.hold()

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._other.resume()

    def hold(self) -> None:
        """Read no more for now."""
        self._blocked = True
        self._read_or_not()

    def start(self) -> None:
        """The other one is there: hand on what came early, and read on."""
        if self.early:
            self.data_received(self.early)
            self.early = b""
        self.resume()

    def resume(self) -> None:
        """Read on."""
        self._blocked = False
        self._read_or_not()

    def crowd(self, crowded: bool) -> None:
        """Too much of what was read is held by filters, or no longer."""
        self._crowded = crowded
        self._read_or_not()

    def stop_reading(self) -> bool:
        """Read no more, unless a frame has begun; whether that is so."""
        if not self._enough and not self._framer.unfinished:
            self._enough = True
            self._read_or_not()
        return self._enough

    def _read_or_not(self) -> None:
        self.held = self._blocked or self._crowded or self._enough
        self._marked = time.monotonic()
        if self.transport is None or self.over:
            return
        if self.held:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone, for good or by an error."""
        self.over = True
        self._relay.ends(self, exc)
        self._framer.finish()
        self._relay.lost(self, exc)

    def close(self) -> None:
        """Close when what waits has been sent; once, as `Link.close` says why."""
        self._closing = True
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()

    def abort(self) -> None:
        """Close now."""
        if self.transport is not None:
            self.transport.abort()

    def stuck(self, now: float, limits: Limits) -> bool:
        """Whether a frame that has begun here does not go on, though nobody holds it back."""
        framer = self._framer
        at_rest = not framer.unfinished or framer.lost or self.held
        frames, passed = self._mark
        if at_rest or framer.frames != frames or framer.passed - passed >= limits.step:
            self._mark = (framer.frames, framer.passed)
            self._marked = now
        return now - self._marked > limits.progress

    @property
    def progress(self) -> str:
        """Tell how much of the frame under way has come; "" between frames."""
        return self._framer.progress

    @property
    def opaque(self) -> bool:
        """Whether what comes here is not Kafka's protocol, and passes all the same."""
        return self._framer.lost

    @property
    def unsent(self) -> int:
        """Bytes that wait for the peer to read."""
        return 0 if self.transport is None else self.transport.get_write_buffer_size()

    @property
    def silent(self) -> bool:
        """Whether no frame has begun here yet."""
        return not self._framer.frames and not self._framer.lost
