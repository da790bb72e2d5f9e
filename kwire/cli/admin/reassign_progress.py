"""The progress of a reassignment on stderr: a bar on a terminal, lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kwire.admin.reassignment.requests import ThrottleRemoval
from kwire.admin.reassignment.run import MoveProgress
from kwire.cli.output import Output
from kwire.cli.screen import screen
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.text.untrusted import harmless


@contextmanager
def shown_progress() -> Iterator[Callable[[MoveProgress], None]]:
    """Show progress while the context lasts."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("partitions"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[copies]} replicas to copy"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=screen(stderr=True)) as bar:
        task = bar.add_task("", total=None, copies=0)
        yield lambda now: bar.update(
            task, total=now.partitions, completed=now.done, copies=now.copies
        )


class _Lines:
    """Prints a line whenever the number of partitions that have moved is another one."""

    def __init__(self) -> None:
        self._done = -1

    def __call__(self, now: MoveProgress) -> None:
        if now.done != self._done:
            self._done = now.done
            sentence = f"{now.done} of {now.partitions} partitions have moved"
            print(f"{sentence}, {now.copies} replicas to copy", file=sys.stderr, flush=True)  # noqa: T201


def show_removal(output: Output, removal: ThrottleRemoval) -> None:
    """Say that a throttle is gone; warn of what could not be taken off."""
    if removal.removed:
        resources = sorted({setting.resource for setting in removal.removed}, key=_named)
        output.say(f"The throttle is off: {', '.join(map(_named, resources))}.")
    for setting in removal.changed:
        output.warn(
            f"{setting.key} of {_named(setting.resource)} was changed by somebody else and is left"
        )
    for setting, error in removal.failed:
        output.warn(
            f"{setting.key} of {_named(setting.resource)} is still {setting.value} ({error}): call"
            " kwire partitions reassign verify again"
        )


def _named(resource: ConfigResource) -> str:
    kind = "broker" if resource.type == ResourceType.BROKER else "topic"
    return f"{kind} {harmless(resource.name)}"
