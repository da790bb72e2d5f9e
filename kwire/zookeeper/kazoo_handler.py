"""Joins kazoo to an event loop: its thread connects and reads, its callbacks run on the loop."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler

from kwire.zookeeper.kazoo_sockets import BufferedSocket, WakeUpReader, WakeUps, WakeUpWriter, ready
from kwire.zookeeper.reachability import FailedAttempt, SocketAddress

HAS_POLL = hasattr(select, "poll")
"""False on Windows, where kazoo's own sockets are used."""

SLICE = 0.1
"""Seconds after which a thread that connects looks if it shall end."""


class LoopQueue:
    """Calls functions on the event loop in the order in which threads put them.

    kazoo puts its completions and its watches here, so that a watch is called before the answer
    that shows the change.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._acts: list[Callable[[], object]] = []

    def put(self, act: Callable[[], object]) -> None:
        """Call a function soon; wake the loop only for the first of many."""
        with self._lock:
            self._acts.append(act)
            if len(self._acts) > 1:
                return
        try:
            self._loop.call_soon_threadsafe(self._run)
        except RuntimeError:  # the loop is closed: nobody waits for an answer
            return

    def _run(self) -> None:
        with self._lock:
            acts, self._acts = self._acts, []
        for act in acts:
            try:
                act()
            except Exception as error:
                text = "a callback of ZooKeeper failed"
                self._loop.call_exception_handler({"message": text, "exception": error})


class KazooHandler(SequentialThreadingHandler):
    """One thread a client: the one that connects, writes and reads.

    tls: the context of TLS, None without. failure: why the last attempt to connect failed; None
    while none did. on_attempt: called in the thread after each attempt. thread_failure: the
    exception that ended the thread before its time.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, tls: ssl.SSLContext | None) -> None:
        super().__init__()
        self.deliveries = LoopQueue(loop)
        self.completion_queue = self.callback_queue = self.deliveries
        self.failure: str | None = None
        self.on_attempt: Callable[[SocketAddress, FailedAttempt | None], object]
        self.on_attempt = lambda address, failure: None
        self.thread_failure: Exception | None = None
        self.threads: list[threading.Thread] = []
        self._tls = tls
        self._socket: socket.socket | None = None
        self._is_aborted = False

    @property
    def running(self) -> bool:
        """True: callbacks go to the loop even after the end."""
        return True

    def start(self) -> None:
        """Do nothing: there are no threads for callbacks."""

    def stop(self) -> None:
        """Do nothing, as for `start`."""

    def spawn(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> threading.Thread:
        """Start the thread of a connection; keep the exception that ends it."""

        def run() -> None:
            try:
                func(*args, **kwargs)
            except Exception as error:
                self.thread_failure = error

        thread = threading.Thread(target=run, name="kwire-zookeeper", daemon=True)
        self.threads.append(thread)
        thread.start()
        return thread

    def dispatch_callback(self, callback: Any) -> None:
        """Call a watch on the loop."""
        self.deliveries.put(partial(callback.func, *callback.args))

    def drop_connection(self) -> None:
        """Cut the connection, so that kazoo opens another. Called from any thread."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def abort(self) -> None:
        """Cut the connection and refuse new ones: the thread ends soon. Called from any thread."""
        self._is_aborted = True
        self.drop_connection()

    def create_connection(
        self, address: tuple[str, int], hostname: str = "", timeout: float = 10, **_: object
    ) -> socket.socket | BufferedSocket:
        """Connect to a server; `failure` says why if it raises OSError."""
        until = time.monotonic() + timeout
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        connection = self._socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            self._connect(connection, address, until)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                connection = self._socket = self._secured(connection, hostname, until)
        except OSError as error:
            connection.close()
            self.failure = f"{address[0]}:{address[1]}: {_reason(error)}"
            is_refused = not isinstance(error, TimeoutError)
            self.on_attempt(address, FailedAttempt(reason=_reason(error), is_refused=is_refused))
            raise
        self.failure = None
        self.on_attempt(address, None)
        return BufferedSocket(connection) if HAS_POLL else connection

    def create_socket_pair(self) -> tuple[Any, Any]:
        """Return the ends by which requests wake the thread."""
        if not HAS_POLL:
            return socket.socketpair()
        wake_ups = WakeUps()
        return WakeUpReader(wake_ups), WakeUpWriter(wake_ups)

    def select(
        self,
        reading: Sequence[Any],
        writing: Sequence[Any],
        _: Sequence[Any],
        timeout: float | None = None,
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Wait until a socket can be read or written."""
        if not HAS_POLL:
            readable, writable, others = super().select(reading, writing, _, timeout)
            return readable, writable, others
        return (*ready(reading, writing, timeout), [])

    def _connect(self, connection: socket.socket, address: tuple[str, int], until: float) -> None:
        connection.setblocking(False)
        code = connection.connect_ex(address)
        if code not in (0, errno.EINPROGRESS, errno.EWOULDBLOCK):
            raise OSError(code, os.strerror(code))
        while not self.select([], [connection], [], SLICE)[1]:
            if self._is_aborted or time.monotonic() > until:
                raise TimeoutError(errno.ETIMEDOUT, "no connection in time")
        if code := connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(code, os.strerror(code))

    def _secured(self, connection: socket.socket, hostname: str, until: float) -> ssl.SSLSocket:
        assert self._tls is not None
        connection.settimeout(max(until - time.monotonic(), SLICE))
        return self._tls.wrap_socket(connection, server_hostname=hostname)


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason or error}): is it a port with TLS?"
    return error.strerror or str(error)
