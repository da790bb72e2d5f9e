"""Ends a command by its errors and its output."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from kwire.cli.errors import WrongUsage, is_wrong_value
from kwire.cli.output import Output, error_document


@contextmanager
def exit_code(output: Output) -> Iterator[None]:
    """End with exit code 1 if the output failed, or with the error of a command.

    If JSON was asked for, the error is the one object. Raises WrongUsage for a value of the command
    line that has no meaning: an id, an address, a partition.
    """
    try:
        yield
    except (typer.Exit, typer.Abort, WrongUsage):
        raise
    except BrokenPipeError:
        pass  # the reader has gone, as `| head` does: what it read was right
    except Exception as error:
        if is_wrong_value(error):
            raise WrongUsage(f"{error}.") from error
        if output.is_document:
            output.print_document(error_document(error))
        raise
    if output.failed:
        raise typer.Exit(1)
