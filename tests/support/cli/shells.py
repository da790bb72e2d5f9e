"""Real shells in which a command line is typed, Tab included."""

import os
import pty
import select
import signal
from contextlib import suppress
from pathlib import Path
from shutil import which

import pytest

from real_kafka.choice import required
from tests.support.cli.command import KWIRE
from tests.support.eventually import eventually_blocking

SHELLS = {
    "bash": ("bash", "-i"),
    "zsh": ("zsh", "-i"),
    "fish": ("fish", "-i"),
}

LineStart, LineEnd, CtrlU, Tab = "\x01", "\x05", "\x15", "\t"


class Shell:
    """A shell with a home of its own, in which `kwire` is on the path."""

    def __init__(self, name: str, home: Path) -> None:
        self.name = name
        self.home = home
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("XDG_")},
            "HOME": str(home),
            "ZDOTDIR": str(home),
            "PATH": f"{KWIRE.parent}{os.pathsep}{os.environ['PATH']}",
            "TERM": "xterm",
            "SHELL": str(which(name)),
        }

    def completed(self, line: str) -> str:
        """Type a line and Tab; return the line's words as the shell then has them, a row each."""
        result = self.home / "result"
        result.unlink(missing_ok=True)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.home)
            os.execvpe(SHELLS[self.name][0], SHELLS[self.name], self.environment)
        try:
            _read_until(terminal, b"$", b"%", b">", b"#")
            keys = f"{line}{Tab}{LineEnd} >>result.part; mv result.part result"
            os.write(terminal, f"{keys}{LineStart}printf '%s\\n' \r".encode())
            eventually_blocking(lambda: _drained(terminal, result), bool, pause=0.05)
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.close(terminal)
            os.waitpid(pid, 0)
        return result.read_text()


def shell_named(name: str, home: Path) -> Shell:
    """Return a shell. CI installs it; elsewhere a test without it is skipped."""
    if which(name) is None:
        reason = f"there is no {name}: apt-get install {name}"
        (pytest.fail if required() else pytest.skip)(reason)
    return Shell(name, home)


def _drained(terminal: int, result: Path) -> bool:
    """Read what the shell shows, which else would wait; True when the result is there."""
    while select.select([terminal], [], [], 0)[0]:
        os.read(terminal, 1 << 16)
    return result.exists()


def _read_until(terminal: int, *ends: bytes) -> None:
    shown = b""
    while not any(end in shown for end in ends):
        assert select.select([terminal], [], [], 60)[0], shown
        shown += os.read(terminal, 1 << 16)
