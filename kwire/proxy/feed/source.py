"""Events with their numbers, as viewers take them: from a proxy's feed, or from packets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from kwire.errors import LocalError
from kwire.proxy.flows.flow import Event, Flow

if TYPE_CHECKING:
    from kwire.proxy.capture.pcap_import import PacketImport

UNANSWERED = "no response yet"
"""The problem of a flow whose request waits. The flow comes once more when it has ended."""


class CommandRefused(LocalError):
    """The proxy has refused a command, and says why."""


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """An event and its number in the feed. held: True if the flow's last message is held."""

    number: int
    event: Event
    held: bool = False

    @property
    def waits(self) -> bool:
        """True if the flow comes once more: its request is not answered yet."""
        return isinstance(self.event, Flow) and UNANSWERED in self.event.problems


class PacketFeed:
    """Numbers the events of packets; a request that waits comes with `UNANSWERED` meanwhile."""

    def __init__(self, packets: PacketImport) -> None:
        self._packets = packets
        self._numbers = count(1)
        self._waiting: dict[int, tuple[Flow, int]] = {}

    def events(self) -> Iterator[FeedEvent]:
        """Yield the events as they come. Raises FileError."""
        for event in self._packets.live_events():
            if event is None:
                yield from self._unanswered()
            else:
                _, number = self._waiting.pop(id(event), (event, 0))
                yield FeedEvent(number or next(self._numbers), event)

    def _unanswered(self) -> Iterator[FeedEvent]:
        for flow in self._packets.unanswered():
            if id(flow) not in self._waiting:
                number = next(self._numbers)
                self._waiting[id(flow)] = flow, number
                yield FeedEvent(number, replace(flow, problems=[*flow.problems, UNANSWERED]))
