"""Runs a Replay beside the event loop's other work, and tells the replica when it has caught up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kwire.controller.raft import Replaying
from kwire.controller.server.collector import collector
from kwire.controller.server.metadata.replay import Replay
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.net.tasks import cancel_and_wait

MANY_SLICES = 200
"""Slices of a replay whose result is left out of later collections: 50,000 records."""


class ReplayTask:
    """Applies one slice at once, and what is left in a task, a slice at every turn of the loop.

    publish: called when something was applied. read: called when the log was read for the first
    time in a task; what it raises ends the controller.
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
        """True while something is left to apply."""
        return self._task is not None

    def start(self) -> None:
        """Begin; the replica is not told, for it has not started."""
        if self._replay.apply_slice():
            self._task = asyncio.get_running_loop().create_task(self._apply_rest())
        self._publish()

    def go_on(self) -> None:
        """Apply what has been added to the replay's work."""
        if self.is_running:
            return
        self._read = None
        self.start()
        if self.is_running:
            self._runtime.feed(Replaying(is_replaying=True))

    async def stop(self) -> None:
        """End where it is."""
        if self._task is not None:
            await cancel_and_wait([self._task])

    async def _apply_rest(self) -> None:
        try:
            with collector.paused():
                slices = 1
                while self._replay.apply_slice():
                    slices += 1
                    self._publish()
                    await asyncio.sleep(0)
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
