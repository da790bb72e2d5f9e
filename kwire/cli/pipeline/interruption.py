"""Ctrl-C and SIGTERM while Spark starts or works: cancel its jobs, end the command with 130."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any, Self, cast

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark import SparkContext
    from pyspark.accumulators import AccumulatorServer
    from pyspark.sql import SparkSession

SECONDS = 0.2
"""Seconds between two cancellations of all jobs: the command may have begun another one."""

HOLD = 0.2
"""Seconds for which Spark's stderr is held back: a signal may reach the JVM before this process."""

_silent = Event()
"""From a signal to the next Interruption: Spark's processes and threads complain to nobody."""

_held = Lock()
"""Taken while something of Spark's stderr is held back, and printed."""

_noted = Event()
"""A signal came, and its KeyboardInterrupt not yet; of the process, as its signals are."""


def raise_if_noted() -> None:
    """Raise KeyboardInterrupt if a signal was noted; to be called outside of calls to the JVM.

    Without it, work that needs no Spark any more would go on to its end. Only in the main thread:
    a stream's steps are called by the JVM.
    """
    if _noted.is_set() and current_thread() is main_thread():
        raise KeyboardInterrupt


def spark_stderr() -> int:
    """Return a pipe that a JVM and its Python workers get as their stderr.

    What comes there is printed to this process's own, but for what comes within HOLD of a signal
    or later: they may get the signal, too, and end with errors and traces of any kind.
    """
    read, write = os.pipe()
    Thread(target=_relay, args=(read,), name="Spark's stderr", daemon=True).start()
    atexit.register(_held.acquire)  # nothing is lost that is held back at the end
    return write


def _relay(read: int) -> None:
    with open(read, "rb", buffering=0) as pipe:
        while printed := pipe.read(65536):
            with _held, suppress(OSError):  # nobody reads any more
                if not _silent.wait(HOLD):
                    os.write(2, printed)


def _silence() -> None:
    _silent.set()
    logging.disable()


class Interruption:
    """Turns the signal into a KeyboardInterrupt at the end of the context.

    Before the session has started, see `watch`, there is nothing to remove: the signal is raised at
    once, and whatever the start fails with then becomes a KeyboardInterrupt. Afterwards:

    1. Note the signal. Raised inside a call to the JVM, an exception would break the connection to
       it, and every later call would fail with a trace of its own.
    2. Cancel all jobs from a thread, again and again, so that the work fails and removes what it
       began.
    3. Raise KeyboardInterrupt at the next step of the work, see `raise_if_noted`; or here, whatever
       the work failed with, or if it did not fail.
    A second signal is raised at once.

    Spark, PySpark and py4j are silenced first, by a thread that hears of the signal before the main
    thread can, which may be in a long call: if the JVM got the signal, too, every call fails.
    """

    def __init__(self) -> None:
        self._context: SparkContext | None = None
        self._ended = Event()
        self._thread = Thread(target=self._cancel, name="interruption", daemon=True)

    def watch(self, spark: SparkSession) -> None:
        """Cancel the jobs of a session from now on, if a signal comes."""
        self._context = spark.sparkContext
        accumulators: Any = self._context._accumulatorServer
        accumulators.handle_error = partial(_print_unless_gone, accumulators)
        if self._is_main:  # a new session has put its own handler there: it raises inside its calls
            signal.signal(signal.SIGINT, self._note)

    def __enter__(self) -> Self:
        _silent.clear()
        self._is_main = current_thread() is main_thread()
        if self._is_main:
            self._before = signal.signal(signal.SIGINT, self._note)
            hearing, self._signals = socket.socketpair()
            self._signals.setblocking(False)
            self._wakeup_before = signal.set_wakeup_fd(self._signals.fileno())
            self._hearing = Thread(
                target=_silence_at_signal, args=(hearing,), name="signals", daemon=True
            )
            self._hearing.start()
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
            signal.set_wakeup_fd(self._wakeup_before)
            self._signals.close()
            self._hearing.join()  # or it would silence what comes after this context
        # 3.
        noted = _noted.is_set()
        _noted.clear()
        if noted and kind is not KeyboardInterrupt:
            raise KeyboardInterrupt from None

    def _note(self, *_: object) -> None:
        # 1.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _noted.set()
        _silence()
        if self._context is None:
            raise KeyboardInterrupt
        self._thread.start()

    def _cancel(self) -> None:
        # 2.
        with suppress(Exception):  # the JVM may have got the signal, too
            context = cast("SparkContext", self._context)
            context.setLogLevel("OFF")
            while not self._ended.is_set():
                context.cancelAllJobs()
                self._ended.wait(SECONDS)


def _silence_at_signal(hearing: socket.socket) -> None:
    with hearing:
        while number := hearing.recv(1):
            if number[0] in (signal.SIGINT, signal.SIGTERM):
                _silence()


def _print_unless_gone(accumulators: AccumulatorServer, *request: Any) -> None:
    """Print an error of the server to stderr, unless it is that the JVM is gone.

    Whatever ended the JVM is told by the calls that fail.
    """
    if not _silent.is_set() and not isinstance(sys.exc_info()[1], EOFError | OSError):
        type(accumulators).handle_error(accumulators, *request)
