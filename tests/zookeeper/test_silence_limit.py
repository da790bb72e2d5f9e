"""A server that answers nothing is noticed, a process that stood still does not accuse it."""

from __future__ import annotations

import asyncio
import time

from kwire.zookeeper.silence_limit import SilenceLimit
from tests.support.virtual_time import in_virtual_time
from virtual_nodes.loop import VirtualLoop

SECONDS = 0.2


@in_virtual_time
async def test_no_answer_within_the_limit_is_told_each_time() -> None:
    told: asyncio.Queue[float] = asyncio.Queue()
    begun = time.monotonic()
    limit = SilenceLimit(SECONDS, lambda: told.put_nowait(time.monotonic() - begun))
    limit.sent()
    first = await asyncio.wait_for(told.get(), 10)
    assert first >= SECONDS
    assert await asyncio.wait_for(told.get(), 10) >= first + SECONDS
    limit.stop()


@in_virtual_time
async def test_an_answer_to_one_of_two_begins_anew() -> None:
    told: list[bool] = []
    limit = SilenceLimit(SECONDS, lambda: told.append(True))
    limit.sent()
    for _ in range(10):  # longer than the limit, with an answer within each half of it
        limit.sent()
        await asyncio.sleep(SECONDS / 5)
        limit.ended()
    assert not told
    limit.stop()


@in_virtual_time
async def test_nothing_is_told_if_nothing_is_waited_for() -> None:
    told: list[bool] = []
    limit = SilenceLimit(SECONDS, lambda: told.append(True))
    limit.sent()
    limit.ended()
    await asyncio.sleep(3 * SECONDS)
    assert not told


@in_virtual_time
async def test_a_process_that_stood_still_reads_the_answers_first() -> None:
    told: list[bool] = []
    limit = SilenceLimit(SECONDS, lambda: told.append(True))
    limit.sent()
    await asyncio.sleep(0)
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.current.stand_still(loop.now, 3 * SECONDS)
    await asyncio.sleep(0.001)
    assert not told
    limit.stop()
