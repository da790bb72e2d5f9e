"""Tasks are ended, whatever they and those who end them meet meanwhile."""

import asyncio
import logging

import pytest

from kwire.net.tasks import cancel_and_wait


async def sleep() -> None:
    await asyncio.Event().wait()


async def fail() -> None:
    raise RuntimeError("oh")


async def clean_up(cleaned: asyncio.Event) -> None:
    """Take a while to end."""
    try:
        await sleep()
    finally:
        await cleaned.wait()


async def test_all_have_ended_whether_they_ran_or_not() -> None:
    tasks = [asyncio.create_task(sleep()) for _ in range(3)]
    done = asyncio.create_task(asyncio.sleep(0, "value"))
    assert await done == "value"
    await asyncio.sleep(0)
    never_begun = asyncio.create_task(sleep())
    await cancel_and_wait([*tasks, done, never_begun])
    assert all(task.cancelled() for task in [*tasks, never_begun])
    await cancel_and_wait([])


async def test_a_failure_is_logged_and_the_others_end(caplog: pytest.LogCaptureFixture) -> None:
    failed, other = asyncio.create_task(fail()), asyncio.create_task(sleep())
    await asyncio.sleep(0)
    with caplog.at_level(logging.ERROR, "kwire.net.tasks"):
        await cancel_and_wait([failed, other])
    assert other.cancelled()
    (record,) = caplog.records
    assert "fail" in record.getMessage()
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "oh"


@pytest.mark.parametrize("times", [1, 2])
async def test_who_is_cancelled_meanwhile_is_so_behind_the_last_task(times: int) -> None:
    cleaned = asyncio.Event()
    slow = asyncio.create_task(clean_up(cleaned))
    await asyncio.sleep(0)
    closing = asyncio.create_task(cancel_and_wait([slow]))
    for _ in range(times):
        await asyncio.sleep(0)
        closing.cancel()
    await asyncio.sleep(0)
    assert not closing.done()
    cleaned.set()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert slow.cancelled()


async def test_a_deadline_is_met_behind_the_last_task() -> None:
    cleaned = asyncio.Event()
    slow = asyncio.create_task(clean_up(cleaned))
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_later(0.05, cleaned.set)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await cancel_and_wait([slow])
    assert slow.cancelled()
