"""Latencies and rates of a replica at work (KIP-595; Java: KafkaRaftMetrics and its Sensors).

The runtime of the replica passes events and their times: nothing here reads a clock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import nan

WINDOW_MS = 30_000
"""metrics.sample.window.ms; a value covers two windows (metrics.num.samples)."""


@dataclass(slots=True, kw_only=True)
class _Window:
    start: int
    last: int
    count: int = 0
    total: float = 0.0
    maximum: float = 0.0


class Sensor:
    """Statistics of the numbers of the last minute, from 0 on (Java: SampledStat).

    A window counts until its last number is a minute old, so that three windows may be needed.
    """

    def __init__(self) -> None:
        self._windows: deque[_Window] = deque(maxlen=3)

    def record(self, value: float, now: int) -> None:
        """Add a number. now: milliseconds."""
        if not self._windows or now - self._windows[-1].start >= WINDOW_MS:
            self._windows.append(_Window(start=now, last=now))
        window = self._windows[-1]
        window.last = now
        window.count += 1
        window.total += value
        window.maximum = max(window.maximum, value)

    def average(self, now: int) -> float:
        """Return the average; NaN if there are no numbers."""
        recent = self._recent(now)
        count = sum(window.count for window in recent)
        return sum(window.total for window in recent) / count if count else nan

    def maximum(self, now: int) -> float:
        """Return the greatest number; NaN if there are no numbers."""
        return max((window.maximum for window in self._recent(now)), default=nan)

    def rate(self, now: int) -> float:
        """Return the sum of the numbers for each second.

        While the time is shorter than a window, a window's length is added to it, so that the first
        seconds have no huge rate (Java: Rate.windowSize).
        """
        recent = self._recent(now)
        if not recent:
            return 0.0
        elapsed = now - recent[0].start
        if elapsed < WINDOW_MS:
            elapsed += WINDOW_MS
        return sum(window.total for window in recent) / elapsed * 1000

    def _recent(self, now: int) -> list[_Window]:
        return [window for window in self._windows if now - window.last < 2 * WINDOW_MS]


@dataclass(frozen=True, slots=True, kw_only=True)
class _UncommittedBatch:
    """A batch that a leader has appended and that is not committed yet."""

    end_offset: int
    records: int
    appended: int


class RaftSensors:
    """The sensors of one replica: milliseconds, and records a second.

    commit_latency: from append to commit of a leader's batch, divided by its number of records, as
    in Kafka. election_latency: from this replica's candidacy until it leads or follows. busy:
    milliseconds at work.
    """

    def __init__(self) -> None:
        self.commit_latency = Sensor()
        self.election_latency = Sensor()
        self.append_records = Sensor()
        self.fetch_records = Sensor()
        self.busy = Sensor()
        self._role = ""
        self._epoch = -1
        self._candidate_since: int | None = None
        self._uncommitted: deque[_UncommittedBatch] = deque()

    def stepped(self, role: str, epoch: int, now: int) -> None:
        """Take the role and the epoch after a step."""
        if (role, epoch) == (self._role, self._epoch):
            return
        self._role, self._epoch = role, epoch
        # The next leader may truncate what this one appended and did not commit.
        if role != "leader":
            self._uncommitted.clear()
        if role in ("prospective", "candidate"):
            self._candidate_since = now
        elif role in ("leader", "follower") and self._candidate_since is not None:
            self.election_latency.record(now - self._candidate_since, now)
            self._candidate_since = None

    def appended(self, base_offset: int, end_offset: int, now: int) -> None:
        """Count records that were appended to the log: a leader's own, or fetched ones."""
        records = end_offset - base_offset
        if self._role != "leader":
            self.fetch_records.record(records, now)
            return
        self.append_records.record(records, now)
        self._uncommitted.append(
            _UncommittedBatch(end_offset=end_offset, records=records, appended=now)
        )

    def committed(self, high_watermark: int, now: int) -> None:
        """Record the latency of the batches below the high watermark."""
        while self._uncommitted and self._uncommitted[0].end_offset <= high_watermark:
            batch = self._uncommitted.popleft()
            self.commit_latency.record((now - batch.appended) / batch.records, now)

    def idle_ratio(self, now: int) -> float:
        """Return the share of the time in which the replica had nothing to do."""
        return max(0.0, 1 - self.busy.rate(now) / 1000)
