"""Ctrl-C and SIGTERM while Spark starts or works: cancel its jobs, end the command with 130."""

from __future__ import annotations

import logging
import signal
from contextlib import suppress
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any, Self, cast

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

SECONDS = 0.2
"""Seconds between two cancellations of all jobs: the command may have begun another one."""


_noted = Event()
"""A signal came, and its KeyboardInterrupt not yet; of the process, as its signals are."""


def raise_if_noted() -> None:
    """Raise KeyboardInterrupt if a signal was noted; to be called outside of calls to the JVM.

    Without it, work that needs no Spark any more would go on to its end. Only in the main thread:
    a stream's steps are called by the JVM.
    """
    if _noted.is_set() and current_thread() is main_thread():
        raise KeyboardInterrupt


class Interruption:
    """Turns the signal into a KeyboardInterrupt at the end of the context.

    Before the session has started, see `watch`, there is nothing to remove: the signal is raised at
    once, and whatever the start fails with then becomes a KeyboardInterrupt. Afterwards:

    1. Note the signal. Raised inside a call to the JVM, an exception would break the connection to
       it, and every later call would fail with a trace of its own.
    2. Cancel all jobs from a thread, again and again, so that the work fails and removes what it
       began. Silence the JVM's log and Python's: if the JVM got the signal, too, py4j logs every
       call that fails, with its trace.
    3. Raise KeyboardInterrupt at the next step of the work, see `raise_if_noted`; or here, whatever
       the work failed with, or if it did not fail.
    A second signal is raised at once.
    """

    def __init__(self) -> None:
        self._context: SparkContext | None = None
        self._ended = Event()
        self._thread = Thread(target=self._cancel, name="interruption", daemon=True)

    def watch(self, spark: SparkSession) -> None:
        """Cancel the jobs of a session from now on, if a signal comes."""
        self._context = spark.sparkContext

    def __enter__(self) -> Self:
        self._is_main = current_thread() is main_thread()
        if self._is_main:  # PySpark's own handler raises inside its calls
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._is_main:
            signal.signal(signal.SIGINT, self._before)
        # 3.
        noted = _noted.is_set()
        _noted.clear()
        if noted and kind is not KeyboardInterrupt:
            raise KeyboardInterrupt from None

    def _note(self, *_: object) -> None:
        # 1.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _noted.set()
        logging.disable()
        if self._context is None:
            raise KeyboardInterrupt
        accumulators: Any = self._context._accumulatorServer
        accumulators.handle_error = _print_nothing  # it prints that the JVM is gone
        self._thread.start()

    def _cancel(self) -> None:
        # 2.
        with suppress(Exception):  # the JVM may have got the signal, too
            context = cast("SparkContext", self._context)
            context.setLogLevel("OFF")
            while not self._ended.is_set():
                context.cancelAllJobs()
                self._ended.wait(SECONDS)


def _print_nothing(*_: object) -> None:
    """Replace the function that prints an error to stderr."""
