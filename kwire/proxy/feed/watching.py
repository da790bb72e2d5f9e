"""A viewer that fetches the flows that were cut to fit a datagram, and keeps the order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from kwire.errors import AnswerLost
from kwire.net.address import Address
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.feed.datagrams import BadDatagram, Status
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.source import CommandRefused, FeedEvent
from kwire.proxy.flows.flow import Event, Flow

WHOLE = 256 * 1024
"""Bytes of the longest flow that is fetched whole without a user's command."""

WAITING = 5000
"""Events that may wait for those before them to be fetched."""


def missing_bytes(event: Event) -> int:
    """Return how many bytes of a flow's frames are missing that the proxy can be asked for."""
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
    take: Callable[[FeedEvent], None],
    *,
    token: bytes = b"",
    backlog: int = 200,
    on_status: Callable[[], None] = lambda: None,
    samples: bool = False,
) -> AsyncIterator[Receiver]:
    """Watch a feed while the context lasts; the arguments are those of Receiver.

    If too many events wait, further ones are passed on as they came.
    """
    queue: asyncio.Queue[FeedEvent] = asyncio.Queue(WAITING)

    def put(event: FeedEvent) -> None:
        try:
            queue.put_nowait(event)
        except asyncio.QueueFull:
            take(event)

    async with Receiver(
        address, put, token=token, backlog=backlog, on_status=on_status, samples=samples
    ) as receiver:
        task = asyncio.create_task(_complete(receiver, queue, take))
        try:
            yield receiver
        finally:
            await cancel_and_wait([task])


async def _complete(
    receiver: Receiver, queue: asyncio.Queue[FeedEvent], take: Callable[[FeedEvent], None]
) -> None:
    while True:
        feed_event = await queue.get()
        if 0 < missing_bytes(feed_event.event) <= WHOLE:
            with suppress(CommandRefused, AnswerLost, BadDatagram):
                event = await receiver.complete_event(feed_event.number)
                feed_event = FeedEvent(feed_event.number, event, feed_event.held)
        take(feed_event)
