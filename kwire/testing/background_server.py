"""A server in a thread of its own, for tests without asyncio."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Self

from kwire.errors import InvalidValue


class BackgroundServer(ABC):
    """Serves in a thread while the context lasts. what: it is, in words."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._opened: Future[str] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name=f"kwire-{what}", daemon=True)

    @abstractmethod
    def _serving(self) -> AbstractAsyncContextManager[str]:
        """Serve while the context lasts; its value are the addresses for clients."""

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` for clients. Raises InvalidValue before `start`."""
        if not self._opened.done():
            raise InvalidValue(
                f"the {self._what} does not listen yet: start it, or use it in a `with`"
            )
        return self._opened.result()

    def start(self) -> None:
        """Listen. Raises CannotListen, InvalidValue if it was started before."""
        if self._thread.ident is not None:
            raise InvalidValue(f"a {self._what} is started once: make a new one")
        self._thread.start()
        self._opened.result()

    def close(self) -> None:
        """Close all connections and stop listening. A second call does nothing."""
        if self._loop is not None and self._ended is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._ended.set)
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        async with self._serving() as addresses:
            self._opened.set_result(addresses)
            await self._ended.wait()
