"""The output of commands: a terminal with colours and a width, or a pipe with neither.

Text that came over the wire goes through `kwire.text.untrusted.harmless` first, so that no peer can
command the terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

UNWRAPPED = 100_000
"""Columns of a pipe: every row of a table stays on one line, for grep and cut."""


def screen(*, stderr: bool = False) -> Console:
    """Return the console of a command's output, or of its progress and warnings on stderr."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = UNWRAPPED
    return console


def is_pipe() -> bool:
    """True if stdout is no terminal and not treated as one: rich is not needed then."""
    forced = os.environ.get("FORCE_COLOR") or os.environ.get("TTY_COMPATIBLE") == "1"
    return not sys.stdout.isatty() and not forced


def table_of(*names: str, right: Container[str] = (), whole: Container[str] = ()) -> Table:
    """Return a table of these columns, those of `right` flush right, those of `whole` unbroken.

    What is too long for its column goes on in the next line: nothing is cut off.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in names:
        justify: Literal["left", "right"] = "right" if name in right else "left"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=name in whole)
    return table


def columns(rows: Sequence[Sequence[str]], gap: int = 2) -> str:
    """Format a table without rich: each column as wide as its widest cell, spaces between."""
    width = max(map(len, rows))
    even = [[*row, *[""] * (width - len(row))] for row in rows]
    widths = [max(map(len, column)) for column in zip(*even, strict=True)]
    lines = ((" " * gap).join(map(str.ljust, row, widths)).rstrip() for row in even)
    return "".join(f"{line}\n" for line in lines)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a JSON value for scripts, in ASCII, which any pipe can carry."""
    sys.stdout.write(json.dumps(value, indent=indent) + "\n")
