"""The rate at which connections come, and how long the next one waits for it (Kafka: KIP-612)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

SAMPLES = 11
"""quota.window.num, at its default."""

WINDOW_MS = 1000
"""quota.window.size.seconds, at its default, in milliseconds; also the longest wait."""


@dataclass(slots=True, kw_only=True)
class _Sample:
    start: int
    last: int
    count: int = 0


class ConnectionRate:
    """Counts events in windows of time (Java: Rate, SampledStat). Times are milliseconds."""

    def __init__(self, samples: int = SAMPLES) -> None:
        self._least = samples - 1
        self._expiry = samples * WINDOW_MS
        # One more, for a window that began before the time that is looked at, and reaches into it.
        self._samples: deque[_Sample] = deque(maxlen=samples + 1)

    def record(self, now: int) -> None:
        """Count an event."""
        if not self._samples or now - self._samples[-1].start >= WINDOW_MS:
            self._samples.append(_Sample(start=now, last=now))
        self._samples[-1].last = now
        self._samples[-1].count += 1

    def measure(self, now: int) -> float:
        """Return the events a second."""
        recent = self._recent(now)
        return sum(sample.count for sample in recent) * 1000 / self._duration(recent, now)

    def throttle_time_ms(self, limit: int, now: int) -> int:
        """Return how long to wait until the rate is the limit again, at most a window.

        If O is the rate over W milliseconds and T the limit, (O - T) / T * W (Java: QuotaUtils).
        """
        recent = self._recent(now)
        window = self._duration(recent, now)
        rate = sum(sample.count for sample in recent) * 1000 / window
        if rate <= limit:
            return 0
        return min(WINDOW_MS, round((rate - limit) / limit * window)) if limit else WINDOW_MS

    def _recent(self, now: int) -> list[_Sample]:
        return [sample for sample in self._samples if now - sample.last < self._expiry]

    def _duration(self, recent: list[_Sample], now: int) -> int:
        """Return the milliseconds since the oldest window began (Java: Rate.windowSize).

        Windows that have not been yet count as empty ones: else the first connections would have a
        huge rate.
        """
        elapsed = now - recent[0].start if recent else 0
        missing = max(0, self._least - elapsed // WINDOW_MS)
        return max(1, elapsed + missing * WINDOW_MS)
