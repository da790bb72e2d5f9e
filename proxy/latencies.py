"""How long the RPCs of each API take, of the latest ones; long polls are told apart.

A Fetch that finds nothing waits at the node until something comes or its time is over: its latency
says how quiet the log is, not how slow the node.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from kwire.apis.a01_fetch import FetchRequest, FetchResponse
from kwire.apis.a78_share_fetch import ShareFetchRequest, ShareFetchResponse
from proxy.decoded import DecodedFlow

LATEST = 1000
"""Latencies of each kind that are looked at."""

KINDS = 500
"""Kinds that are kept: an API key is a peer's word."""


@dataclass(slots=True)
class ApiLatency:
    """The latest latencies of one API, in seconds. long_poll: of those that found nothing.

    count: all there were. failed: those with an error in the response.
    """

    api: str
    long_poll: bool
    count: int = 0
    failed: int = 0
    latest: deque[float] = field(default_factory=lambda: deque(maxlen=LATEST))

    def quantile(self, share: float) -> float:
        """At most this long took such a share of them (nearest rank)."""
        ordered = sorted(self.latest)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


class Latencies:
    """The latencies of flows, by API and whether they were long polls."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, bool], ApiLatency] = {}

    def add(self, decoded: DecodedFlow) -> None:
        """One more flow; one without an answer has no latency."""
        latency = decoded.flow.latency
        if latency is None:
            return
        kind = decoded.flow.api, is_long_poll(decoded)
        found = self._kinds.get(kind)
        if found is None:
            if len(self._kinds) >= KINDS:
                return
            found = self._kinds[kind] = ApiLatency(*kind)
        found.count += 1
        found.failed += bool(decoded.failures)
        found.latest.append(latency)

    @property
    def kinds(self) -> list[ApiLatency]:
        """The most frequent first."""
        return sorted(self._kinds.values(), key=lambda one: (-one.count, one.api))


def is_long_poll(decoded: DecodedFlow) -> bool:
    """Whether it is a Fetch or ShareFetch that might wait, found no records, and met no error."""
    request = decoded.request_as(FetchRequest) or decoded.request_as(ShareFetchRequest)
    if request is None or request.max_wait_ms <= 0 or decoded.failures:
        return False
    response = decoded.response_as(FetchResponse) or decoded.response_as(ShareFetchResponse)
    if response is None:
        return False
    return not any(one.records for topic in response.responses for one in topic.partitions)
