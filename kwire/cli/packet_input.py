"""Files and pipes of packets, read up to the first Ctrl-C.

A pipe is read in a thread: what it has is there at once, and time passes while it is silent.
"""

from __future__ import annotations

import math
import os
import signal
import stat
import sys
import time
from contextlib import suppress
from io import UnsupportedOperation
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO, Self, cast

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.options import option, repeated
from kwire.extras import importing
from kwire.operating_system import TERMINATION

if TYPE_CHECKING:
    from io import BufferedReader

    from kwire.proxy.capture.packets.balance import Balance
    from kwire.proxy.capture.packets.key_log import KeyLog

STDIN = "stdin"
"""The name of the pipe in messages."""

NODE_PORT: list[int] = repeated(
    metavar="PORT",
    min=1,
    max=65535,
    help="A port at which nodes listen; repeatable. By default the client is the side that sends"
    " the SYN, and without a SYN the side that sends requests.",
)
"""The option --node-port of commands that read packets."""

TLS_KEYS: Path | None = option(
    "--tls-keys",
    metavar="FILE",
    help="A key log, as SSLKEYLOGFILE and `kwire proxy --tls-keys-out` have it written, to decrypt"
    " TLS with. It may grow meanwhile.",
)
"""The option --tls-keys of commands that read packets."""

MOMENT = 1.0
"""Seconds after which a reader of a pipe hears that time has passed."""

_CHUNK, _CHUNKS = 64 * 1024, 64  # bytes of a read, and most that wait
_FEW = 16 * 1024  # bytes behind which a pause lets more come: one wake for many packets
_PAUSE = 0.1  # seconds
_REST = 0.5  # seconds from a signal to the end: tcpdump has it, too, and writes what it has


class PacketInput:
    """Reads files up to the first Ctrl-C or SIGTERM, at which they end; a second one is raised.

    end: when a pipe ends at the latest, monotonic seconds.
    """

    def __init__(self) -> None:
        self.stopped = False
        self.end = math.inf
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for name in ("SIGINT", *TERMINATION):
            number = getattr(signal, name, None)
            # A shell starts a script's background jobs with SIGINT ignored.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def file(self, file: BufferedReader) -> BinaryIO:
        """Return a file that has its bytes, and ends at a signal.

        Where it is a pipe, its `read` returns None when `MOMENT` has passed.
        """
        try:
            is_pipe = not stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        except UnsupportedOperation:
            is_pipe = False
        kind = _PipeInput if is_pipe else _FileInput
        return cast(BinaryIO, kind(self, file))

    def stop(self) -> None:
        """End the files."""
        self.end = time.monotonic() + _REST
        self.stopped = True

    def _stop(self, *_: object) -> None:
        self.__exit__()
        self.stop()


def key_log(path: Path | None) -> KeyLog | None:
    """Return the key log in a file, None without one. Raises WrongUsage, MissingExtra."""
    if path is None:
        return None
    with importing("cryptography", "security", "decrypting TLS"):
        from kwire.proxy.capture.packets.key_log import KeyLog

    try:
        return KeyLog(path)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        hint = "; if nothing has written it yet, make it empty" if is_missing else ""
        raise WrongUsage(f"cannot read {path}: {error.strerror}{hint}.") from error


def stdin_packets() -> BufferedReader:
    """Return stdin to read packets from. Raises WrongUsage if it is a terminal."""
    if sys.stdin.isatty():
        raise WrongUsage(
            "stdin is the terminal: packets come by a pipe, as in"
            " `tcpdump -U -w - port 9093 | kwire watch -`."
        )
    return cast("BufferedReader", sys.stdin.buffer)


def print_balance(name: str, balance: Balance, *, err: bool = False) -> list[str]:
    """Print what was read of a file and what was not; return the losses."""
    from kwire.text.untrusted import harmless

    typer.echo(f"\n{harmless(name)}", err=err)
    for item in balance.items:
        color = "yellow" if item.lost else None
        typer.secho(f"  {item.name:<14}{item.text}", fg=color, err=err)
    return [f"{harmless(name)}, {loss}" for loss in balance.losses]


class _FileInput:
    """A file whose bytes are there already."""

    def __init__(self, packets: PacketInput, file: BufferedReader) -> None:
        self._packets = packets
        self._file = file

    def read(self, size: int) -> bytes:
        return b"" if self._packets.stopped else self._file.read(size)


class _PipeInput:
    """A pipe whose bytes still come."""

    def __init__(self, packets: PacketInput, file: BufferedReader) -> None:
        self._packets = packets
        self._chunks: Queue[bytes] = Queue(_CHUNKS)
        self._data = bytearray()
        self._ended = False
        self._moment = time.monotonic() + MOMENT
        # Its own descriptor: the thread may still wait for bytes when the file is closed.
        Thread(
            target=self._fill, args=(os.dup(file.fileno()),), name="packets", daemon=True
        ).start()

    def read(self, size: int) -> bytes | None:
        """Return the next bytes, fewer at the end or after a signal; None for a moment."""
        while time.monotonic() < self._moment or self._packets.stopped:
            if len(self._data) >= size or self._ended or time.monotonic() > self._packets.end:
                data = bytes(self._data[:size])
                del self._data[:size]
                return data
            with suppress(Empty):
                chunk = self._chunks.get(timeout=_PAUSE)
                self._data += chunk
                self._ended = not chunk
        self._moment = time.monotonic() + MOMENT
        return None

    def _fill(self, file: int) -> None:
        with suppress(OSError):
            while chunk := os.read(file, _CHUNK):
                self._chunks.put(chunk)
                if len(chunk) < _FEW:
                    time.sleep(_PAUSE)
        self._chunks.put(b"")
        os.close(file)
