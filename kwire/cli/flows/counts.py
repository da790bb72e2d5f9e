"""Counts of the flows that a proxy has seen and shows, by API."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from kwire.cli.screen import table_of
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.proxy import DecodedFlow, Notice

if TYPE_CHECKING:
    from rich.table import Table

NOT_LEADER = frozenset(
    (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
    )
)
"""Errors by which nodes and clients find the leader: every election has them."""

LATENCIES = 10_000
"""Latencies of one API that are kept; when there are more, every second one is dropped."""


@dataclass(slots=True)
class ApiCount:
    """The flows of one API; bytes of both directions, latencies in seconds.

    not_leader: answers whose only errors are those of NOT_LEADER. They are not `failed`, nor are
    answers to ApiVersions that name the versions which a client then asks in (KIP-511).
    """

    flows: int = 0
    failed: int = 0
    not_leader: int = 0
    size: int = 0
    latencies: list[float] = field(default_factory=list)

    def add(self, decoded: DecodedFlow) -> None:
        """Count a flow."""
        flow = decoded.flow
        self.flows += 1
        codes = {failure.code for failure in decoded.failures}
        if codes and codes <= NOT_LEADER:
            self.not_leader += 1
        elif codes != {ErrorCode.UNSUPPORTED_VERSION} or flow.key != ApiVersionsRequest.key:
            self.failed += bool(codes)
        self.size += flow.request_size + (flow.response_size or 0)
        if flow.latency is not None:
            self.latencies.append(flow.latency)
        if len(self.latencies) > LATENCIES:
            del self.latencies[::2]

    @property
    def median_ms(self) -> float | None:
        """The median latency; None if no flow was answered."""
        return round(median(self.latencies) * 1000, 3) if self.latencies else None


class FlowCounts:
    """Counts flows and notices as they come.

    connections: the numbers of those that they are of. others: flows that were not selected.
    problems: flows about which the proxy reports a problem. undecoded: those among them with a
    message that cannot be read.
    """

    def __init__(self) -> None:
        self._apis: dict[str, ApiCount] = {}
        self.connections: set[int] = set()
        self.others = 0
        self.problems = 0
        self.undecoded = 0

    def add(self, seen: DecodedFlow | Notice) -> None:
        """Count a flow or a notice."""
        if isinstance(seen, Notice):
            self.connections.add(seen.connection.number)
            return
        self.connections.add(seen.flow.connection.number)
        self._apis.setdefault(seen.flow.api, ApiCount()).add(seen)
        self.problems += bool(seen.problems)
        self.undecoded += _unread(seen)

    @property
    def flows(self) -> int:
        """The number of RPCs."""
        return sum(count.flows for count in self._apis.values())

    @property
    def sentence(self) -> str:
        """The totals in words."""
        rpcs = f"{self.flows} RPCs"
        if self.others:
            rpcs = f"{self.flows} of {self.flows + self.others} RPCs match,"
        text = f"{rpcs} of {len(self._apis)} APIs on {len(self.connections)} connections"
        return f"{text}, {self.problems} with problems" if self.problems else text

    @property
    def leader_sentence(self) -> str | None:
        """The number of answers of nodes that only do not lead, as a sentence; None for 0."""
        number = sum(count.not_leader for count in self._apis.values())
        if not number:
            return None
        answers = "1 answer" if number == 1 else f"{number} answers"
        return f"{answers} of nodes that do not lead: part of finding the leader, no failures."

    def data(self) -> dict[str, Any]:
        """Return the counts for scripts."""
        return {
            "type": "summary",
            "flows": self.flows,
            "others": self.others,
            "connections": len(self.connections),
            "problems": self.problems,
            "undecoded": self.undecoded,
            "apis": {
                api: {
                    "flows": count.flows,
                    "failed": count.failed,
                    "notLeader": count.not_leader,
                    "bytes": count.size,
                    "medianMs": count.median_ms,
                }
                for api, count in self._by_number()
            },
        }

    def table(self) -> Table:
        """Return the counts for people, the most frequent API first."""
        from rich.text import Text

        numbers = ("RPCs", "Failed", "Bytes", "Median")
        table = table_of("API", *numbers, right=numbers)
        for api, count in self._by_number():
            latency = "-" if count.median_ms is None else f"{count.median_ms:.1f} ms"
            failed = Text(str(count.failed), "red" if count.failed else "")
            table.add_row(api, str(count.flows), failed, f"{count.size:,}", latency)
        return table

    def _by_number(self) -> list[tuple[str, ApiCount]]:
        return sorted(self._apis.items(), key=lambda item: -item[1].flows)


def _unread(seen: DecodedFlow) -> bool:
    """Return True if the request or the response of a flow was not decoded."""
    answered = seen.flow.response_size is not None
    return seen.request is None or (answered and seen.response is None)
