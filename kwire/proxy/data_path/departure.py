"""Moves a relay to the loop in C while nothing on it is unusual, and back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Protocol

from kwire.proxy.data_path.followed_frames import FollowedFrames
from kwire.proxy.data_path.moved import NS, ReturnedConnection
from kwire.proxy.data_path.native_loop import NativeLoop
from kwire.proxy.data_path.returned_socket import ReturnedSocket
from kwire.proxy.data_path.side import Side
from kwire.proxy.flows.flow import ClientConnection
from kwire.proxy.flows.interest import Direction

LOOKS, LOOK = 20, 0.01
"""The number of looks whether everything has been sent, and the seconds between two."""

LONGEST_STAY = 64.0
"""Seconds that a connection stays here that has come back often."""


class DepartingRelay(Protocol):
    """The relay, as its departure uses it. moved: when its last byte moved, steady seconds."""

    client: Side
    node: Side
    moved: float

    @property
    def connection(self) -> ClientConnection: ...

    @property
    def is_closing(self) -> bool: ...

    @property
    def is_finishing(self) -> bool: ...

    def closed_last(self, side: Side) -> None:
        """Take note that both sides have closed, this one last."""

    def settle(self) -> None:
        """Report the end of the connection, if it has come."""


class Departure:
    """Decides when a relay leaves for the loop in C, and brings it back.

    It leaves when both sockets are plain, outside a login; frames may be under way. Each time that
    it comes back it stays here twice as long before it may leave again.
    """

    def __init__(
        self, relay: DepartingRelay, loops: Sequence[NativeLoop], frames: FollowedFrames
    ) -> None:
        self._relay = relay
        self._loops = loops
        self._loop: NativeLoop | None = None
        self._frames = frames
        self._number: int | None = None
        self._returning: asyncio.Task[None] | None = None
        self._stays_until = 0.0
        self._stay = 0.5

    @property
    def is_away(self) -> bool:
        """True from when it leaves until it has come back."""
        return self._number is not None or self._returning is not None

    @property
    def connection(self) -> ClientConnection:
        """The connection, as flows and notices name it."""
        return self._relay.connection

    def leave(self, now: float) -> None:
        """Leave, if nothing speaks against it. now: steady seconds."""
        if now < self._stays_until or not self._may_leave:
            return
        if self._relay.client.unsent or self._relay.node.unsent:
            self._look_soon(LOOKS)
        else:
            self._leave()

    def _look_soon(self, looks: int) -> None:
        """Leave when what waits has been sent, if that is soon: asyncio does not give it away."""
        relay = self._relay
        if self.is_away or relay.is_closing or relay.is_finishing or not self._may_leave:
            return
        if not (relay.client.unsent or relay.node.unsent):
            self._leave()
        elif looks:
            loop = asyncio.get_running_loop()
            loop.call_later(LOOK, self._look_soon, looks - 1)

    def _leave(self) -> None:
        sides = self._relay.client, self._relay.node
        descriptors: list[int] = []
        try:
            descriptors += (sides[0].duplicate(), sides[1].duplicate())
            self._loop = min(self._loops, key=len)
            self._number = self._loop.give(self, self._frames.moved(*descriptors))
        except (OSError, RuntimeError):  # no descriptor is left, or no thread: it stays
            for descriptor in descriptors:
                os.close(descriptor)
            return
        for side in sides:
            side.let_go()
        self._frames.give_up()

    def take_back(self) -> None:
        """Come back, if it is away and not on its way already."""
        if self._number is None or self._loop is None:
            return
        if (state := self._loop.take(self._number)) is not None:
            self.come_back(state)

    def come_back(self, state: ReturnedConnection) -> None:
        """Go on here with what the loop gives back; close it, if that was asked for meanwhile."""
        self._number = None
        self._frames.restore(state.frames)
        self._relay.moved = state.moved / NS
        if self._relay.is_closing:
            os.close(state.client.descriptor)
            os.close(state.node.descriptor)
            self._both_over()
            self._relay.settle()
            return
        self._returning = asyncio.get_running_loop().create_task(self._return(state))

    def ended(self, last: Direction) -> None:
        """Take note that both sides have closed."""
        self._number = None
        self._both_over()
        self._relay.closed_last(
            self._relay.client if last is Direction.REQUEST else self._relay.node
        )

    @property
    def _may_leave(self) -> bool:
        sides = self._relay.client, self._relay.node
        return all(side.is_plain for side in sides) and self._frames.can_be_moved

    async def _return(self, state: ReturnedConnection) -> None:
        relay = self._relay
        backs = [
            await ReturnedSocket.open(state.client.descriptor),
            await ReturnedSocket.open(state.node.descriptor),
        ]
        # 1. Both have their sockets, before anything can happen on one that ends the other.
        pairs = list(
            zip((relay.client, relay.node), backs, (state.client, state.node), strict=True)
        )
        for side, back, _ in pairs:
            side.take_again(back)
        self._returning = None
        loop_time = asyncio.get_running_loop().time()
        self._stay = min(2 * self._stay, LONGEST_STAY)
        self._stays_until = loop_time + self._stay
        # 2. What was to be sent goes first, then what was received and not followed.
        for side, back, socket in pairs:
            side.send_again(back, socket)
        received = (state.rest, b"") if state.rest_is_request else (b"", state.rest)
        for (side, back, socket), data in zip(pairs, received, strict=True):
            if relay.is_closing:
                side.abort()
            else:
                side.go_on(data, back, socket, reads=side is relay.node or not relay.is_finishing)
        relay.settle()

    def _both_over(self) -> None:
        self._relay.client.over = self._relay.node.over = True
