"""The due work of an active controller, such as fencing, written at its time.

Java's QuorumController has deferred events and PeriodicTaskControlManager for this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.server.large_messages import in_thread_if
from kwire.controller.server.metadata.long_requests import is_large
from kwire.controller.server.metadata.write_queue import WriteQueue
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.controller.state_machine.operations import run_and_encode
from kwire.controller.state_machine.quorum_controller import QuorumController
from kwire.net.tasks import cancel_and_wait

RETRY = 1.0
"""Seconds after a fault until due work is tried again."""


class OwnRecordsWriter(Protocol):
    """Appends records for which no client waits. batches: the records, if they are encoded."""

    def __call__(
        self, records: tuple[VersionedRecord, ...], batches: Iterable[bytes] | None = None
    ) -> None: ...


class PeriodicWriter:
    """Runs the periodic tasks of a QuorumController while it is active.

    turns: the order of writes. refresh: called before each look at the state machine. write: takes
    the records.
    """

    def __init__(
        self,
        controller: QuorumController,
        runtime: RaftRuntime,
        turns: WriteQueue,
        *,
        refresh: Callable[[], None],
        write: OwnRecordsWriter,
    ) -> None:
        self._controller = controller
        self._runtime = runtime
        self._turns = turns
        self._refresh = refresh
        self._write = write
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def run(self) -> None:
        """Write the records of due work; come again at the next deadline.

        Long work waits for its turn among the writes and runs in a thread. May be called before
        the deadline, too. After a fault it comes again: else no broker would be fenced any more.
        """
        self.pause()
        with self._retried():
            self._run()

    @contextmanager
    def _retried(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            loop = asyncio.get_running_loop()
            text = f"due work failed, and is tried again in {RETRY:g} s"
            loop.call_exception_handler({"message": text, "exception": error})
            self._timer = loop.call_later(RETRY, self.run)

    def _run(self) -> None:
        controller = self._controller
        # At once, unless a write has its turn: the log keeps the order in which both were handled.
        while controller.is_active and not self._turns.is_busy and not self._is_long:
            self._refresh()
            records = controller.tick(self._runtime.now, self._runtime.raft.end_offset)
            if not records:
                self._run_later()
                return
            self._write(records)
        if controller.epoch is not None:
            task = asyncio.get_running_loop().create_task(self._run_long(controller.epoch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @property
    def _is_long(self) -> bool:
        image = self._controller.ahead.image
        return is_large(image) and self._controller.is_tick_long(self._runtime.now)

    async def _run_long(self, epoch: int) -> None:
        with self._retried():
            await self._run_in_thread(epoch)

    async def _run_in_thread(self, epoch: int) -> None:
        controller, raft = self._controller, self._runtime.raft
        async with self._turns.turn():
            self._refresh()
            if controller.epoch != epoch:
                return
            work = controller.begin_tick(self._runtime.now, raft.end_offset)
            if work is None:
                return
            outcome = await in_thread_if(self._is_long, run_and_encode, work)
            if controller.epoch != epoch:
                return
            # Work that does not fit any more is dropped: the next tick finds it again.
            if controller.is_current(work, raft.end_offset):
                self._write(controller.finish_tick(work, outcome), outcome.batches)
        self.run()

    def _run_later(self) -> None:
        deadline = self._controller.deadline()
        if deadline is not None:
            delay = max(0.001, (deadline - self._runtime.now) / 1000)
            self._timer = asyncio.get_running_loop().call_later(delay, self.run)

    def pause(self) -> None:
        """Forget the next deadline: the controller is not active any more."""
        if self._timer:
            self._timer.cancel()
            self._timer = None

    async def stop(self) -> None:
        """Cancel work in a thread; return when it has ended."""
        await cancel_and_wait(list(self._tasks))
