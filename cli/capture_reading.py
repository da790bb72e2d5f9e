"""Shows what was recorded, as `kwire proxy` shows what passes, and copies what is meant of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from cli.capture import everything, files, warn
from cli.failure import WrongUsage
from cli.proxy_run import Display
from kwire.capture import CaptureRecord, Damage, Window
from kwire.capture.editing import events_of, write_events
from kwire.errors import InvalidValue
from proxy import DecodedFlow, Flow
from proxy.records import events, within

MICROS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Captures, or folders of them, and what is to be read of them; times as people write them."""

    captures: list[Path]
    since: str | None = None
    until: str | None = None

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
            if group[0].at_us / MICROS in window:
                yield group

    def copy(self, how: Display, target: Path) -> None:
        """Write the flows that would be shown, and the notices, to another capture."""
        count = write_events(self._meant(how), target)
        typer.echo(f"{count} events written to {target}")

    def _meant(self, how: Display) -> Iterator[list[CaptureRecord]]:
        for group in self.groups():
            for event in events(group):
                if not isinstance(event, Flow) or DecodedFlow(event) in how.selection:
                    yield group
