"""Name lookups in threads that nobody waits for at the end.

A resolver that does not answer holds its thread for 10 to 30 s (resolv.conf(5): 5 s a server and
attempt). asyncio's own executor is joined when the loop closes, and again when Python exits, so
that a command with `--timeout 1` ended with the resolver's patience instead of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class AbandonableThreads(ThreadPoolExecutor):
    """Runs each call in a daemon thread of its own: `loop.set_default_executor(...)` takes it."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a call; return its future."""
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, name="kwire-resolver", daemon=True).start()
        return future
