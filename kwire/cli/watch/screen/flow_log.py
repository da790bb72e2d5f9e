"""The flows that the screen knows, the latest ones, and those among them that the filter shows."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from kwire.cli.flows.lines import QUIET
from kwire.proxy import DecodedFlow, Event, Flow, Notice, Outcome
from kwire.proxy.feed.source import FeedEvent
from kwire.proxy.flows.chains import are_partners
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.match_target import MatchTarget
from kwire.proxy.flows.text import value_text

MOST = 5000
"""Events that are kept; the oldest leave, a tenth at a time, those with errors last."""

FOUND = 5
"""Values that a filter found in an event, of which the list shows as many as it has room for."""


@dataclass(slots=True, eq=False)
class FlowLogEntry:
    """An event by its number in the feed. held: its response waits, without one its request.

    waits: it is not answered yet, and comes once more.
    marked: by the user. found: `name=value` of what the filter found in it.
    """

    number: int
    seen: DecodedFlow | Notice
    held: bool = False
    waits: bool = False
    marked: bool = False
    found: tuple[str, ...] = ()

    @property
    def event(self) -> Event:
        """The flow or the notice."""
        return self.seen.flow if isinstance(self.seen, DecodedFlow) else self.seen

    @property
    def is_wrong(self) -> bool:
        """True if it has an error, no response, or tells of a failure."""
        seen = self.seen
        if isinstance(seen, Notice):
            return seen.kind not in QUIET
        return bool(seen.failures) or seen.flow.outcome is Outcome.LOST

    @property
    def holds_response(self) -> bool:
        """True if the response is held, False if the request is."""
        seen = self.seen
        return self.held and isinstance(seen, DecodedFlow) and seen.flow.answered is not None


class FlowLog:
    """Keeps entries in the order in which they came.

    visible: those that the filter passes, with notices where there is no filter. gone: how many
    have left it. finds: True if the filter has found a value in any.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._entries: dict[int, FlowLogEntry] = {}
        self._filter: Expression | None = None
        self.visible: list[FlowLogEntry] = []
        self.gone = 0
        self.finds = False

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, watched: FeedEvent) -> FlowLogEntry:
        """Add an event, or update one that was held and has ended or was edited."""
        event = watched.event
        seen = DecodedFlow(event) if isinstance(event, Flow) else event
        known = self._entries.get(watched.number)
        if known is not None:
            known.seen, known.held, known.waits = seen, watched.held, watched.waits
            # A response may have what the filter asks for, which a request does not.
            if self._passes(known) and known not in self.visible:
                insort(self.visible, known, key=lambda entry: entry.number)
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
        return [seen for _, seen in self._rpcs() if seen.flow.connection.number == number]

    def settle(self, held: tuple[int, ...]) -> None:
        """Mark all events but these as no longer held."""
        for entry in self._entries.values():
            if entry.held and entry.number not in held:
                entry.held = False

    def filter(self, expression: Expression | None) -> None:
        """Show the events that an expression matches; all for None."""
        self._filter, self.finds = expression, False
        self.visible = [entry for entry in self._entries.values() if self._passes(entry)]
        self.gone = 0

    def clear(self) -> None:
        """Forget all events but those that are held or marked."""
        self._entries = {n: e for n, e in self._entries.items() if e.held or e.marked}
        self.filter(self._filter)

    def rpc(self, connection: int, correlation_id: int) -> FlowLogEntry | None:
        """Return the RPC of a connection's number and a correlation id, the latest one."""
        wanted = connection, correlation_id
        for entry, seen in self._rpcs():
            if (seen.flow.connection.number, seen.flow.correlation_id) == wanted:
                return entry
        return None

    def partner(self, chosen: FlowLogEntry) -> FlowLogEntry | None:
        """Return the Envelope that carries a request, or the request that an Envelope carries."""
        if not isinstance(chosen.seen, DecodedFlow):
            return None
        for entry, seen in self._rpcs():
            if are_partners(chosen.seen, seen):
                return entry
        return None

    def _rpcs(self) -> Iterator[tuple[FlowLogEntry, DecodedFlow]]:
        """Yield the RPCs, the latest first."""
        for entry in reversed(self._entries.values()):
            if isinstance(entry.seen, DecodedFlow):
                yield entry, entry.seen

    def _passes(self, entry: FlowLogEntry) -> bool:
        entry.found = ()
        if self._filter is None:
            return True
        if not isinstance(entry.seen, DecodedFlow):
            return False
        target = MatchTarget.of_flow(entry.seen)
        if not self._filter(target):
            return False
        found = islice(self._filter.found(target), FOUND)
        texts = (f"{name}={value_text(value, name)}" for name, value in found)
        entry.found = tuple(dict.fromkeys(texts))
        self.finds |= bool(entry.found)
        return True

    def _trim(self, count: int) -> None:
        """Remove the oldest events: those with errors if there are few others."""
        removable = [e for e in self._entries.values() if not (e.held or e.marked)]
        plain = [entry for entry in removable if not entry.is_wrong]
        for entry in (plain if len(plain) >= count else removable)[:count]:
            del self._entries[entry.number]
        before = len(self.visible)
        self.visible = [entry for entry in self.visible if entry.number in self._entries]
        self.gone += before - len(self.visible)
