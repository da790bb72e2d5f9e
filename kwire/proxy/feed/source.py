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


def packet_events(packets: PacketImport) -> Iterator[FeedEvent]:
    """Number the events of packets as they come. Raises FileError.

    A request that waits comes with `UNANSWERED` meanwhile.
    """
    numbers = count(1)
    waiting: dict[Flow, int] = {}
    for event in packets.live_events():
        if event is not None:
            number = waiting.pop(event, None) if isinstance(event, Flow) else None
            yield FeedEvent(number or next(numbers), event)
            continue
        for flow in packets.unanswered():
            if flow not in waiting:
                waiting[flow] = number = next(numbers)
                yield FeedEvent(number, replace(flow, problems=[*flow.problems, UNANSWERED]))
