"""Reads what was recorded, as far as it is meant, and shows it as `kwire proxy` shows traffic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from kwire.capture import CaptureRecord, Damage, Window
from kwire.capture.editing import events_of, write_events
from kwire.cli.capture import everything, files, say_written, warn
from kwire.cli.failure import WrongUsage
from kwire.cli.proxy_run import Display
from kwire.errors import InvalidValue
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.capture.records import events, within
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.subject import Subject

MICROS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Captures, or folders of them, and what is to be read of them; times as people write them.

    meant: which flows, else all.
    """

    captures: list[Path]
    since: str | None = None
    until: str | None = None
    meant: Expression | None = None

    def window(self, paths: list[Path]) -> Window:
        """The times. Raises WrongUsage."""
        try:
            return Window.read(self.since, self.until, paths)
        except InvalidValue as error:
            raise WrongUsage(f"{error}.") from error

    def show(self, how: Display) -> None:
        """Print every event; exit code 1 where some of a capture cannot be read."""
        paths = files(self.captures)
        damages = 0
        for event in within(events(everything(paths)), self.window(paths)):
            if isinstance(event, Damage):
                damages += 1
                warn(event)
            else:
                how.show(DecodedFlow(event) if isinstance(event, Flow) else event)
        how.end(dropped=0)
        if damages:
            raise typer.Exit(1)

    def groups(self) -> Iterator[list[CaptureRecord]]:
        """The records of each event; damage is told."""
        paths = files(self.captures)
        window = self.window(paths)
        for group in events_of(everything(paths), warn):
            if group[0].at_us / MICROS in window and self._means(group):
                yield group

    def records(self) -> Iterator[CaptureRecord]:
        """The same one by one."""
        for group in self.groups():
            yield from group

    def copy(self, how: Display, target: Path) -> None:
        """Write the flows that would be shown, and the notices, to another capture."""
        count = write_events(self._shown(how), target)
        say_written(count, target)

    def _shown(self, how: Display) -> Iterator[list[CaptureRecord]]:
        for group in self.groups():
            flows = [event for event in events(group) if isinstance(event, Flow)]
            if all(DecodedFlow(flow) in how.selection for flow in flows):
                yield group

    def _means(self, group: list[CaptureRecord]) -> bool:
        if self.meant is None:
            return True
        flows = (event for event in events(group) if isinstance(event, Flow))
        return all(self.meant(Subject.of_flow(DecodedFlow(flow))) for flow in flows)
