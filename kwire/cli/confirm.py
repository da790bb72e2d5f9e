"""The question before a command destroys something."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from kwire.cli.errors import WrongUsage

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def confirm(question: str, *, yes: bool) -> None:
    """Ask on stderr, so that stdout stays the result's; return if the user agrees.

    Raises WrongUsage where nobody can answer, typer.Abort if the user does not agree.
    """
    if yes:
        return
    check_answerable(question, yes=yes)
    with interruptible():
        typer.confirm(question, abort=True, err=True)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C at a question end the command as anywhere else; typer takes it for a no."""
    try:
        yield
    except typer.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            typer.echo(err=True)
            raise KeyboardInterrupt from None
        raise


def check_answerable(question: str, *, yes: bool) -> None:
    """Raise WrongUsage if the question cannot be asked; for commands that check before they ask."""
    if not yes and not sys.stdin.isatty():
        raise WrongUsage(f"{question} Nobody can be asked here: add --yes.")
