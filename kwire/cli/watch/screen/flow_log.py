"""The flows that the screen knows, the latest ones, and those among them that the filter shows."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.proxy import DecodedFlow, Flow, Notice
from kwire.proxy.feed.source import FeedEvent
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.match_target import MatchTarget

MOST = 5000
"""Events that are kept; the oldest leave, a tenth at a time."""


@dataclass(slots=True, eq=False)
class FlowLogEntry:
    """An event by its number in the feed. held: its response waits, without one its request.

    waits: it is not answered yet, and comes once more.
    """

    number: int
    seen: DecodedFlow | Notice
    held: bool = False
    waits: bool = False

    @property
    def holds_response(self) -> bool:
        """True if the response is held, False if the request is."""
        seen = self.seen
        return self.held and isinstance(seen, DecodedFlow) and seen.flow.answered is not None


class FlowLog:
    """Keeps entries in the order in which they came.

    shown: those that the filter passes, with notices where there is no filter. gone: how many have
    left the front of `shown`.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._entries: dict[int, FlowLogEntry] = {}
        self._filter: Expression | None = None
        self.visible: list[FlowLogEntry] = []
        self.gone = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, watched: FeedEvent) -> FlowLogEntry:
        """Add an event, or update one that was held and has ended or was edited."""
        event = watched.event
        seen = DecodedFlow(event) if isinstance(event, Flow) else event
        known = self._entries.get(watched.number)
        if known is not None:
            known.seen, known.held, known.waits = seen, watched.held, watched.waits
            return known
        entry = FlowLogEntry(watched.number, seen, watched.held, watched.waits)
        self._entries[watched.number] = entry
        if self._passes(entry):
            self.visible.append(entry)
        if len(self._entries) > self._most:
            # Not one by one: every time, the whole list of shown events is made anew.
            self._trim(self._most // 10)
        return entry

    def get(self, number: int) -> FlowLogEntry | None:
        """Return the event of a number, None if it is not kept."""
        return self._entries.get(number)

    def of_connection(self, notice: Notice) -> list[DecodedFlow]:
        """Return the RPCs that are kept of a notice's connection."""
        number = notice.connection.number
        seen = [entry.seen for entry in self._entries.values()]
        return [
            s for s in seen if isinstance(s, DecodedFlow) and s.flow.connection.number == number
        ]

    def settle(self, held: tuple[int, ...]) -> None:
        """Mark all events but these as no longer held."""
        for entry in self._entries.values():
            if entry.held and entry.number not in held:
                entry.held = False

    def filter(self, expression: Expression | None) -> None:
        """Show the events that an expression matches; all for None."""
        self._filter = expression
        self.visible = [entry for entry in self._entries.values() if self._passes(entry)]
        self.gone = 0

    def clear(self) -> None:
        """Forget all events but those that are held."""
        self._entries = {n: entry for n, entry in self._entries.items() if entry.held}
        self.filter(self._filter)

    def _passes(self, entry: FlowLogEntry) -> bool:
        if self._filter is None:
            return True
        return isinstance(entry.seen, DecodedFlow) and self._filter(MatchTarget.of_flow(entry.seen))

    def _trim(self, count: int) -> None:
        leaving = list(self._entries)[:count]
        for number in leaving:
            del self._entries[number]
        before = len(self.visible)
        self.visible = [entry for entry in self.visible if entry.number in self._entries]
        self.gone += before - len(self.visible)
