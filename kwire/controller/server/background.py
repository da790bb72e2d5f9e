"""A quorum in a thread of its own, for programs without asyncio.

with BackgroundQuorum(3) as quorum:
    subprocess.run([..., "--bootstrap-controller", quorum.bootstrap_controllers])
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from kwire.controller.server.quorum import Quorum
from kwire.errors import InvalidValue
from kwire.net.tasks import cancel_and_wait

T = TypeVar("T")


class BackgroundQuorum:
    """A Quorum in a thread. Takes the parameters of `Quorum`.

    quorum: may be read from any thread; whatever acts on it goes through `run`.
    """

    def __init__(self, size: int = 3, **options: Any) -> None:
        self.quorum = Quorum(size, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kwire-quorum")
        self._working: set[asyncio.Task[Any]] = set()
        self._changing = threading.Lock()
        self._closed = False

    @property
    def bootstrap_controllers(self) -> str:
        """`host:port,...` of the controllers, for clients."""
        return self.quorum.bootstrap_controllers

    def start(self) -> None:
        """Start all controllers; return when one of them is active. InvalidValue after `close`."""
        with self._changing:
            if self._closed:
                raise InvalidValue("the quorum is closed: make a new one")
            self._thread.start()
            started = self._submit(self.quorum.start)
        started.result()

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine function in the quorum's thread and return its result.

        Example: `background.run(background.quorum.wait_for_leader)`.
        """
        return self._submit(work).result()

    def _submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(self._registered(work), self._loop)

    async def _registered(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._working.add(task)
        try:
            return await work()
        finally:
            self._working.discard(task)

    def kill(self, node_id: int) -> None:
        """Stop a controller at once, as a power cut would."""
        self.run(self.quorum.nodes[node_id].kill)

    def start_node(self, node_id: int) -> None:
        """Start a controller again."""

        async def work() -> None:
            await self.quorum.start_node(node_id)

        self.run(work)

    def close(self) -> None:
        """Stop the quorum and cancel calls of other threads. A second call does nothing."""
        with self._changing:
            if self._closed:
                return
            self._closed = True
            # Also a quorum that never started is stopped in its loop: it holds bound sockets.
            if not self._thread.is_alive():
                self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        finally:  # a thread that still runs would keep the program from ending
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _stop(self) -> None:
        """Stop the quorum after all calls have ended: they may still write into its folders."""
        await cancel_and_wait(self._working)
        await self.quorum.stop()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
