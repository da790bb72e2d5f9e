"""`kwire migration status`: the state of a migration on both sides."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kwire.cli.event_loop import run
from kwire.cli.migration.options import MigrationOptions, asks_both_sides
from kwire.cli.output import Output
from kwire.cli.screen import UNWRAPPED, is_pipe, screen
from kwire.cli.waiting_notice import waiting_notice

if TYPE_CHECKING:
    from kwire.migration.operator.status import MigrationStatus


@asks_both_sides
def status(options: MigrationOptions, output: Output) -> None:
    """Show how far a migration from ZooKeeper is, what it waits for, and the way back.

    Either side may be left out, or fail: what the other tells is shown. Exit code 1 if there is a
    problem, or a side that was asked for was not seen.

    \b
    kwire migration status --zookeeper zk1:2181/kafka --bootstrap-controller c1:9093
    """
    state = run(_look(options))
    from kwire.cli.migration.data import status_document

    output.failed = has_failed(state)
    output.show_document(status_document(state), lambda: print_status(state))


async def _look(options: MigrationOptions) -> MigrationStatus:
    from kwire.migration.operator.status import status_of

    async with options.sides() as sides, waiting_notice(lambda: sides.awaited, options.timeout):
        return status_of(await sides.facts())


def has_failed(state: MigrationStatus) -> bool:
    """True for problems, and for a side that was asked for and not seen."""
    return any(finding.verdict.value in ("problem", "unknown") for finding in state.findings)


def print_status(state: MigrationStatus) -> None:
    """Print the state as wide as the terminal is; in a pipe each sentence is one line."""
    from kwire.cli.migration.lines import status_lines

    if is_pipe():
        lines = status_lines(state, UNWRAPPED)
        sys.stdout.write("".join(f"{line.text}\n" for line in lines))
        return
    console = screen()
    for line in status_lines(state, console.width):
        console.print(line.text, style=line.style or None, soft_wrap=True)
