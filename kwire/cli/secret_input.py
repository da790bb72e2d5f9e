"""Secrets that a command needs: from a prompt, a file or stdin, never from its arguments.

Arguments are seen by every user of the machine, and kept in the shell's history.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from getpass import getpass
from pathlib import Path

import typer

from kwire.cli.errors import WrongUsage

STDIN = Path("-")


@contextmanager
def without_echo() -> Iterator[None]:
    """Show nothing that is typed, also before a prompt is ready and between two of them."""
    try:
        import termios

        before = termios.tcgetattr(sys.stdin)
    except (ImportError, OSError, ValueError, termios.error):
        yield  # no terminal
        return
    hidden = [*before]
    hidden[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def read_secret(file: Path | None, noun: str, option: str, *, confirm: bool = False) -> str:
    """Return the secret without its line end. option: the one that names the file, `-` for stdin.

    confirm: have the user type it twice. Raises WrongUsage for an empty one, and where no file is
    given and nobody can be asked; CommandFailed if the file cannot be read.
    """
    if file is None:
        if not sys.stdin.isatty():
            raise WrongUsage(
                f"nobody can be asked for the {noun}: give {option} FILE, - for stdin."
            )
        with without_echo():
            return _typed(noun.capitalize(), confirm=confirm)
    secret = _content(file, noun).removesuffix("\n").removesuffix("\r")
    if not secret:
        raise WrongUsage(f"the {noun} in {file} is empty.")
    if "\n" in secret:
        raise WrongUsage(f"the {noun} in {file} has more than one line.")
    return secret


def _typed(name: str, *, confirm: bool) -> str:
    """Return what is typed, twice the same if it is to be confirmed; an empty one is asked again.

    typer.prompt shows what is typed before it listens, and throws it away. Raises typer.Abort at
    the end of the input.
    """
    while True:
        secret = _line(name)
        if not secret:
            continue
        if not confirm or secret == _line(f"Repeat {name.lower()}"):
            return secret
        typer.echo("The two are not the same. Type both again.", err=True)


def _line(name: str) -> str:
    if os.name == "nt":
        return getpass(f"{name}: ")
    typer.echo(f"{name}: ", nl=False, err=True)
    line = sys.stdin.readline()
    typer.echo(err=True)
    if not line:
        raise typer.Abort
    return line.removesuffix("\n")


def read_secret_lines(file: Path, noun: str) -> list[str]:
    """Return the lines of a file, `-` for stdin, that are not blank. Raises as `read_secret`."""
    lines = [line for line in _content(file, noun).splitlines() if line.strip()]
    if not lines:
        raise WrongUsage(f"there is no {noun} in {file}.")
    return lines


def _content(file: Path, noun: str) -> str:
    return _stdin_text(noun) if file == STDIN else _text(file)


def _stdin_text(noun: str) -> str:
    try:
        text = sys.stdin.read()
        # Some locales read strange bytes as surrogates, which could not be hashed.
        text.encode()
    except UnicodeError:
        # The error would show a part of the secret.
        raise WrongUsage(f"the {noun} in {STDIN} is no text in UTF-8.") from None
    return text


def _text(file: Path) -> str:
    from kwire.errors import InvalidValue
    from kwire.permissions import warn_if_readable
    from kwire.text.untrusted import read_text

    warn_if_readable(file)
    return read_text(file, InvalidValue)
