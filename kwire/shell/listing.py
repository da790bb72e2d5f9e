"""Names in columns, as wide as the terminal (org.apache.kafka.shell.command.LsCommandHandler)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest


def columns(names: Sequence[str], width: int | None) -> Iterator[str]:
    """Yield the lines of a list, sorted down the columns; one name a line without a width."""
    if not names:
        return
    height = _height(names, width)
    groups = [names[start : start + height] for start in range(0, len(names), height)]
    widths = [max(map(len, group)) for group in groups]
    for row in zip_longest(*groups, fillvalue=""):
        cells = (name.ljust(size) for name, size in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _height(names: Sequence[str], width: int | None) -> int:
    """Return the smallest number of lines in which the names fit into a width."""
    if width is None:
        return len(names)
    lengths = list(map(len, names))
    for count in range(max(1, (width + 2) // (min(lengths) + 2)), 1, -1):
        height = -(-len(names) // count)
        groups = (lengths[start : start + height] for start in range(0, len(names), height))
        if sum(max(group) + 2 for group in groups) - 2 <= width:
            return height
    return len(names)
