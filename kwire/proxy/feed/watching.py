"""Watches a feed: events in their order, those that a datagram had to cut fetched whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from kwire.errors import AnswerLost
from kwire.net.address import Address
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.feed.datagrams import BadDatagram, Status
from kwire.proxy.feed.receiver import Receiver, Refused, Watched
from kwire.proxy.flows.flow import Event, Flow

WHOLE = 256 * 1024
"""Bytes of the longest flow that is fetched whole without being asked for."""

WAITING = 5000
"""Events that may wait for those before them."""


def missing_bytes(event: Event) -> int:
    """Bytes of a flow's frames that are not here, though its viewer could ask for them."""
    if not isinstance(event, Flow):
        return 0
    frames = (
        (event.request_size, event.request_copy),
        (event.response_size or 0, event.response_copy),
    )
    return sum(size - len(copy) for size, copy in frames if copy is not None)


def new_changes(before: Status | None, now: Status) -> tuple[str, ...]:
    """Return sentences about changes of the rules since an earlier status of the same feed."""
    if before is None or before.feed != now.feed:
        return ()
    return now.changes[-count:] if (count := now.rules - before.rules) > 0 else ()


@asynccontextmanager
async def watching(
    address: Address,
    take: Callable[[Watched], None],
    *,
    token: bytes = b"",
    backlog: int = 200,
    told: Callable[[], None] = lambda: None,
) -> AsyncIterator[Receiver]:
    """As Receiver, whose arguments these are; what finds no room to wait is passed on as cut."""
    queue: asyncio.Queue[Watched] = asyncio.Queue(WAITING)

    def put(watched: Watched) -> None:
        try:
            queue.put_nowait(watched)
        except asyncio.QueueFull:
            take(watched)

    async with Receiver(address, put, token=token, backlog=backlog, told=told) as receiver:
        task = asyncio.create_task(_complete(receiver, queue, take))
        try:
            yield receiver
        finally:
            await cancel_and_wait([task])


async def _complete(
    receiver: Receiver, queue: asyncio.Queue[Watched], take: Callable[[Watched], None]
) -> None:
    while True:
        watched = await queue.get()
        if 0 < missing_bytes(watched.event) <= WHOLE:
            with suppress(Refused, AnswerLost, BadDatagram):
                event = await receiver.whole(watched.number)
                watched = Watched(watched.number, event, watched.held)
        take(watched)
