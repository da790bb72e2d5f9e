"""`kwire migration watch`: the state of a migration, drawn again and again."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kwire.cli.errors import finite
from kwire.cli.event_loop import run
from kwire.cli.migration.options import MigrationOptions, asks_both_sides
from kwire.cli.options import option
from kwire.cli.output import Output, OutputForm
from kwire.cli.screen import is_pipe
from kwire.cli.waiting_notice import waiting_notice
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from kwire.migration.operator.status import MigrationStatus
import asyncio
import select
from typing import TextIO

LOOK = 0.5
"""Seconds between two looks."""


def is_closed(stream: TextIO) -> bool:
    """True if the other end of a pipe is closed; False if the system does not tell (Windows)."""
    if not hasattr(select, "poll"):
        return False
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a stream in memory
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


async def sleep_while_read(seconds: float) -> None:
    """Sleep. Raises BrokenPipeError soon after stdout is closed, as printing would."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not is_closed(sys.stdout):
        rest = end - loop.time()
        if rest <= 0:
            return
        await asyncio.sleep(min(LOOK, rest))
    raise BrokenPipeError


@asks_both_sides
def watch(
    options: MigrationOptions,
    output: Output,
    every: float = option(
        "--every", default=1.0, metavar="SECONDS", min=0.2, callback=finite, help="Look so often."
    ),
) -> None:
    """Follow a migration until Ctrl-C. A side that is lost is looked for again.

    On a terminal the state is drawn anew; in a pipe a line is printed for each change, with --json
    an object.

    \b
    kwire migration watch --zookeeper zk1:2181/kafka --bootstrap-controller c1:9093
    """
    with _shows(output, options) as show:
        run(follow(options, show, every, says_waiting=not isinstance(show, _WatchScreen)))


def _shows(
    output: Output, options: MigrationOptions
) -> AbstractContextManager[Callable[[MigrationStatus], None]]:
    """Return what shows a state, for as long as the context lasts."""
    if output.form is OutputForm.JSON:
        return nullcontext(ChangeObjects())
    if is_pipe() or not output.is_for_people:
        return nullcontext(ChangeLines())
    return _WatchScreen(options.sought)


async def follow(
    options: MigrationOptions,
    show: Callable[[MigrationStatus], None],
    every: float,
    *,
    says_waiting: bool = False,
) -> None:
    """Look at both sides every so many seconds, and show what is seen, until it is cancelled.

    says_waiting: tell on stderr that the first look takes long. Raises BrokenPipeError soon after
    stdout was closed.
    """
    from kwire.migration.operator.status import status_of

    async with options.sides() as sides:
        async with waiting_notice(lambda: sides.awaited if says_waiting else "", options.timeout):
            facts = await sides.facts()
        while True:
            show(status_of(facts))
            await sleep_while_read(every)
            facts = await sides.facts()


class _WatchScreen:
    """Draws the state on the terminal's other screen, as much of it as fits.

    sought: what the first look waits for.
    """

    def __init__(self, sought: str) -> None:
        self._sought = sought
        self._live: Live | None = None

    def __enter__(self) -> Callable[[MigrationStatus], None]:
        from rich.live import Live

        from kwire.cli.screen import screen

        first = harmless(f"Waiting for {self._sought}")
        self._live = Live(first, console=screen(), screen=True, auto_refresh=False)
        self._live.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._live is not None
        self._live.__exit__(None, None, None)

    def __call__(self, status: MigrationStatus) -> None:
        """Draw the state."""
        assert self._live is not None
        size = self._live.console.size
        self._live.update(drawn(status, size.width, size.height), refresh=True)


def drawn(status: MigrationStatus, width: int, height: int) -> Text:
    """Return the lines that fit, the last one with the time and how to leave."""
    from rich.text import Text

    from kwire.cli.migration.lines import StyledLine, status_lines

    lines = [*status_lines(status, width)]
    room = max(1, height - 1)
    if len(lines) > room:
        # The way back comes last: nobody shall take what fits for the whole of it.
        shown = max(1, room - 1)
        more = f"{len(lines) - shown} more lines: kwire migration status"
        lines = [*lines[:shown], StyledLine(more, "yellow")][:room]
    text = Text(no_wrap=True, overflow="ellipsis")
    for line in lines:
        text.append(f"{line.text}\n", style=line.style or "")
    clock = datetime.now().astimezone().strftime("%H:%M:%S")
    return text.append(f"{clock}  Ctrl-C ends", style="dim")


class ChangeLines:
    """Prints a line with the time if something changed that matters."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, status: MigrationStatus) -> None:
        """Print the state if it is another one."""
        key = change_line(with_same_lag(status))
        if key != self._last:
            self._last = key
            clock = datetime.now().astimezone().strftime("%H:%M:%S")
            sys.stdout.write(f"{clock}  {change_line(status)}\n")
            sys.stdout.flush()


def change_line(status: MigrationStatus) -> str:
    """Return what matters of a state."""
    parts = [status.sentence]
    if status.driver.state:
        parts.append(f"driver {status.driver.state}")
    if status.driver.waits_for:
        parts.append(f"waits for {status.driver.waits_for}")
    if status.facts.zookeeper is not None:
        controller = status.facts.zookeeper.controller
        parts.append(f"/controller: {controller or 'nobody'}")
    parts += [
        finding.sentence for finding in status.findings if not finding.id.startswith("readiness/")
    ]
    return harmless("; ".join(parts))


def with_same_lag(status: MigrationStatus) -> MigrationStatus:
    """Return a state that is behind as if it were always behind by the same number of records."""
    from kwire.migration.operator.facts import BEHIND
    from kwire.migration.operator.status import status_of

    facts = status.facts
    kraft, position = facts.kraft, facts.migration
    if not facts.is_behind or kraft is None or position is None:
        return status
    end = position.kraft_metadata_offset + BEHIND + 2
    return status_of(replace(facts, kraft=replace(kraft, end=end)))


class ChangeObjects:
    """Prints an object in a line for each change, of anything but how far both sides are."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}

    def __call__(self, status: MigrationStatus) -> None:
        """Print the state if it is another one."""
        from kwire.cli.migration.data import status_document

        document = status_document(status)
        lag = document["lag"]
        key = {
            **status_document(with_same_lag(status)),
            "lag": lag is not None and lag > 0,
            "kraft": None,
            "zookeeper": None,
        }
        if key != self._last:
            self._last = key
            now = datetime.now().astimezone().isoformat(timespec="milliseconds")
            sys.stdout.write(json.dumps({"time": now, **document}) + "\n")
            sys.stdout.flush()
