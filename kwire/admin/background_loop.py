"""An event loop in a thread of its own, for callers that have none.

`asyncio.run` for each call would open new connections each time.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, Generic, Self, TypeVar

from kwire.admin.cluster_client import ClusterClient
from kwire.errors import AnswerLost, InvalidValue, LocalError
from kwire.net.resolving import AbandonableThreads

Client = TypeVar("Client", bound=ClusterClient)
T = TypeVar("T")


class BackgroundLoop(Generic[Client]):
    """Runs the operations of an asynchronous client in one loop; started by the first call."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._closed = False
        self._process = os.getpid()

    def close(self) -> None:
        """Close every connection, and end the thread. May be called again.

        Calls of other threads that still wait raise AnswerLost.
        """
        with self._starting:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is None or self._process != os.getpid():
            return  # a forked process has the parent's connections, but not the thread
        asyncio.run_coroutine_threadsafe(self._end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        assert self._thread is not None
        self._thread.join()
        loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _wait(self, operation: Coroutine[Any, Any, T]) -> T:
        """Return the result of an operation; Ctrl-C cancels it. Raises what it raises."""
        try:
            future = self._begin(operation)
        except LocalError:
            operation.close()
            raise
        try:
            return future.result()
        except CancelledError:
            raise AnswerLost("the client was closed while a call waited for its answer") from None
        except BaseException:
            future.cancel()
            raise

    async def _end(self) -> None:
        """Cancel the calls that wait, which would else wait for ever, and close the client."""
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await self._client.close()

    def _begin(self, operation: Coroutine[Any, Any, T]) -> Future[T]:
        """Start an operation in the loop; none after `close` began, which ends the loop."""
        with self._starting:
            if self._process != os.getpid():
                raise InvalidValue("the client was opened before a fork: open a new one here")
            if self._closed:
                raise InvalidValue("the client was closed: open a new one")
            if threading.current_thread() is self._thread:
                raise InvalidValue("a callback of the client's own loop would wait for itself")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(AbandonableThreads())
                # A daemon: a program that forgets `close` ends all the same.
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="kwire-admin", daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(operation, self._loop)
