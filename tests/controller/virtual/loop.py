"""An asyncio event loop of virtual time that runs several processes: no real socket, no sleep."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from math import inf
from random import Random
from typing import Any, TypeVar, TypeVarTuple

from tests.controller.virtual.process import CURRENT, Process

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

TEST = "test"
"""The process of the code that directs the others."""

CALLBACK_COST = 20e-6, 120e-6
"""Seconds of CPU that a callback takes."""

THREAD_COST = 0.001, 0.02
"""Seconds that work in a thread takes."""


class NothingScheduled(RuntimeError):
    """Raised when every process waits for ever."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs the callbacks of each process in its own time.

    Python runs one of them after the other, but what a process does in its time reaches others only
    through the network, later. So a process may be ahead of the others by seconds, as one that is
    stopped within a function, or computes long, is.
    """

    def __init__(self, random: Random, start: float) -> None:
        super().__init__()
        self.now = start
        self.processes: dict[str, Process] = {}
        self._random = random

    def process(self, name: str) -> Process:
        """Return the process of a name; made when it is first asked for."""
        if name not in self.processes:
            self.processes[name] = Process(name, self.now)
        return self.processes[name]

    @property
    def current(self) -> Process:
        """The process whose code runs."""
        return self.process(CURRENT.get(TEST))

    async def run_in(self, name: str, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in a process, and return its result."""
        return await self.start_in(name, work)

    def start_in(self, name: str, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a coroutine in a process."""
        return self.create_task(work, context=self.process(name).context())

    def time(self) -> float:
        return max(self.now, self.current.clock)

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        context = copy_context() if context is None else context
        handle = asyncio.Handle(callback, args, self, context)
        self.process(context.get(CURRENT, TEST)).ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        context = copy_context() if context is None else context
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self.process(context.get(CURRENT, TEST)).set_timer(handle)
        return handle

    def arrive(
        self, process: Process, when: float, callback: Callable[[*Ts], object], *args: *Ts
    ) -> None:
        """Call something in a process when what the network carries is there."""
        process.arrive(when, asyncio.Handle(callback, args, self, process.context()))

    def run_in_executor(
        self, executor: Any, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Call a function later; in virtual time, so that seeds replay."""
        future: asyncio.Future[T] = self.create_future()

        def work() -> None:
            if future.cancelled():
                return
            try:
                future.set_result(func(*args))
            except Exception as error:
                future.set_exception(error)

        self.call_later(self._random.uniform(*THREAD_COST), work)
        return future

    def remove_reader(self, fd: Any) -> bool:
        """There are none."""
        return False

    def _run_once(self) -> None:
        """Run one turn of the process that is next. Called by `run_forever`."""
        process, when = None, inf
        for candidate in self.processes.values():
            turn = candidate.next_turn(self.now)
            if turn < when:
                process, when = candidate, turn
        if process is None:
            raise NothingScheduled("nothing is scheduled: every process waits for ever")
        self.now = when
        for _ in range(process.begin_turn(when)):
            self._run(process, process.ready.popleft())

    def _run(self, process: Process, handle: asyncio.Handle) -> None:
        if handle.cancelled():
            return
        process.clock += self._random.uniform(*CALLBACK_COST)
        if process.profile is None:
            handle._run()
            return
        sys.setprofile(process.profile)
        try:
            handle._run()
        finally:
            sys.setprofile(None)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Called by a handle that is cancelled; the process skips it."""

    def _write_to_self(self) -> None:
        """There is no selector to wake."""
