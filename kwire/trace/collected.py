"""The flows of captures that a page has room for, and the marks and totals of all of them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Event, Flow, Outcome
from kwire.proxy.flows.latencies import LONG_POLLS
from kwire.proxy.flows.summary import summarize
from kwire.trace.marks import MarkFinder, TraceMark, notice_mark

ROOM = 20_000
"""Flows of a page: more of them are sampled."""

MARKS = 5_000
"""Marks of a page."""

SLOW = 0.1
"""Seconds from which a call is slow; one that may wait in the node, that long after its wait."""

T = TypeVar("T")


class EvenSample(Generic[T]):
    """Keeps up to `room` of the things it is given, evenly spaced, in their order."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.kept: list[T] = []
        self.count = 0
        self._step = 1

    def add(self, item: T) -> None:
        """Take a thing; every second one is dropped whenever there are too many."""
        if self.count % self._step == 0:
            self.kept.append(item)
        self.count += 1
        if len(self.kept) > 2 * self.room:
            del self.kept[1::2]
            self._step *= 2

    def thinned(self, room: int) -> list[T]:
        """Return up to `room` of what is kept, evenly spaced."""
        kept = self.kept
        if len(kept) <= room:
            return kept
        return [kept[index * len(kept) // room] for index in range(room)]


@dataclass(slots=True)
class Collected:
    """Flows and marks, in the order of the captures until they are asked for.

    totals: of all events, also of those that are not kept. losses: sentences about what was not
    read. caused: what a metadata log says that flows have caused.
    """

    room: int = ROOM
    totals: Counter[str] = field(default_factory=Counter)
    losses: list[str] = field(default_factory=list)
    caused: dict[Flow, list[str]] = field(default_factory=dict)
    marks: EvenSample[TraceMark] = field(default_factory=lambda: EvenSample(MARKS))
    _telling: EvenSample[Flow] = field(init=False)
    _others: EvenSample[Flow] = field(init=False)
    _times: array[float] = field(default_factory=lambda: array("d"))
    _finder: MarkFinder = field(default_factory=MarkFinder)

    def __post_init__(self) -> None:
        self._telling, self._others = EvenSample(self.room), EvenSample(self.room)

    @property
    def span(self) -> tuple[float, float] | None:
        """The times of the first and the last request, None without any."""
        return (min(self._times), max(self._times)) if self._times else None

    def add(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, Flow):
            self._add_flow(DecodedFlow(event))
        else:
            self.totals["notices"] += 1
            if (mark := notice_mark(event)) is not None:
                self.marks.add(mark)

    def _add_flow(self, decoded: DecodedFlow) -> None:
        flow = decoded.flow
        self._times.append(flow.at)
        kind = self._finder.kind(decoded)
        telling = {
            "errors": bool(decoded.failures),
            "slow": is_slow(decoded),
            "unanswered": flow.outcome in (Outcome.LOST, Outcome.PENDING),
            "problems": bool(decoded.problems),
        }
        self.totals.update(name for name, holds in telling.items() if holds)
        self.totals["flows"] += 1
        if kind is not None:
            self.marks.add(TraceMark(at=flow.at, kind=kind, text=summarize(decoded), flow=flow))
        (self._telling if kind or any(telling.values()) else self._others).add(flow)

    def flows(self) -> list[tuple[int, Flow]]:
        """Return the kept flows with their numbers, by the time of their requests.

        Flows are numbered from 1 on, by that time, those that are left out as well.
        """
        telling = self._telling.thinned(self.room)
        others = self._others.thinned(self.room - len(telling))
        flows = sorted((*telling, *others), key=lambda flow: flow.at)
        times, numbers, last = sorted(self._times), [], 0
        for flow in flows:
            last = max(last + 1, bisect_left(times, flow.at) + 1)
            numbers.append(last)
        return list(zip(numbers, flows, strict=True))

    def notes(self, kept: int) -> list[str]:
        """Return what a reader of the page has to know of it."""
        total, telling = self.totals["flows"], self._telling.count
        notes = list(self.losses)
        if kept < total:
            which = "all with an error, a mark or a problem, slow and unanswered ones, and"
            if telling > kept:
                which = f"some of the {telling:,} that have an error, a mark or are slow, and"
            notes.insert(0, f"{kept:,} of {total:,} RPCs are here: {which} a part of the others")
        if self.marks.count > MARKS:
            notes.append(f"{MARKS:,} of {self.marks.count:,} marks are here")
        return notes


def is_slow(decoded: DecodedFlow) -> bool:
    """Return True for a call that took long, and was not meant to."""
    flow = decoded.flow
    if flow.latency is None or flow.latency < SLOW:
        return False
    body: Any = decoded.request.body if decoded.request else None
    wait = getattr(body, "max_wait_ms", None)
    if wait is None:
        return flow.api not in LONG_POLLS
    return bool(flow.latency >= max(wait, 0) / 1000 + SLOW)
