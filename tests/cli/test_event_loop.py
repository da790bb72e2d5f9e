"""The event loop of a command."""

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any

import pytest

from kwire.cli.event_loop import run


async def answer() -> int:
    return 42


def test_the_result_of_the_coroutine_is_returned() -> None:
    assert run(answer()) == 42


def test_a_signal_before_the_loop_runs_leaves_no_coroutine(monkeypatch: pytest.MonkeyPatch) -> None:
    coroutines: list[Coroutine[Any, Any, object]] = [answer()]

    def interrupted(main: Coroutine[Any, Any, object]) -> None:
        coroutines.append(main)
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(coroutines[0])
    assert [*map(inspect.getcoroutinestate, coroutines)] == [inspect.CORO_CLOSED] * 2
