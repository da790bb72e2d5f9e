"""Fault schedules: which links of a cluster are disturbed, how, when and for how long.

A schedule follows from its seed and the ids of the nodes alone, so that a run can be repeated.
Nothing here does IO.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from kwire.errors import InvalidValue
from kwire.testing.faulty_network.fault import ALL_KINDS, LEADER, FaultEvent, FaultKind

CALM = 5.0
"""Seconds at the begin of a schedule in which nothing happens: the workload gets going."""

OVERLAPS = 0.25
"""Share of the faults that begin while the one before lasts."""


_AMOUNTS = {
    FaultKind.DELAY: (0.02, 1.5),
    FaultKind.REORDER: (0.05, 0.8),
    FaultKind.DROP: (0.02, 0.3),
    FaultKind.RESET: (0.02, 0.3),
}
"""The least and the greatest amount: seconds, or the share of the requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultSchedule:
    """The parameters of a schedule; as text `seed=7,minutes=30,faults=delay|drop|partition`.

    lasts, pause: mean seconds of a fault, and between two. rate: operations a second.
    """

    seed: int = 1
    minutes: float = 1.0
    faults: tuple[FaultKind, ...] = ALL_KINDS
    lasts: float = 12.0
    pause: float = 8.0
    rate: float = 20.0

    def __post_init__(self) -> None:
        bounds = {"minutes": (0, 1440), "lasts": (0, 600), "pause": (0, 600), "rate": (0, 1000)}
        for name, (low, high) in bounds.items():
            if not low < getattr(self, name) <= high:
                raise InvalidValue(f"{name} of a fault schedule is above {low}, at most {high}")
        if not self.faults:
            raise InvalidValue("a fault schedule needs at least one kind of fault")

    @property
    def seconds(self) -> float:
        """The duration of the workload."""
        return self.minutes * 60

    def __str__(self) -> str:
        default = FaultSchedule()
        parts = [f"seed={self.seed}", f"minutes={self.minutes:g}"]
        if self.faults != ALL_KINDS:
            parts.append("faults=" + "|".join(kind.value for kind in self.faults))
        for name in ("lasts", "pause", "rate"):
            if getattr(self, name) != getattr(default, name):
                parts.append(f"{name}={getattr(self, name):g}")
        return ",".join(parts)

    def events(self, controllers: Sequence[int], brokers: Sequence[int] = ()) -> list[FaultEvent]:
        """Return the faults of a cluster of these nodes, in order of time."""
        return sorted(self._events(controllers, brokers), key=lambda event: event.at)

    def _events(self, controllers: Sequence[int], brokers: Sequence[int]) -> Iterator[FaultEvent]:
        random = Random(f"kwire faults {self.seed}")
        at = CALM
        # The last fault ends before the workload does, so that every run sees a recovery.
        while (end := self.seconds - CALM) > at:
            lasts = min(self.lasts * random.uniform(0.4, 1.6), end - at)
            kind = random.choice(self.faults)
            low, high = _AMOUNTS.get(kind, (0.0, 0.0))
            amount = round(low * (high / low) ** random.random(), 3) if high else 0.0
            nodes = _chosen(random, kind, controllers, brokers)
            yield FaultEvent(
                at=round(at, 3), lasts=round(lasts, 3), kind=kind, nodes=nodes, amount=amount
            )
            overlap = random.random() < OVERLAPS
            at += lasts * 0.5 if overlap else lasts + self.pause * random.uniform(0.4, 1.6)


def _chosen(
    random: Random, kind: FaultKind, controllers: Sequence[int], brokers: Sequence[int]
) -> tuple[int, ...]:
    """Return the nodes of a fault: often the leader, sometimes a broker, for delays all."""
    choice = random.random()
    if kind in (FaultKind.DELAY, FaultKind.REORDER, FaultKind.RESET) and choice < 0.4:
        return (*controllers, *brokers)
    if kind is FaultKind.BRIDGE:
        # A bridge that leads changes nothing: followers need nobody else.
        return (random.choice(controllers),)
    if choice < 0.6:
        return (LEADER,)
    return (random.choice(brokers if brokers and choice < 0.8 else controllers),)


def read_schedule(text: str) -> FaultSchedule:
    """Read the text form of a schedule. Raises InvalidValue, which names the part."""
    schedule = FaultSchedule()
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in _READERS:
            known = ", ".join(_READERS)
            raise InvalidValue(f"{part!r} is no part of a fault schedule: write one of {known}")
        try:
            changed = _READERS[name](value)
        except ValueError as error:
            raise InvalidValue(f"{name} of a fault schedule: {error}") from None
        schedule = replace(schedule, **{name: changed})
    return schedule


def _kinds(text: str) -> tuple[FaultKind, ...]:
    names = [name.strip() for name in text.split("|")]
    known = {kind.value: kind for kind in FaultKind}
    for name in names:
        if name not in known:
            raise ValueError(f"no fault is called {name!r}; there are {', '.join(known)}")
    return tuple(dict.fromkeys(known[name] for name in names))


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None


_READERS: dict[str, Callable[[str], Any]] = {
    "seed": _whole_number,
    "minutes": _number,
    "faults": _kinds,
    "lasts": _number,
    "pause": _number,
    "rate": _number,
}
