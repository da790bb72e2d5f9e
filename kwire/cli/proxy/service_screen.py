"""Events of the proxy's service as lines for the person who started it, on stderr."""

from __future__ import annotations

from collections.abc import Callable

from kwire.cli.screen import screen
from kwire.proxy.service.events import (
    AnyEvent,
    ClusterChange,
    ClusterNotice,
    ServiceEvent,
    ServiceEventKind,
)

_STYLES = {
    ServiceEventKind.LISTENING: "dim",
    ServiceEventKind.FEEDING: "dim",
    ServiceEventKind.SIMULATING: "bold white on red",
    ServiceEventKind.RIGHTS_LENT: "yellow",
    ServiceEventKind.ADDRESS_NOT_KEPT: "yellow",
    ServiceEventKind.CERTIFICATE_INVALID: "yellow",
    ServiceEventKind.MESSAGE_HELD: "cyan",
    ServiceEventKind.RULE_REPLACED: "yellow",
    ServiceEventKind.RULE_COMMANDED: "dim",
    ServiceEventKind.FILTERS_LOADED: "dim",
    ServiceEventKind.FILTERS_NOT_LOADED: "red",
    ServiceEventKind.RECORDED: "dim",
    ServiceEventKind.RECORDED_IN_PART: "yellow",
    ServiceEventKind.RECORDING_STOPPED: "red",
    ServiceEventKind.RECORDING_LOSSY: "red",
    ServiceEventKind.RECORDING_RECOVERED: "yellow",
    ServiceEventKind.SPANS_LOST: "yellow",
    ServiceEventKind.SPANS_SENT: "dim",
}
"""The events that are printed; a person at a terminal sees the others happen."""

_IN_THE_END = (ServiceEventKind.RECORDED, ServiceEventKind.RECORDED_IN_PART)


class ServiceScreen:
    """Prints the events of the service.

    asks_on_hold: True to print held messages, which lines of stdin release. log: takes the events
    that --log-format logs as well; None without it. has_failed: a recording stopped before its
    time.
    """

    def __init__(
        self,
        *,
        asks_on_hold: bool,
        log: Callable[[AnyEvent], None] | None,
    ) -> None:
        self._asks_on_hold = asks_on_hold
        self._log = log
        self._last: list[ServiceEvent] = []
        self.has_failed = False

    def __call__(self, event: AnyEvent) -> None:
        """Print an event. Notices of connections are shown with the flows, and only logged here."""
        if isinstance(event, ClusterNotice):
            if self._log is not None:
                self._log(event)
            return
        if isinstance(event, ClusterChange):
            self._show_change(event)
            return
        kind = event.kind
        self.has_failed |= kind is ServiceEventKind.RECORDING_STOPPED
        if self._log is not None and kind is ServiceEventKind.RULE_COMMANDED:
            self._log(event)
        if kind in _IN_THE_END:
            self._last.append(event)
        elif kind in _STYLES and (self._asks_on_hold or kind is not ServiceEventKind.MESSAGE_HELD):
            _print(event)

    def _show_change(self, event: ClusterChange) -> None:
        """Log the audit line where there is a log, else print it."""
        if self._log is not None:
            self._log(event)
        else:
            for sentence in event.change.sentences:
                text = f"changed by {sentence}"
                screen(stderr=True).print(text, style="dim", markup=False, highlight=False)

    def end(self) -> None:
        """Print what was recorded, which stands behind the counts of flows."""
        for event in self._last:
            _print(event)


def _print(event: ServiceEvent) -> None:
    text = f"{event.text}: {event.reason}" if event.reason else event.text
    if event.kind is ServiceEventKind.LISTENING and event.node is not None:
        text += f" of node {event.node}"
    if event.kind is ServiceEventKind.MESSAGE_HELD:
        text = f"held: {text}; Enter lets it go, or drop, close, all"
    style = _STYLES[event.kind]
    screen(stderr=True).print(text, style=style, markup=False, highlight=False)
