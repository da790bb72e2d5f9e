"""The part of a recording between two times, which are absolute or count from its ends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Self

from kwire.capture.reading import Damage, read_capture
from kwire.errors import InvalidValue
from kwire.text.untrusted import cut_repr

_RELATIVE = re.compile(r"(?P<sign>[+-])(?P<amount>\d+(?:\.\d+)?)(?P<unit>us|ms|s|m|h|)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_MICROS = 1_000_000


@dataclass(frozen=True, slots=True)
class Window:
    """A period from `start` until before `stop`, in Unix seconds."""

    start: float = -inf
    stop: float = inf

    def __contains__(self, at: float) -> bool:
        return self.start <= at < self.stop

    @classmethod
    def read(cls, since: str | None, until: str | None, captures: Iterable[Path]) -> Self:
        """Return the window between two times as people write them; None leaves it open.

        `2026-11-21T09:30:00Z`: that moment, in local time without a zone. `+30s`: so long after the
        first event of the captures, `-30s`: before the last one; `us`, `ms`, `s`, `m`, `h`. Raises
        InvalidValue.
        """
        texts = [text for text in (since, until) if text is not None]
        ends = span(captures) if any(_RELATIVE.fullmatch(text) for text in texts) else (0.0, 0.0)
        start = -inf if since is None else _instant(since, ends)
        return cls(start, inf if until is None else _instant(until, ends))


def span(captures: Iterable[Path]) -> tuple[float, float]:
    """Unix seconds of the first and of the last event; zeros where there is none."""
    times = [
        record.at_us
        for path in captures
        for record in read_capture(path)
        if not isinstance(record, Damage)
    ]
    return (min(times) / _MICROS, max(times) / _MICROS) if times else (0.0, 0.0)


def _instant(text: str, ends: tuple[float, float]) -> float:
    if match := _RELATIVE.fullmatch(text):
        seconds = float(match["amount"]) * _SECONDS[match["unit"]]
        return ends[0] + seconds if match["sign"] == "+" else ends[1] - seconds
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise InvalidValue(
            f"{cut_repr(text)} is no time: write 2026-11-21T09:30:00Z, +30s after the first event"
            " or -30s before the last"
        ) from None
