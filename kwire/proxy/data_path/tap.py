"""Decodes flows beside the traffic: a bounded queue, one flow a turn of the loop.

Long frames are decoded in a thread, one at a time, so that no turn of the loop takes long.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from copy import copy
from typing import Self

from kwire.messages.registry import api_key
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Event, Flow, Notice
from kwire.proxy.flows.peers import NODE_APIS

logger = logging.getLogger(__name__)

QUEUE_LIMIT = 64 * 1024 * 1024
"""Bytes of events that may wait by default."""

LONG = 32 * 1024
"""Bytes of a flow from which on a thread decodes it."""

_FETCH = api_key("Fetch")

FlowViewer = Callable[[DecodedFlow | Notice], None]
"""Takes decoded flows and notices, when there is time."""


class Tap:
    """A sink that gives its viewer decoded flows and notices, in order, without holding up traffic.

    async with Tap(show) as tap, Proxy(listeners, sinks=[tap]):
        ...

    At its end it shows what still waits. undecoded: flows that were shown without their messages,
    and dropped: events that were not shown at all, because too much waited.
    """

    def __init__(self, viewer: FlowViewer, limit: int = QUEUE_LIMIT) -> None:
        self._viewer = viewer
        self._limit = limit
        self._queue: deque[Event] = deque()
        self._waiting = 0
        self._filled = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None
        self._emptied = asyncio.Event()
        self._emptied.set()
        self.undecoded = 0
        self.dropped = 0

    def __call__(self, event: Event) -> None:
        """Take an event from the data path."""
        if self._waiting + event.weight > self._limit and isinstance(event, Flow):
            # First let go of the bytes, and only then of the flow: counts stay right longer.
            self.undecoded += 1
            event = _without_copies(event)
        if self._waiting + event.weight > self._limit:
            self.dropped += 1
            return
        self._waiting += event.weight
        self._queue.append(event)
        self._emptied.clear()
        self._filled.set()

    async def __aenter__(self) -> Self:
        self._worker = asyncio.get_running_loop().create_task(self._work())
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._worker is not None
        await cancel_and_wait([self._worker])
        while self._queue:
            await self._look(self._queue.popleft())

    async def caught_up(self) -> None:
        """Return when nothing waits to be shown."""
        await self._emptied.wait()

    async def _work(self) -> None:
        try:
            while True:
                await self._filled.wait()
                self._filled.clear()
                while self._queue:
                    event = self._queue[0]
                    # It stays in the queue until then: the end may interrupt the thread that
                    # decodes it, and shows what is left.
                    await self._look(event)
                    self._queue.popleft()
                    self._waiting -= event.weight
                    await asyncio.sleep(0)  # the traffic's turn
                self._emptied.set()
        finally:
            self._emptied.set()  # nobody shows anything any more

    async def _look(self, event: Event) -> None:
        seen = event if isinstance(event, Notice) else DecodedFlow(event)
        if isinstance(seen, DecodedFlow):
            # The decoding of a long frame would keep all connections waiting.
            if event.weight > LONG:
                await asyncio.to_thread(seen.read)
            _note_sender(seen)
        try:
            self._viewer(seen)
        except Exception:
            logger.exception("the viewer failed at %r", event)


def _without_copies(flow: Flow) -> Flow:
    light = copy(flow)
    light.request_copy = light.response_copy = None
    light.problems = [*flow.problems, "not decoded: too much waits to be decoded"]
    return light


def _note_sender(decoded: DecodedFlow) -> None:
    """Note the node id that a node gives in a request; its client id may not have had it."""
    flow = decoded.flow
    unknown = flow.connection.peer is None and (flow.key == _FETCH or flow.key in NODE_APIS)
    if unknown and decoded.node is not None:
        flow.connection.peer = decoded.node
