"""The time that a report is about, and the steps in which it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire.pipeline.report.style import duration, many, utc

STEPS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 10_800, 21_600, 86_400)
"""Seconds."""

CELLS = 90
"""Steps that a picture has at most."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of time, in UTC."""

    begin: datetime
    end: datetime

    @property
    def milliseconds(self) -> float:
        """The length of the gap."""
        return (self.end - self.begin) / timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class ReportSpan:
    """The time of a report. begin, end: of the calls, UTC. seconds: of a step.

    unrecorded: gaps between the two.
    """

    begin: datetime
    end: datetime
    seconds: int
    unrecorded: tuple[Gap, ...] = ()

    @property
    def step(self) -> Column:
        """The step that the column `at` is in, counted from 1970."""
        return f.floor(f.unix_seconds("at") / self.seconds)

    @property
    def steps(self) -> range:
        """All steps, also those in which nothing happened."""
        first, last = (at.replace(tzinfo=UTC).timestamp() for at in (self.begin, self.end))
        return range(int(first // self.seconds), int(last // self.seconds) + 1)

    def start(self, step: int) -> datetime:
        """Return the begin of a step."""
        return datetime.fromtimestamp(step * self.seconds, UTC).replace(tzinfo=None)

    def middle(self, step: int) -> datetime:
        """Return the middle of a step, at which its cell is centred."""
        return self.start(step) + timedelta(seconds=self.seconds / 2)

    @property
    def recorded(self) -> float:
        """Seconds of it that were recorded, at least one."""
        missing = sum(gap.milliseconds for gap in self.unrecorded) / 1000
        return max((self.end - self.begin).total_seconds() - missing, 1.0)

    @property
    def silence(self) -> str:
        """A sentence about the time that was not recorded, to stand behind others; or nothing."""
        if not self.unrecorded:
            return ""
        spent = duration(sum(gap.milliseconds for gap in self.unrecorded))
        gaps = many(len(self.unrecorded), "gap")
        return f" Grey: nothing was recorded, for {spent} in {gaps}."

    @property
    def unit(self) -> str:
        """The length of a step in words, as `minute` or `5 minutes`."""
        for size, name in ((3600, "hour"), (60, "minute"), (1, "second")):
            if self.seconds % size == 0:
                count = self.seconds // size
                return name if count == 1 else f"{count} {name}s"
        raise AssertionError(self.seconds)


def unrecorded(stretches: DataFrame) -> tuple[Gap, ...]:
    """Return the gaps between the stretches of `recorded`, in which none of their clusters was."""
    gaps: list[Gap] = []
    end: datetime | None = None
    for stretch in stretches.orderBy("begin").collect():
        begin = utc(stretch.begin)
        if end is not None and begin > end:
            gaps.append(Gap(end, begin))
        end = utc(stretch.end) if end is None else max(end, utc(stretch.end))
    return tuple(gaps)


def span_of(calls: DataFrame, gaps: Sequence[Gap] = ()) -> ReportSpan | None:
    """Return the time that the calls span; None if there are none. gaps: see `unrecorded`."""
    row = calls.agg(f.min("at").alias("begin"), f.max("at").alias("end")).collect()[0]
    if row.begin is None:
        return None
    begin, end = utc(row.begin), utc(row.end)
    least = (end - begin).total_seconds() / CELLS
    seconds = next((step for step in STEPS if step >= least), STEPS[-1])
    inside = tuple(gap for gap in gaps if gap.begin >= begin and gap.end <= end)
    return ReportSpan(begin, end, seconds, inside)
