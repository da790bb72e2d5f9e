"""An event loop in a thread of its own, for callers that have none.

`asyncio.run` for each call would open new connections each time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Generic, Self, TypeVar

from kwire.admin.cluster_client import ClusterClient
from kwire.errors import InvalidValue, LocalError

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

    def close(self) -> None:
        """Close every connection, and end the thread. May be called again."""
        with self._starting:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is None:
            return
        asyncio.run_coroutine_threadsafe(self._client.close(), loop).result()
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
            loop = self._running_loop()
        except LocalError:
            operation.close()
            raise
        future = asyncio.run_coroutine_threadsafe(operation, loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._closed:
                raise InvalidValue("the client was closed: open a new one")
            if threading.current_thread() is self._thread:
                raise InvalidValue("a callback of the client's own loop would wait for itself")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon: a program that forgets `close` ends all the same.
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="kwire-admin", daemon=True
                )
                self._thread.start()
            return self._loop
