"""The import of a file of packets, for assertions."""

from collections import Counter
from dataclasses import dataclass
from io import BytesIO

from kwire.proxy import Flow, Notice, NoticeKind, Outcome
from kwire.proxy.capture.pcap_import import PacketImport


@dataclass
class Imported:
    """The events of a file, and its balance."""

    data: bytes
    ports: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        reading = PacketImport(BytesIO(self.data), "x", self.ports)
        self.events = list(reading.events())
        self.balance = reading.balance

    @property
    def flows(self) -> list[Flow]:
        return [event for event in self.events if isinstance(event, Flow)]

    @property
    def answered(self) -> int:
        """Count the RPCs that have been answered."""
        return self.outcomes[Outcome.ANSWERED]

    @property
    def outcomes(self) -> Counter[Outcome]:
        return Counter(flow.outcome for flow in self.flows)

    def notices(self, kind: NoticeKind) -> list[str]:
        """Return the sentences of the notices of a kind."""
        notices = (event for event in self.events if isinstance(event, Notice))
        return [notice.text for notice in notices if notice.kind is kind]

    @property
    def problems(self) -> list[str]:
        return [problem for flow in self.flows for problem in flow.problems]

    @property
    def losses(self) -> dict[str, str]:
        """The lines of the balance that make the exit code 1."""
        return {item.name: item.text for item in self.balance.items if item.lost}

    @property
    def items(self) -> dict[str, str]:
        return {item.name: item.text for item in self.balance.items}
