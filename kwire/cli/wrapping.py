"""Text in lines that fit a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap

_LEAST = 30


def columns() -> int | None:
    """Return the width of the terminal; None in a pipe, where lines stay whole for grep."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def has_room(indent: int) -> bool:
    """True if text fits beside the indent; in a pipe always."""
    width = columns()
    return width is None or width - indent >= _LEAST


def wrapped(text: str, indent: int) -> list[str]:
    """Return text in lines that fit beside the indent; in a pipe one line, for grep."""
    width = columns()
    if width is None:
        return [text]
    return textwrap.wrap(text, max(width - indent, _LEAST), break_on_hyphens=False) or [""]


def wrapped_command(command: str, room: int) -> list[str]:
    """Return a command in lines that can be copied: a shell joins them at the backslashes."""
    if len(command) <= room:
        return [command]
    *most, last = textwrap.wrap(
        command,
        max(room - 2, _LEAST),
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [*(f"{line} \\" for line in most), last]
