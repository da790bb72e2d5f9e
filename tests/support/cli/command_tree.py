"""All commands of kwire, as typer has them."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import typer

from kwire.cli.main import app

BOOTSTRAP = ("--bootstrap-server", "--bootstrap-controller")


def commands_below(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the command of everything in a group, groups too."""
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if is_group(command):
            yield from commands_below(command, (*path, name))


def is_group(command: Any) -> bool:
    return hasattr(command, "list_commands")


@cache
def tree() -> dict[str, Any]:
    """Return all commands and groups by their paths."""
    whole = commands_below(typer.main.get_command(app))
    return {" ".join(path): command for path, command in whole}


def leaves() -> list[str]:
    """Return the paths of the commands that are no groups."""
    return [path for path, command in tree().items() if not is_group(command)]


def flags(path: str) -> set[str]:
    """Return the options of a command."""
    return {flag for parameter in tree()[path].params for flag in parameter.opts if flag[0] == "-"}


def asking() -> list[str]:
    """Return the commands that ask a cluster."""
    return [path for path in leaves() if not flags(path).isdisjoint(BOOTSTRAP)]
