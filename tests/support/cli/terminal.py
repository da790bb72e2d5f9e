"""`kwire` on a pseudo-terminal."""

import os
import pty
import select
import signal
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.cli.command import KWIRE

PATIENCE = 60.0


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    @property
    def echoes(self) -> bool:
        """True if the terminal shows what is typed."""
        return bool(termios.tcgetattr(self._fd)[3] & termios.ECHO)

    def answer(self, text: str) -> str:
        """Type; return what is printed then, as far as it is there at once."""
        self.type(text)
        ready = select.select([self._fd], [], [], 0.1)[0]
        return os.read(self._fd, 1 << 16).decode(errors="replace") if ready else ""

    def read_on(self) -> None:
        """Read what is printed up to the end: nobody ends who cannot print."""
        with suppress(OSError):  # the other end is closed
            while os.read(self._fd, 1 << 16):
                pass

    def shows(self, text: str) -> str:
        """Return what was printed, up to this text, when it is there."""
        printed, end = "", time.monotonic() + PATIENCE
        while text not in printed:
            assert time.monotonic() < end, printed
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    printed += os.read(self._fd, 1).decode(errors="replace")
                except OSError:  # the other end is closed
                    raise AssertionError(printed) from None
        return printed


@contextmanager
def session(
    *words: str, term: str = "dumb", stdin: int | None = None
) -> Iterator[tuple[Terminal, int]]:
    """Start a command; yield its terminal and its process id. stdin: in place of the terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        if stdin is not None:
            os.dup2(stdin, 0)
        environment = {**os.environ, "TERM": term, "NO_COLOR": "1"}
        os.execve(KWIRE, ["kwire", *words], environment)
    try:
        yield Terminal(fd), pid
    finally:
        # Nobody else may have the id while the process is not waited for.
        with suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        os.close(fd)


def is_asleep(pid: int) -> bool:
    """True if a process waits, as for a key.

    A signal that comes between a prompt and the read that follows it interrupts nothing.
    """
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def ended(pid: int) -> int:
    """Wait for the end of the session; return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def terminated(pid: int) -> int | None:
    """Send SIGTERM; return the exit code, None while the session goes on."""
    os.kill(pid, signal.SIGTERM)
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None
