"""One of the two sockets of a relay: reads from its peer, and writes what goes to that peer."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from typing import Protocol, cast

from kwire.proxy.data_path.framer import Framer
from kwire.proxy.data_path.guard import NotPassed
from kwire.proxy.data_path.listener import Limits
from kwire.proxy.data_path.moved import NS, SocketState
from kwire.proxy.data_path.returned_socket import ReturnedSocket

WRITE_LIMIT = 64 * 1024
"""Bytes that may wait for a slow reader before its writer is no longer read."""

READ_SIZE = 1024 * 1024
"""Bytes that are read at once; with asyncio's 256 KiB a large fetch costs a third more."""


SLOWEST = 256 * 1024
"""Bytes a second at which a held frame must come, after its first `Limits.progress` seconds."""


class SideOwner(Protocol):
    """The events of a side, as its relay takes them. moved: time of the last bytes, monotonic."""

    moved: float

    def side_connected(self, side: Side) -> None:
        """Take note that a side has its socket."""

    def side_ending(self, side: Side, error: Exception | None = None) -> None:
        """Take note that a side will send no more; its framer has not been told yet."""

    def last_byte_came(self, side: Side) -> None:
        """Take note that a side has sent its last byte, which filters may still hold."""

    def end_passed_on(self, side: Side) -> None:
        """Take note that the other side has been told of a side's end."""

    def side_lost(self, side: Side, error: Exception | None) -> None:
        """Take note that a side's socket is gone."""

    def nothing_held(self, side: Side) -> bool:
        """Return True if nothing that a side sent is held by filters."""

    def abort(self, reason: str) -> None:
        """Close both sides at once."""


class Side(asyncio.Protocol):
    """One of the two sockets of a relay. What it receives goes through its framer to the other.

    early: what was received before the other one was there. eof: the peer has sent its last byte;
    end_passed: the other one has been told so. over: the socket is gone. paused: it is not read.
    """

    _framer: Framer
    _other: Side

    def __init__(self, owner: SideOwner) -> None:
        self._owner = owner
        self._progress_mark = (0, 0)
        self._marked_at = 0.0
        self._lost_with: OSError | None = None
        self.transport: asyncio.Transport | None = None
        self.early = b""
        self.over = False
        self.eof = False
        self.paused = False
        self._blocked = self._crowded = self._draining = self._closing = False
        self.end_passed = self._end_sent = False

    def join(self, other: Side, framer: Framer) -> None:
        """Send what comes here through the framer, whose output writes to the other side."""
        self._other = other
        self._framer = framer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket."""
        self._take(cast(asyncio.Transport, transport))
        self._marked_at = time.monotonic()
        self._owner.side_connected(self)

    def _take(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        # asyncio calls pause_writing at this many bytes, and resume_writing at a quarter of them.
        transport.set_write_buffer_limits(high=WRITE_LIMIT)
        if hasattr(transport, "max_size"):  # of a plain socket in asyncio's own loop
            transport.max_size = READ_SIZE

    @property
    def is_plain(self) -> bool:
        """True if its socket speaks no TLS, and both directions are open and read."""
        transport = self.transport
        return (
            transport is not None
            and not (self.over or self.eof or self.paused or self.early or transport.is_closing())
            and transport.get_extra_info("sslcontext") is None
            and transport.get_extra_info("socket") is not None
        )

    def duplicate(self) -> int:
        """Return a descriptor of its socket that is the caller's. Raises OSError."""
        assert self.transport is not None
        return os.dup(self.transport.get_extra_info("socket").fileno())

    def let_go(self) -> None:
        """Give the socket up: it lives on by a descriptor that was duplicated before."""
        assert self.transport is not None
        self.transport.set_protocol(asyncio.Protocol())
        self.transport.abort()
        self.transport = None

    def take_again(self, back: ReturnedSocket) -> None:
        """Take a socket that was given up."""
        if back.transport is not None and not back.lost:
            self._take(back.transport)
            back.transport.set_protocol(self)

    def send_again(self, back: ReturnedSocket, state: SocketState) -> None:
        """Send what was still to be sent, or take note that the socket broke meanwhile."""
        if state.error:
            self._lost_with = OSError(state.error, os.strerror(state.error))
        if self.transport is None:
            self.connection_lost(back.error)
        elif state.error:
            self.transport.abort()
        else:
            self.write(state.unsent)

    def go_on(
        self, received: bytes, back: ReturnedSocket, state: SocketState, *, reads: bool
    ) -> None:
        """Follow what was received meanwhile, and read on.

        reads: False to read no more, but for the rest of a frame that has begun.
        """
        if self.transport is None or self.transport.is_closing():
            return
        if data := received + back.early:
            self.data_received(data)
        if back.ended or state.ended:
            self.eof_received()
        if not reads:
            self.stop_reading()
        # Not resumed: the other side may have found its peer slow, when it sent what was unsent.
        self._update_reading()
        self._progress_mark = (self._framer.frames, self._framer.passed)
        self._marked_at = state.progress / NS

    def data_received(self, data: bytes) -> None:
        """Feed received bytes to the framer, or keep them until the other side is connected."""
        if self._other.transport is None:
            self._keep(data)
            return
        # One look at each clock a chunk: flows, limits and latencies all use these two.
        self._owner.moved = now = time.monotonic()
        try:
            self._framer.feed(data, time.time(), now)
        except NotPassed as error:
            self._owner.abort(str(error))

    def _keep(self, data: bytes) -> None:
        """Keep bytes that came before the other side was there, and pause again.

        Python 3.11.2 forgets the pause of a transport that has just been made.
        """
        assert self.transport is not None
        self.early += data
        self.transport.resume_reading()
        self.transport.pause_reading()

    def write(self, data: bytes) -> None:
        """Send bytes to the peer, unless the connection is closing or its end has been sent."""
        transport = self.transport
        # Filters may release a frame after the peer's end was passed on: it has no way any more.
        if transport is None or self._closing or self._end_sent:
            return
        if not transport.is_closing():
            transport.write(data)

    def eof_received(self) -> bool:
        """Pass the end on when all before it has been; return True to keep the socket open.

        The peer may still read, where it does not speak TLS.
        """
        self.eof = True
        # In this order: the owner asks for the framer's progress, which `finish` clears.
        self._owner.side_ending(self)
        self._framer.finish()
        self._owner.last_byte_came(self)
        if self._owner.nothing_held(self):
            self.pass_end_on()
        return self.can_half_close

    def pass_end_on(self) -> None:
        """Pass the end to the other side, once: all that came has been sent on."""
        if not self.end_passed:
            self.end_passed = True
            self._other.finish()
            self._owner.end_passed_on(self)

    @property
    def can_half_close(self) -> bool:
        """True if one direction can end before the other: not with TLS."""
        return self.transport is not None and self.transport.can_write_eof()

    def finish(self) -> None:
        """Tell the peer that no more bytes will come, where it can be told."""
        if self.transport and self.can_half_close and not self.transport.is_closing():
            self._end_sent = True
            with suppress(OSError):  # the peer may be gone already
                self.transport.write_eof()

    def pause_writing(self) -> None:
        """Read no more from the other side: the peer here reads too slowly."""
        self._other.pause_reading()

    def resume_writing(self) -> None:
        """Read on from the other side: the peer here has caught up."""
        self._other.resume_reading()

    def pause_reading(self) -> None:
        """Read no more for now."""
        self._blocked = True
        self._update_reading()

    def start(self) -> None:
        """Pass on what came early, and resume reading: the other side is connected."""
        if self.early:
            self.data_received(self.early)
            self.early = b""
        self.resume_reading()

    def resume_reading(self) -> None:
        """Read on."""
        self._blocked = False
        self._update_reading()

    def set_crowded(self, crowded: bool) -> None:
        """Pause reading while filters hold too much of what was read."""
        self._crowded = crowded
        self._update_reading()

    def stop_reading(self) -> bool:
        """Read no more, unless a frame has begun; return True if nothing is read any more."""
        if not self._draining and not self._framer.unfinished:
            self._draining = True
            self._update_reading()
        return self._draining

    def _update_reading(self) -> None:
        self.paused = self._blocked or self._crowded or self._draining
        self._marked_at = time.monotonic()
        if self.transport is None or self.over:
            return
        if self.paused or self.eof:  # an end that was read once would be read again
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Report to the relay that the socket is closed, by an end or by an error."""
        self.over = True
        exc = exc or self._lost_with
        self._owner.side_ending(self, exc)
        self._framer.finish()
        self._owner.side_lost(self, exc)

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
        """Return True if a frame that has begun does not go on, though this side is read.

        One that takes up memory until it is whole must come to its end in time.
        """
        framer = self._framer
        # A side that is paused is not at fault: the reader of the other one, or a filter, is.
        at_rest = not framer.unfinished or framer.lost or self.paused
        frames, passed = self._progress_mark
        held = framer.held_size
        goes_on = not held and framer.passed - passed >= limits.step
        if at_rest or framer.frames != frames or goes_on:
            self._progress_mark = (framer.frames, framer.passed)
            self._marked_at = now
        return now - self._marked_at > limits.progress + held / SLOWEST

    @property
    def holds_frame(self) -> bool:
        """True while a frame that is held for filters is coming."""
        return self._framer.held_size > 0

    @property
    def progress(self) -> str:
        """The bytes that came of the current frame, in words; "" between frames."""
        return self._framer.progress

    @property
    def opaque(self) -> bool:
        """True if what comes here is not Kafka's protocol, and passes all the same."""
        return self._framer.lost

    @property
    def unsent(self) -> int:
        """Bytes that wait for the peer to read."""
        return 0 if self.transport is None else self.transport.get_write_buffer_size()

    @property
    def silent(self) -> bool:
        """True if no frame has begun here yet."""
        return not self._framer.frames and not self._framer.lost
