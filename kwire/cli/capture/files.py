"""Captures as arguments of commands, and the lines that commands print about them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.cli.errors import CommandFailed
from kwire.cli.options import argument

if TYPE_CHECKING:
    from kwire.capture import CaptureRecord, Damage

CAPTURES = argument(metavar="FILE...", help="Captures; a folder stands for all of them in it.")


def files(captures: list[Path]) -> list[Path]:
    """Return the files that arguments stand for. Raises CommandFailed if there are none."""
    from kwire.capture import captures_at

    paths = captures_at(captures)
    if not paths:
        raise CommandFailed(f"there is no capture in {', '.join(map(str, captures))}")
    return paths


def check_is_new(path: Path) -> None:
    """Raise CommandFailed for what is there already, or a folder that is not: nothing is lost."""
    if path.exists() or path.is_symlink():
        raise CommandFailed(f"{path} exists already: choose another name or remove it")
    if not path.parent.is_dir():
        raise CommandFailed(f"there is no folder {path.parent}: make it, or choose another name")


def print_written(events: int, out: Path) -> None:
    """Print how many events were written. Raises CommandFailed for none: no file was made then."""
    if not events:
        raise CommandFailed(f"there is no event to write: {out} was not made")
    typer.echo(f"{events} events written to {out}")


def print_warning(warning: Damage | str) -> None:
    """Print damage of a capture, or another warning, to stderr."""
    from kwire.text.untrusted import harmless

    typer.secho(harmless(str(warning)), fg="yellow", err=True)


class DamageTold:
    """Prints damage to stderr; `end` exits with 1 if there was any, when the rest is written."""

    def __init__(self) -> None:
        self.is_damaged = False

    def __call__(self, damage: Damage) -> None:
        self.is_damaged = True
        print_warning(damage)

    def end(self) -> None:
        """Exit with 1 if a part of a capture could not be read."""
        if self.is_damaged:
            raise typer.Exit(1)


def records_of(paths: list[Path]) -> Iterator[CaptureRecord | Damage]:
    """Yield the records of captures, one file after the other."""
    from kwire.capture import read_capture

    for path in paths:
        yield from read_capture(path)
