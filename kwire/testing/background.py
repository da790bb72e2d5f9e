"""A quorum in a thread of its own, for programs without asyncio.

with BackgroundQuorum(3) as quorum:
    subprocess.run([..., "--bootstrap-controller", quorum.bootstrap_controllers])
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from kwire.errors import InvalidValue
from kwire.net.tasks import cancel_and_wait
from kwire.testing.message_faults import MessageFaults
from kwire.testing.quorum import Quorum

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

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` of the brokers, for clients; empty if there are none."""
        return self.quorum.bootstrap_servers

    def wait_for_leader(self) -> int:
        """Return the id of the active controller as soon as there is one; TimeoutError if not."""
        return self.run(self.quorum.wait_for_leader)

    def kill(self, node_id: int) -> None:
        """Stop a controller or a broker at once, as a power cut would."""
        self.run(lambda: self.quorum.kill(node_id))

    def restart(self, node_id: int) -> None:
        """Start a controller or a broker again."""
        self.run(lambda: self.quorum.restart(node_id))

    def pause(self, node_id: int, seconds: float) -> None:
        """Have a controller or a broker stand still; return at once, it goes on by itself."""
        self.run(lambda: self.quorum.pause(node_id, seconds))

    def slow_disk(self, node_id: int, seconds: float) -> None:
        """Make every flush of a controller's log take so much longer; 0 ends that."""
        self._call(lambda: self.quorum.slow_disk(node_id, seconds))

    def partition(self, group: Iterable[int], others: Iterable[int] = ()) -> None:
        """Cut the links between two groups of nodes until `heal`; see `Quorum.partition`."""
        self._call(lambda: self.quorum.partition(group, others))

    def one_way(self, group: Iterable[int], others: Iterable[int] = ()) -> None:
        """Hold what the nodes of a group ask the others until `heal`."""
        self._call(lambda: self.quorum.one_way(group, others))

    def heal(self) -> None:
        """Mend all links; what they held arrives now."""
        self._call(self.quorum.heal)

    @property
    def faults(self) -> MessageFaults:
        """Faults in the messages that nodes get; may be used from any thread."""
        return self.quorum.faults

    def _call(self, action: Callable[[], None]) -> None:
        async def work() -> None:
            action()

        self.run(work)

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
