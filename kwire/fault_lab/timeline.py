"""The picture of a run: faults as bars, leaders as a line, unknown outcomes as ticks; plain SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.sax.saxutils import escape

from kwire.fault_lab.history import Fate
from kwire.fault_lab.run import FaultRun
from kwire.testing.faulty_network.fault import FaultKind

WIDTH, LEFT, ROW = 1000, 110, 18
BINS = 120
_COLOURS = {
    FaultKind.DELAY: "#e0a030",
    FaultKind.REORDER: "#d9c14a",
    FaultKind.DROP: "#a05195",
    FaultKind.RESET: "#d45087",
    FaultKind.PARTITION: "#c0392b",
    FaultKind.ONE_WAY: "#e67e22",
    FaultKind.BRIDGE: "#7d6608",
    FaultKind.CLIENTS: "#5d6d7e",
}
_FATES = {Fate.OK: "#2e7d32", Fate.REFUSED: "#81c784", Fate.UNKNOWN: "#b71c1c"}


def timeline_svg(run: FaultRun) -> str:
    """Return the picture as a file of its own."""
    rows = [*FaultKind]
    leaders = sorted({leader for _, leader in run.leaders})
    height = ROW * (len(rows) + len(leaders) + 1) + 110
    body = "\n".join(
        (*_faults(run, rows), *_leaders(run, leaders, len(rows)), *_rates(run, height))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="sans-serif" font-size="11">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n{body}\n</svg>\n'
    )


def _x(run: FaultRun, seconds: float) -> float:
    share = min(max(seconds / run.schedule.seconds, 0.0), 1.0)
    return round(LEFT + share * (WIDTH - LEFT - 10), 1)


def _label(y: float, text: str) -> str:
    return f'<text x="4" y="{y + 12}">{escape(text)}</text>'


def _bar(run: FaultRun, begin: float, end: float, y: float, colour: str, title: str) -> str:
    x = _x(run, begin)
    width = max(_x(run, end) - x, 1.0)
    return (
        f'<rect x="{x}" y="{y + 2}" width="{width:.1f}" height="{ROW - 4}" fill="{colour}">'
        f"<title>{escape(title)}</title></rect>"
    )


def _faults(run: FaultRun, rows: list[FaultKind]) -> Iterator[str]:
    for index, kind in enumerate(rows):
        yield _label(index * ROW, kind.value)
        for outcome in run.faults:
            if outcome.event.kind is kind:
                title = f"{outcome.event} on {outcome.chosen}"
                yield _bar(run, outcome.began, outcome.ended, index * ROW, _COLOURS[kind], title)


def _leaders(run: FaultRun, leaders: list[int], above: int) -> Iterator[str]:
    for index, leader in enumerate(leaders):
        y = (above + index) * ROW
        yield _label(y, f"{leader} leads")
        for number, (begin, id) in enumerate(run.leaders):
            following = run.leaders[number + 1 :]
            end = following[0][0] if following else run.schedule.seconds
            if id == leader:
                yield _bar(run, begin, end, y, "#2874a6", f"{begin:.1f} s")


def _rates(run: FaultRun, height: float) -> Iterator[str]:
    """Stack the fates of the operations that began in each piece of time, until the end."""
    seconds = run.schedule.seconds / BINS
    counts = Counter(
        (int(op.begin / seconds), op.fate)
        for op in run.history.operations
        # Not the reads of all keys after the end, which are many at once.
        if op.fate in _FATES and op.begin < run.schedule.seconds
    )
    totals = Counter[int]()
    for (position, _), count in counts.items():
        totals[position] += count
    scale = 80 / max(totals.values(), default=1)
    yield _label(height - 90, "operations")
    for position in range(BINS):
        y = height - 22.0
        for fate, colour in _FATES.items():
            tall = counts[position, fate] * scale
            y -= tall
            x = _x(run, position * seconds)
            width = (WIDTH - LEFT) / BINS - 1
            yield (
                f'<rect x="{x}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}"'
                f' fill="{colour}"/>'
            )
    minutes = f"{run.schedule.minutes:g} minutes; green: acknowledged, light: refused, red: unknown"
    yield f'<text x="{LEFT}" y="{height - 6}">{minutes}</text>'
