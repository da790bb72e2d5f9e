"""The tables of the codec benchmark, in Markdown."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Iterator

Times = dict[str, dict[str, list[float]]]
"""Title to contender to the seconds of each round."""

GOALS = {
    "Decode": {
        ("kwire native", "kio"): 1.3,
        ("kwire native", "kafka-python"): 6.0,
        ("kwire compiled", "kafka-python"): 1.5,
        ("kwire compiled", "kwire reference"): 10.0,
    },
    "Encode": {
        ("kwire native", "kio"): 30.0,
        ("kwire native", "kafka-python"): 6.0,
        ("kwire compiled", "kio"): 6.0,
        ("kwire compiled", "kafka-python"): 3.0,
    },
}
"""How many times as fast as a peer an engine is to be, on every message."""


def report(tables: dict[str, Times], rounds: int) -> str:
    """All tables, and above them what they were measured with."""
    lines = [f"Python {platform.python_version()}, {platform.machine()}, {rounds} rounds.", ""]
    for title, times in tables.items():
        lines += [f"### {title}", "", *_table(times), ""]
        if title in GOALS:
            lines += ["How many times as fast:", "", *_ratios(times, GOALS[title]), ""]
    return "\n".join(lines)


def _table(times: Times) -> Iterator[str]:
    names = _names(times)
    yield _row("microseconds: least (median)", names)
    yield _row("---", ["---:"] * len(names))
    for title, row in times.items():
        yield _row(title, [_cell(row.get(name)) for name in names])


def _cell(seconds: list[float] | None) -> str:
    if seconds is None:
        return "-"
    return f"{_number(min(seconds) * 1e6)} ({_number(statistics.median(seconds) * 1e6)})"


def _ratios(times: Times, goals: dict[tuple[str, str], float]) -> Iterator[str]:
    pairs = list(goals)
    yield _row("", [f"{ours} : {peer}" for ours, peer in pairs])
    yield _row("---", ["---:"] * len(pairs))
    for title, row in times.items():
        if any(ours in row for ours, _ in pairs):
            yield _row(title, [_ratio(row, ours, peer) for ours, peer in pairs])
    found = {pair: sorted(_all(times, *pair)) for pair in pairs}
    yield _row("**least; median**", [_least(values) for values in found.values()])
    yield _row("goal", [f"{goal:g}" for goal in goals.values()])


def _ratio(row: dict[str, list[float]], ours: str, peer: str) -> str:
    if ours not in row or peer not in row:
        return "-"
    return _number(min(row[peer]) / min(row[ours]))


def _all(times: Times, ours: str, peer: str) -> Iterator[float]:
    for row in times.values():
        if ours in row and peer in row:
            yield min(row[peer]) / min(row[ours])


def _least(ratios: list[float]) -> str:
    if not ratios:
        return "-"
    return f"**{_number(ratios[0])}; {_number(statistics.median(ratios))}**"


def _names(times: Times) -> list[str]:
    return list(dict.fromkeys(name for row in times.values() for name in row))


def _row(head: str, cells: list[str]) -> str:
    return f"| {head} | {' | '.join(cells)} |"


def _number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")
