"""Reads captures, or a selection of them, and shows them as `kwire proxy` shows traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from kwire.capture import CaptureRecord, Damage, Window, any_shows_secrets
from kwire.capture.editing import events_of, write_events
from kwire.cli.capture.files import DamageTold, files, print_warning, print_written, records_of
from kwire.cli.errors import usage_errors
from kwire.cli.flows.display import Display
from kwire.cli.flows.options import TimeRange
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.capture.records import events, within
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.match_target import MatchTarget

MICROS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureReading:
    """Captures, or folders of them, and the part of them to read.

    selected: the flows to read; None for all. on_damage: takes the damage that `groups` meets.
    """

    captures: list[Path]
    times: TimeRange
    selected: Expression | None = None
    on_damage: Callable[[Damage], None] = print_warning

    def window(self, paths: list[Path]) -> Window:
        """Return the range of times. Raises WrongUsage."""
        with usage_errors():
            return Window.read(self.times.since, self.times.until, paths)

    @property
    def shows_secrets(self) -> bool:
        """True if a capture has secrets that are not masked."""
        return any_shows_secrets(files(self.captures))

    def show(self, display: Display) -> None:
        """Print every event; exit with 1 if a part of a capture cannot be read."""
        paths = files(self.captures)
        damage = DamageTold()
        for event in within(events(records_of(paths)), self.window(paths)):
            if isinstance(event, Damage):
                damage(event)
            else:
                display.show(DecodedFlow(event) if isinstance(event, Flow) else event)
        display.end(dropped=0)
        damage.end()

    def groups(self) -> Iterator[list[CaptureRecord]]:
        """Yield the records of each event, whole."""
        paths = files(self.captures)
        window = self.window(paths)
        for group in events_of(records_of(paths), self.on_damage):
            if group[0].at_us / MICROS in window and self._is_selected(group):
                yield group

    def records(self) -> Iterator[CaptureRecord]:
        """Yield the records of all events, one by one."""
        return chain.from_iterable(self.groups())

    def flows(self) -> Iterator[Flow]:
        """Yield the flows."""
        return (event for event in events(self.records()) if isinstance(event, Flow))

    def copy(self, display: Display, target: Path) -> None:
        """Write the flows that would be shown, and the notices, to another capture."""
        secrets = self.shows_secrets
        count = write_events(self._shown(display), target, shows_secrets=secrets)
        print_written(count, target)

    def _shown(self, display: Display) -> Iterator[list[CaptureRecord]]:
        for group in self.groups():
            flows = [event for event in events(group) if isinstance(event, Flow)]
            if all(DecodedFlow(flow) in display.selection for flow in flows):
                yield group

    def _is_selected(self, group: list[CaptureRecord]) -> bool:
        if self.selected is None:
            return True
        flows = (event for event in events(group) if isinstance(event, Flow))
        return all(self.selected(MatchTarget.of_flow(DecodedFlow(flow))) for flow in flows)
