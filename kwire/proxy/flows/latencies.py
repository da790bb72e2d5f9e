"""The latencies of the latest RPCs of each API; long polls are marked."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from kwire.proxy.flows.decoded import DecodedFlow

LONG_POLLS = frozenset({"Fetch", "ShareFetch", "JoinGroup", "SyncGroup"})
"""APIs whose answers a node delays on purpose, until it has something to answer."""

PROMPT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets that latencies are counted in, in seconds."""

PATIENT = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""The same for long polls."""

BOUNDS = tuple(sorted({*PROMPT, *PATIENT}))
"""The bounds of both, for who does not know yet which of them a flow is counted by."""

LATEST = 1000
"""Latencies of each API that are looked at."""

APIS = 500
"""APIs that are kept: a key is a peer's word."""


@dataclass(slots=True)
class ApiLatency:
    """The latest latencies of one API, in seconds.

    count: all there were. failed: those with an error in the response.
    """

    api: str
    count: int = 0
    failed: int = 0
    latest: deque[float] = field(default_factory=lambda: deque(maxlen=LATEST))

    @property
    def is_long_poll(self) -> bool:
        """True if requests wait for something: their latency is no measure of speed."""
        return self.api in LONG_POLLS

    def quantile(self, share: float) -> float:
        """Return the seconds that this share of the latest took at most (nearest rank)."""
        ordered = sorted(self.latest)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


class Latencies:
    """The latencies of flows, by API."""

    def __init__(self) -> None:
        self._apis: dict[str, ApiLatency] = {}

    def add(self, decoded: DecodedFlow) -> None:
        """Add a flow; one without an answer has no latency, and is ignored."""
        latency = decoded.flow.latency
        if latency is None:
            return
        api = decoded.flow.api
        entry = self._apis.get(api)
        if entry is None:
            if len(self._apis) >= APIS:
                return
            entry = self._apis[api] = ApiLatency(api)
        entry.count += 1
        entry.failed += bool(decoded.failures)
        entry.latest.append(latency)

    @property
    def apis(self) -> list[ApiLatency]:
        """The most frequent first."""
        return sorted(self._apis.values(), key=lambda latency: (-latency.count, latency.api))
