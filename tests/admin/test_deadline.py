"""The end of an operation, and the pauses before it."""

from __future__ import annotations

import asyncio
import time

import pytest

from kwire.admin.deadline import FIRST_PAUSE, USEFUL, Deadline
from kwire.net.timeouts import Timeouts


@pytest.mark.parametrize(
    ("operation", "late", "goes_on"),
    [
        (FIRST_PAUSE + USEFUL + 0.1, 0.0, True),
        (FIRST_PAUSE + USEFUL - 0.01, 0.0, False),
        (FIRST_PAUSE + USEFUL + 0.1, 0.11, False),
        (FIRST_PAUSE + USEFUL + 0.1, 5.0, False),
    ],
)
async def test_no_pause_leaves_an_attempt_without_time(
    monkeypatch: pytest.MonkeyPatch, operation: float, late: float, goes_on: bool
) -> None:
    now = [100.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds + late

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(asyncio, "sleep", sleep)
    deadline = Deadline(Timeouts(operation=operation))
    assert await deadline.pause() is goes_on
