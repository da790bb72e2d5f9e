"""The start of the `kwire` command: answer what needs neither typer nor a command.

That is --version, the list of commands, the error of an unknown command, and completions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from kwire import __version__

COMPLETE = "_KWIRE_COMPLETE"
"""Set by a script of completion, to the name of its shell."""

HELP = ("-h", "--help")


def main() -> NoReturn:
    """Answer at once, or run the command; exit codes as of `kwire.cli.main`."""
    words = [word for word in sys.argv[1:] if word != "--debug"]
    if COMPLETE in os.environ:
        from kwire.cli.completion import print_completions

        print_completions(words)
    if sys.stdout is not None and sys.stderr is not None:  # else `main` opens them first
        out, err, code = quick_answer(words)
        if out or err:
            _print(out, err)
            sys.exit(code)
    from kwire.cli import main as commands

    commands.main()


def quick_answer(words: Sequence[str]) -> tuple[str, str, int]:
    """Return what is printed on stdout and on stderr, and the exit code; no text if typer knows."""
    if list(words) == ["--version"]:
        return f"kwire {__version__}\n", "", 0
    if words and words[0].startswith("-") and (len(words) > 1 or words[0] not in HELP):
        return "", "", 0
    from kwire.cli.command_list import command_list, unknown_command

    if words and words[0] not in HELP:
        return "", unknown_command(words[0]), 2
    listed = command_list()
    return (listed, "", 0) if words else ("", listed, 2)


def _print(out: str, err: str) -> None:
    """Print; a reader that has gone, as `| head` does, is no error."""
    try:
        sys.stderr.write(err)
        sys.stdout.write(out)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
