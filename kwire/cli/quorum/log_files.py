"""Log files of controllers: read to their end, or followed as they grow."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from kwire.cli.errors import WrongUsage
from kwire.cli.screen import screen
from kwire.quorum_story.log_entry import LONGEST
from kwire.quorum_story.log_source import LogStory, log_file
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.quorum_story.story import StoryEvent, StorySource

PIPE = Path("-")

PAUSE = 0.25
"""Seconds between two looks at a file that grows."""


def read_log(path: Path) -> StorySource:
    """Return what a log tells; `-` is the standard input. Raises WrongUsage."""
    if path == PIPE:
        sys.stdin.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
        return log_file("stdin", _lines(sys.stdin))
    with _opened(path) as opened, _shown(opened) as file:
        return log_file(str(path), _lines(file))


def follow_logs(paths: Sequence[Path]) -> Iterator[StoryEvent]:
    """Yield the events of logs, then those of what is written to them, until it is interrupted."""
    logs = [_FollowedLog(path) for path in paths]
    try:
        while True:
            found = [event for log in logs for event in log.new_events()]
            yield from sorted(found, key=lambda event: event.time or 0)
            time.sleep(PAUSE)
    finally:
        for log in logs:
            log.close()


class _FollowedLog:
    """A file that grows; one that is rotated is read on from the start of the new file."""

    def __init__(self, path: Path) -> None:
        if path == PIPE or path.is_fifo():
            raise WrongUsage("--follow needs files: a pipe is read to its end without it.")
        self._path = path
        self._file = _opened(path)
        self._story = LogStory(str(path))
        self._begun = ""
        self._warned = False

    def new_events(self) -> Iterator[StoryEvent]:
        """Yield the events of what was written since the last call."""
        read = 0
        for piece in _lines(self._file):
            read += 1
            self._begun += piece
            # A line that is not whole yet waits for its end.
            if piece.endswith("\n") or len(self._begun) >= LONGEST:
                line, self._begun = self._begun, ""
                yield from filter(self._story.keep, self._story.read([line]))
        if not read:
            # Nothing more came: the last entry has no more lines.
            yield from filter(self._story.keep, self._story.end())
            self._warn_once()
            if self._is_rotated():
                yield from filter(self._story.keep, self._story.read([self._begun]))
                yield from filter(self._story.keep, self._story.end())
                self._story.begin_file()
                self._begun = ""
                self._file.close()
                self._file = _opened(self._path)

    def _warn_once(self) -> None:
        """Say that a log is none that can be followed, rather than wait for its events."""
        if self._file.tell() and self._story.problem and not self._warned:
            self._warned = True
            warning = harmless(self._story.problem)
            screen(stderr=True).print(f"Warning: {warning}", style="yellow")

    def _is_rotated(self) -> bool:
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False  # between two files of a rotation
        old = os.fstat(self._file.fileno())
        is_other = (now.st_ino, now.st_dev) != (old.st_ino, old.st_dev)
        return is_other or now.st_size < self._file.tell()

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8", errors="surrogateescape", newline="\n")
    except OSError as error:
        raise WrongUsage(f"--log {path}: {error.strerror}.") from error


@contextmanager
def _shown(file: TextIO) -> Iterator[TextIO]:
    """Show on a terminal's stderr how much of a file is read."""
    console = screen(stderr=True)
    if not console.is_terminal:
        yield file
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        size = os.fstat(file.fileno()).st_size
        name = f"reading {harmless(Path(file.name).name)}"
        with bar.wrap_file(file.buffer, total=size, description=name) as counted:
            yield TextIOWrapper(counted, encoding="utf-8", errors="surrogateescape", newline="\n")


def _lines(file: TextIO) -> Iterator[str]:
    """Yield lines, of very long ones pieces: a file may have no ends of lines."""
    return iter(lambda: file.readline(LONGEST), "")
