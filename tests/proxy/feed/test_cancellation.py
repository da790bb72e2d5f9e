"""A cancellation while a viewer or a feed closes takes effect, and leaves no task behind."""

import asyncio
from collections.abc import Callable

import pytest

from kwire.net.address import Address
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.sender import Feed
from tests.support.proxy.feed.voting_traffic import HERE

ENDS: dict[str, Callable[[], Receiver | Feed]] = {
    "a viewer": lambda: Receiver(Address("127.0.0.1", 9), lambda watched: None),
    "a feed": lambda: Feed(HERE),
}


async def slow(cleaned: asyncio.Event) -> None:
    """A task that takes a while to end."""
    try:
        await asyncio.Event().wait()
    finally:
        await cleaned.wait()


@pytest.mark.parametrize("make", ENDS.values(), ids=list(ENDS))
async def test_a_cancellation_counts_behind_the_last_task(
    make: Callable[[], Receiver | Feed],
) -> None:
    cleaned = asyncio.Event()
    one = make()
    await one.__aenter__()
    one._tasks.append(asyncio.create_task(slow(cleaned)))
    await asyncio.sleep(0)
    closing = asyncio.create_task(one.__aexit__(None, None, None))
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.sleep(0)
    assert not closing.done()
    cleaned.set()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert all(task.cancelled() for task in one._tasks)
