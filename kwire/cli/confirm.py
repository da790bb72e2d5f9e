"""The question before a command destroys something."""

from __future__ import annotations

import sys

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.options import flag

YES = flag("--yes", "-y", help="Do not ask for confirmation.")


def confirm(question: str, *, yes: bool) -> None:
    """Ask on stderr, so that stdout stays the result's; return if the user agrees.

    Raises WrongUsage where nobody can answer, typer.Abort if the user does not agree.
    """
    if yes:
        return
    check_answerable(question, yes=yes)
    try:
        typer.confirm(question, abort=True, err=True)
    except typer.Abort as abort:
        # typer takes Ctrl-C for a no; it ends the command as anywhere else.
        if isinstance(abort.__context__, KeyboardInterrupt):
            typer.echo(err=True)
            raise KeyboardInterrupt from None
        raise


def check_answerable(question: str, *, yes: bool) -> None:
    """Raise WrongUsage if the question cannot be asked; for commands that check before they ask."""
    if not yes and not sys.stdin.isatty():
        raise WrongUsage(f"{question} Not a terminal: confirm with --yes.")
