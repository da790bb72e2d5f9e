"""Where commands write: a terminal with colours and a width, or a pipe with neither.

Text that came over the wire goes through `kwire.text.harmless` first, so that no peer can command
the terminal.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

UNWRAPPED = 100_000
"""Columns of a pipe: every row of a table stays on one line, for grep and cut."""


def screen(*, stderr: bool = False) -> Console:
    """The console of a command's output, or of its progress and warnings on stderr."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = UNWRAPPED
    return console


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """One JSON value for scripts, in ASCII, which any pipe can carry."""
    sys.stdout.write(json.dumps(value, indent=indent) + "\n")
