"""Text in lines that fit a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap

_LEAST = 30


def wrapped(text: str, indent: int) -> list[str]:
    """Return text in lines that fit beside the indent; in a pipe one line, for grep."""
    if not sys.stdout.isatty():
        return [text]
    columns = shutil.get_terminal_size().columns
    return textwrap.wrap(text, max(columns - indent, _LEAST), break_on_hyphens=False) or [""]
