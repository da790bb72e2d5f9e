"""Gives connections to the loop in C, and takes back what it does not do itself.

The loop moves the bytes of connections that are plain, and whose frames are usual, in a thread
without the interpreter. It counts the flows that nobody needs one by one, and gives all others,
with the copies that are wanted, to the sinks. Python gets a connection back when something happens
on it that is not usual, and gives it again when that is over.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, Protocol

from kwire.messages.registry import api_keys
from kwire.proxy.data_path.copies import Copies
from kwire.proxy.data_path.listener import Limits
from kwire.proxy.data_path.moved import NS, AskedFlow, Moved, ReturnedConnection
from kwire.proxy.data_path.side import READ_SIZE, WRITE_LIMIT
from kwire.proxy.flows.counted_flows import CountedFlows
from kwire.proxy.flows.flow import ClientConnection, Flow, Outcome, Sink
from kwire.proxy.flows.interest import Direction, Interest, Wants
from kwire.proxy.flows.latencies import BOUNDS
from kwire.proxy.flows.peers import NODE_APIS

try:
    from kwire.proxy.data_path.native import Loop
except ImportError:
    IS_BUILT = False
else:
    IS_BUILT = True

if TYPE_CHECKING:
    from kwire.proxy.data_path.native._relay import _CountTuple, _EventTuple

_KEYS, _VERSIONS = 128, 32
_USUAL, _CAREFUL, _TELLS_NODE = 0, 1, 2
_INTERESTS = {Interest.COUNT: 1, Interest.PASS: 2, Interest.TAP: 3}
_REQUEST, _RESPONSE = Direction.REQUEST, Direction.RESPONSE
_ANSWERED, _NO_RESPONSE = Outcome.ANSWERED, Outcome.NO_RESPONSE

_ALWAYS_CAREFUL = api_keys("ControlledShutdown", "SaslHandshake", "SaslAuthenticate")
"""APIs whose requests Python looks at: without a client id, or part of a login."""


def care() -> bytes:
    """Return how careful the loop is with each API key.

    An API that only nodes call tells who the client is, if its client id is a number.
    """
    return bytes(
        _CAREFUL if key in _ALWAYS_CAREFUL else _TELLS_NODE if key in NODE_APIS else _USUAL
        for key in range(_KEYS)
    )


class Mover(Protocol):
    """The relay of a connection that the loop moves."""

    @property
    def connection(self) -> ClientConnection: ...

    def come_back(self, state: ReturnedConnection) -> None:
        """Take the connection back."""

    def ended(self, last: Direction) -> None:
        """Take note that both sides have closed; last: the direction from the one that did last."""


class NativeLoop:
    """The loop in C, with its thread, from the first connection that it is given until `close`.

    sink: takes flows that are not only counted; counted: those that are. wants: says which are, and
    which frames are copied. copies: says up to where; the memory for them is the loop's own, as
    much again, which all threads of the proxy share.
    """

    def __init__(
        self,
        sink: Sink,
        counted: Callable[[CountedFlows], None],
        wants: Wants,
        copies: Copies,
        limits: Limits,
    ) -> None:
        self._sink = sink
        self._counted = counted
        self._wants = wants
        self._copies = copies
        self._limits = limits
        self._loop: Loop | None = None
        self._thread: Thread | None = None
        self._movers: dict[int, Mover] = {}
        self._interests: dict[tuple[int, int], tuple[Interest, Interest]] = {}

    def __len__(self) -> int:
        """Return how many connections the loop moves."""
        return len(self._movers)

    def give(self, mover: Mover, moved: Moved) -> int:
        """Have the loop move a connection from now on; return its number.

        Raises OSError without a descriptor, RuntimeError without a thread for the loop.
        """
        loop = self._loop or self._start()
        for key, version, *_ in moved.pending:
            if (key, version) not in self._interests:
                self._ask(key, version)  # now: the loop would copy what it does not know
        number = loop.add(moved, time.monotonic_ns())
        self._movers[number] = mover
        return number

    def take(self, number: int) -> ReturnedConnection | None:
        """Take a connection back; None if it is on its way, by `come_back` or `ended`."""
        assert self._loop is not None
        state = self._loop.take(number)
        if state is None:
            return None
        mover = self._movers[number]
        self._count(mover, state[7])
        self._read_events()  # what ended before: a flow must not follow the end of its connection
        del self._movers[number]
        return ReturnedConnection.of(state)

    def look(self, now: float) -> None:
        """Report what was counted, and take back what takes too long. now: steady seconds."""
        if self._loop is None:
            return
        limits = self._limits
        for count in self._loop.counts():
            self._count(self._movers[count[0]], [count])
        idle, progress = int(limits.idle * NS), int(limits.progress * NS)
        for number in self._loop.overdue(int(now * NS), idle, progress, limits.step):
            mover = self._movers.get(number)
            if mover is not None and (state := self.take(number)) is not None:
                mover.come_back(state)

    def look_again(self) -> None:
        """Ask again what is wanted, and how much is copied: it may have changed."""
        self._interests.clear()
        if self._loop is not None:
            self._loop.forget_interests(self._copies.copy_limit)

    async def close(self) -> None:
        """End the thread. To be called when the loop has no connection any more."""
        if self._loop is None or self._thread is None:
            return
        asyncio.get_running_loop().remove_reader(self._loop.fileno())
        self._loop.stop()
        await asyncio.to_thread(self._thread.join)
        self._read_events()
        self._loop = self._thread = None

    def _start(self) -> Loop:
        copies = self._copies
        loop = Loop(
            BOUNDS,
            care(),
            self._limits.request_size,
            copies.copy_limit,
            copies.memory_limit // self._limits.threads,
            READ_SIZE,
            WRITE_LIMIT,
        )
        thread = Thread(target=loop.run, name="kwire-data-path", daemon=True)
        thread.start()
        self._loop, self._thread = loop, thread
        asyncio.get_running_loop().add_reader(loop.fileno(), self._read_events)
        return loop

    def _read_events(self) -> None:
        assert self._loop is not None
        for event in self._loop.events():
            self._handle(event)

    def _handle(self, event: _EventTuple) -> None:
        if len(event) == 5:
            self._end_flow(*event)
            return
        mover = self._movers.pop(event[0])
        if len(event) == 3:
            self._count(mover, event[2])
            mover.ended(_RESPONSE if event[1] else _REQUEST)
        else:
            self._count(mover, event[7])
            mover.come_back(ReturnedConnection.of(event))

    def _end_flow(
        self,
        number: int,
        asked: tuple[int, int, int, int, float, int, bytes | None, bool],
        answered: int,
        response_size: int,
        response: bytes | None,
    ) -> None:
        key, version = asked[:2]
        wanted = self._interests.get((key, version)) or self._ask(key, version)
        flow = AskedFlow(*asked).flow(self._movers[number].connection)
        flow.request_copy = self._copied(flow, wanted[0], flow.request_copy, asked[7])
        if response_size < 0:
            flow.outcome = _NO_RESPONSE
        else:
            flow.outcome = _ANSWERED
            flow.answered, flow.response_size = answered / NS, response_size
            flow.response_copy = self._copied(flow, wanted[1], response, asked[7])
        self._sink(flow)

    def _copied(
        self, flow: Flow, wanted: Interest, copy: bytes | None, no_room: bool
    ) -> bytes | None:
        """Return a copy if it is wanted; no_room: one of its flow was given up."""
        if wanted is not Interest.TAP:
            return None
        if no_room and copy is None:
            self._copies.give_up(flow.problems)
        return copy

    def _ask(self, key: int, version: int) -> tuple[Interest, Interest]:
        """Return what an API and version are wanted for, and tell the loop."""
        assert self._loop is not None
        wanted = self._wants(key, version, _REQUEST), self._wants(key, version, _RESPONSE)
        self._loop.set_interest(key, version, *(_INTERESTS[interest] for interest in wanted))
        # What a peer makes up is asked for again each time, as the loop does.
        if 0 <= key < _KEYS and 0 <= version < _VERSIONS:
            self._interests[key, version] = wanted
        return wanted

    def _count(self, mover: Mover, counts: list[_CountTuple]) -> None:
        connection = mover.connection
        for _, key, version, requests, asked, answered, seconds, buckets in counts:
            self._counted(
                CountedFlows(
                    connection=connection,
                    client_id=connection.client_id,
                    key=key,
                    version=version,
                    requests=requests,
                    request_bytes=asked,
                    response_bytes=answered,
                    seconds=seconds,
                    buckets=buckets,
                )
            )
