"""The task that drives a Replay, and tells the replica when it has caught up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kwire.controller.raft import Replaying
from kwire.controller.server.collector import collector
from kwire.controller.server.metadata.replay import Replay
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.net.tasks import cancel_and_wait

MANY_SLICES = 200
"""Slices (50,000 records) from which on the garbage collector leaves out what a replay made."""


class ReplayTask:
    """Applies one slice at once, and the rest in a task, one slice at every turn of the loop.

    The first slice at once, so that the few records of an everyday commit need no task.

    publish: called after each slice. read: called when the first task has read the log to its end;
    an exception that it raises ends the controller.
    """

    def __init__(
        self,
        replay: Replay,
        runtime: RaftRuntime,
        *,
        publish: Callable[[], None],
        read: Callable[[], None],
    ) -> None:
        self._replay = replay
        self._runtime = runtime
        self._publish = publish
        self._read: Callable[[], None] | None = read
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """True while records are left to apply."""
        return self._task is not None

    def start(self) -> None:
        """Apply the first slice. The replica has not started: its Start event says what is left."""
        if self._replay.apply_slice():
            self._task = asyncio.get_running_loop().create_task(self._apply_rest())
        self._publish()

    def resume(self) -> None:
        """Apply newly committed records, or a snapshot; tell the replica if that takes a task."""
        if self.is_running:
            return
        self._read = None
        self.start()
        if self.is_running:
            self._runtime.feed(Replaying(is_replaying=True))

    async def stop(self) -> None:
        """Cancel the task between two slices."""
        if self._task is not None:
            await cancel_and_wait([self._task])

    async def _apply_rest(self) -> None:
        try:
            # A collection in the middle would visit everything that was made so far.
            with collector.paused():
                slices = 1
                while self._replay.apply_slice():
                    slices += 1
                    self._publish()
                    await asyncio.sleep(0)  # votes, fetches and requests have their turn
                if slices >= MANY_SLICES:
                    collector.leave_out_all()
            if read := self._read:
                self._read = None
                read()
        except Exception as error:
            self._runtime.fail(error)
            return
        self._task = None
        self._publish()
        self._runtime.feed(Replaying(is_replaying=False))
