"""`kwire --help` and the error of an unknown command, as typer prints them, from the index."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from textwrap import wrap

from kwire.cli.command_index import children, index, parameters

USAGE = "Usage: kwire [OPTIONS] COMMAND [ARGS]..."
FIRST_COLUMN = 30
"""A longer name has its text on the next line."""


def command_list() -> str:
    """Return the options and the commands, wrapped for the terminal."""
    width = max(min(shutil.get_terminal_size().columns, 80) - 2, 50)
    options = [
        (" ".join([", ".join(_short_first(item["flags"])), item["value"]]).strip(), item["help"])
        for item in parameters("")
    ]
    known = index()
    lines = [
        *(USAGE, "", *_indented(known["commands"][""]["summary"], width)),
        *("", "Options:", *_table(options, width)),
        *("", "Commands:", *_table(children("").items(), width)),
        *("", *_indented(known["epilog"], width)),
    ]
    return "\n".join(lines) + "\n"


def unknown_command(name: str) -> str:
    """Return what is said of a name that no command has; empty for one that a command has."""
    names = children("")
    if name in names:
        return ""
    similar = get_close_matches(name, names)
    question = f"Did you mean {', '.join(map(repr, similar))}?" if similar else ""
    error = f"No such command {name!r}. {question}".rstrip()
    return f"{USAGE}\nTry 'kwire -h' for help.\n\nError: {error}\n"


def _short_first(flags: list[str]) -> list[str]:
    return sorted(flags, key=lambda flag: flag.startswith("--"))


def _indented(text: str, width: int) -> list[str]:
    return [f"  {line}" for line in wrap(text, width - 2)]


def _table(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    listed = list(rows)
    column = min(max(len(name) for name, _ in listed), FIRST_COLUMN) + 2
    for name, text in listed:
        first, *others = wrap(text, max(width - column - 2, 10))
        yield f"  {name:<{column}}{first}"
        yield from (f"  {'':<{column}}{line}" for line in others)
