"""One end of a simulated TCP connection, as asyncio's protocols know it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol, cast

from tests.controller.virtual.loop import VirtualLoop
from tests.controller.virtual.process import Process


class Wire(Protocol):
    """What a transport needs of the network."""

    def latency(self) -> float:
        """Seconds that the next bytes take."""

    def retransmission(self) -> float:
        """Seconds that held bytes take after the network has healed."""

    def split(self, data: bytes) -> list[bytes]:
        """Cut what is written into what arrives at once."""

    def are_cut(self, one: Process, other: Process) -> bool:
        """True while nothing passes between two processes."""

    def hold(self, one: Process, other: Process, send: Callable[[], None]) -> None:
        """Send again when the two processes reach each other."""


class VirtualTransport(asyncio.Transport):
    """Delivers in order what is written to it to the peer. Its send buffer has no limit."""

    peer: VirtualTransport

    def __init__(
        self, loop: VirtualLoop, wire: Wire, owner: Process, address: tuple[str, int]
    ) -> None:
        super().__init__({"peername": address, "sockname": ("127.0.0.1", 0)})
        self._loop, self._wire, self._owner = loop, wire, owner
        self._protocol: asyncio.Protocol | None = None
        self._inbox: deque[Callable[[], None]] = deque()
        self._held: deque[Callable[[], None]] = deque()
        self._arrives = 0.0
        self._is_reading = True
        self._closing = False
        self._lost = False

    def reach(self, accept: Callable[[], asyncio.BaseProtocol]) -> None:
        """Have the peer accept; all that is sent comes behind."""
        self._send(lambda: self.peer.open(accept))

    def open(self, factory: Callable[[], asyncio.BaseProtocol]) -> None:
        """Begin: make the protocol and tell it."""
        self._protocol = cast(asyncio.Protocol, factory())
        self._protocol.connection_made(self)
        self._deliver()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._closing or not data:
            return
        for part in self._wire.split(bytes(data)):
            self._send(partial(self.peer._data, part))

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._send(self.peer._end_of_stream)
            self._lose_soon(None)

    def abort(self) -> None:
        if not self._lost:
            self._closing = True
            self._send(self.peer._reset)
            self._lose_soon(None)

    def _send(self, receive: Callable[[], None]) -> None:
        """Have the peer receive something behind all that was sent before."""
        if not self._held and not self._wire.are_cut(self._owner, self.peer._owner):
            self._put(self._wire.latency(), receive)
            return
        if not self._held:
            self._wire.hold(self._owner, self.peer._owner, self._send_held)
        self._held.append(receive)

    def _send_held(self) -> None:
        delay = self._wire.retransmission()
        while self._held:
            self._put(delay, self._held.popleft())

    def _put(self, delay: float, receive: Callable[[], None]) -> None:
        # The clock of the owner, not the loop's: a process that stood still sends late.
        sent = max(self._loop.now, self._owner.clock)
        self._arrives = max(self._arrives, sent + delay)
        self._loop.arrive(self.peer._owner, self._arrives, receive)

    def _data(self, data: bytes) -> None:
        if self._closing:
            self._send(self.peer._reset)  # as a kernel does for a socket that is closed
            return
        self._receive(lambda: self._protocol_now.data_received(data))

    def _end_of_stream(self) -> None:
        self._receive(self._half_closed)

    def _half_closed(self) -> None:
        if not self._protocol_now.eof_received():
            self.close()

    def _reset(self) -> None:
        self._closing = True
        if self._protocol is not None:
            self._lose(ConnectionResetError(104, "Connection reset by peer"))
        self._lost = True

    def _receive(self, act: Callable[[], None]) -> None:
        self._inbox.append(act)
        self._deliver()

    def _deliver(self) -> None:
        while self._inbox and self._is_reading and self._protocol is not None:
            act = self._inbox.popleft()
            if not self._closing:
                act()

    def _lose_soon(self, error: Exception | None) -> None:
        self._loop.call_soon(self._lose, error, context=self._owner.context())

    def _lose(self, error: Exception | None) -> None:
        if not self._lost:
            self._lost = True
            self._protocol_now.connection_lost(error)

    @property
    def _protocol_now(self) -> asyncio.Protocol:
        assert self._protocol is not None, "not open"
        return self._protocol

    def is_closing(self) -> bool:
        return self._closing

    def is_reading(self) -> bool:
        return self._is_reading and not self._closing

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        if not self._is_reading:
            self._is_reading = True
            self._loop.call_soon(self._deliver, context=self._owner.context())

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = cast(asyncio.Protocol, protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol_now

    def can_write_eof(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """There are none."""
