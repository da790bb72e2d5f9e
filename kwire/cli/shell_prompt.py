"""The prompt of `kwire shell`: Python's own readline, with completion, history, Ctrl-C and Ctrl-D.

It needs no package beside Python. Where Python has no readline, as on Windows, the console edits
lines and recalls them, and Tab completes nothing.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import typer

from kwire.cli.errors import INTERRUPTED, error_sentence
from kwire.errors import KwireError

if TYPE_CHECKING:
    from kwire.shell.shell import Shell

HELLO = "Tab completes, `help` lists the commands, Ctrl-D leaves."


def prompt(shell: Shell) -> None:
    """Read and run lines until `exit`, Ctrl-D or SIGTERM; Ctrl-C drops the line."""
    _complete_by(shell)
    # `main` turns SIGTERM into Ctrl-C, which here only drops the line.
    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, _end)
    typer.echo(f"{shell.context.source}: {shell.context.position().text}\n{HELLO}")
    while not shell.has_ended:
        try:
            shell.run_line(input(shell.prompt))
        except KeyboardInterrupt:
            typer.echo("^C")
        except EOFError:
            return typer.echo()
        except (KwireError, OSError) as error:
            typer.secho(f"Error: {error_sentence(error)}", fg="red", err=True)


def _complete_by(shell: Shell) -> None:
    """Have Tab complete commands and paths."""
    try:
        import readline
    except ImportError:
        return
    candidates: list[str] = []

    def completer(_: str, number: int) -> str | None:
        if number == 0:
            candidates[:] = _candidates(shell, readline.get_line_buffer()[: readline.get_endidx()])
        return candidates[number] if number < len(candidates) else None

    readline.set_completer(completer)
    # Names have brackets, colons and the like: only spaces end a word.
    readline.set_completer_delims(" \t\n")
    # The library is libedit on macOS and in some builds of Python, with other words for the key.
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")


def _candidates(shell: Shell, line: str) -> list[str]:
    try:
        return shell.complete(line)
    except (KwireError, OSError):
        return []  # the line will say what is wrong when it runs


def _end(*_: object) -> None:
    raise SystemExit(INTERRUPTED)
