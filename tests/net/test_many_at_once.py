"""Many reads at a time, up to a limit; nothing of them is left when they end."""

import asyncio

import pytest

from kwire.net.many_at_once import many_at_once


def running() -> int:
    """Return the number of tasks beside that of the test."""
    return len(asyncio.all_tasks()) - 1


async def wait_forever(number: int) -> None:
    await asyncio.Event().wait()


async def test_results_come_in_the_order_of_the_items() -> None:
    async def read(number: int) -> int:
        await asyncio.sleep(0.001 * (5 - number))
        return number * 10

    assert await many_at_once(range(5), read) == [0, 10, 20, 30, 40]


async def test_of_nothing_nothing_is_read() -> None:
    assert await many_at_once([], wait_forever) == []


async def test_never_more_than_the_limit_are_under_way() -> None:
    under_way = highest = 0

    async def read(number: int) -> None:
        nonlocal under_way, highest
        under_way += 1
        highest = max(highest, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    await many_at_once(range(50), read, limit=7)
    assert highest == 7


async def test_there_are_no_more_tasks_than_items() -> None:
    highest = 0

    async def read(number: int) -> None:
        nonlocal highest
        highest = max(highest, running())
        await asyncio.sleep(0)

    await many_at_once(range(3), read)
    assert highest == 3


async def test_progress_is_told_after_each() -> None:
    told: list[int] = []

    async def read(number: int) -> None:
        await asyncio.sleep(0)

    await many_at_once(range(5), read, limit=2, progress=told.append)
    assert told == [1, 2, 3, 4, 5]


async def test_the_first_error_ends_all_and_is_raised_itself() -> None:
    ended, error = [], LookupError("three")

    async def read(number: int) -> None:
        if number == 3:
            raise error
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    with pytest.raises(LookupError) as raised:
        await many_at_once(range(1000), read, limit=5)
    assert raised.value is error
    assert sorted(ended) == [0, 1, 2, 4]
    assert running() == 0


async def test_who_is_cancelled_leaves_no_task_behind() -> None:
    reading = asyncio.create_task(many_at_once(range(10), wait_forever, limit=4))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert running() == 5
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert running() == 0


async def test_a_deadline_ends_all() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await many_at_once(range(10), wait_forever)
    assert running() == 0


async def test_a_read_that_was_cancelled_by_itself_is_no_missing_result() -> None:
    async def read(number: int) -> int:
        if number == 1:
            raise asyncio.CancelledError
        return number

    with pytest.raises(asyncio.CancelledError):
        await many_at_once(range(3), read)
