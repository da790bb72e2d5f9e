"""Gives a command the options of a decorator, and ends it by its errors and its output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, get_type_hints

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.output import Output, OutputForm, error_document


def set_parameters(
    wrapper: Any, command: Callable[..., Any], added: Iterable[inspect.Parameter]
) -> None:
    """Make typer see a command's own parameters and the added ones as those of its wrapper.

    The first two parameters of the command are what the wrapper makes of the added options.
    """
    parameters = [*_own_parameters(command), *added]
    wrapper.__signature__ = inspect.Signature(parameters)
    wrapper.__annotations__ = {item.name: item.annotation for item in parameters}
    del wrapper.__wrapped__


def _own_parameters(command: Callable[..., Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(command, include_extras=True)
    parameters = [*inspect.signature(command).parameters.values()][2:]
    return [
        parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in parameters
    ]


def option_parameters(options: dict[str, tuple[Any, Any]]) -> dict[str, inspect.Parameter]:
    """Return options, each with its annotation and its default, as parameters by name."""
    kind = inspect.Parameter.KEYWORD_ONLY
    return {
        name: inspect.Parameter(name, kind, annotation=annotation, default=default)
        for name, (annotation, default) in options.items()
    }


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
        if _is_usage(error):
            raise WrongUsage(f"{error}.") from error
        if output.is_document:
            output.print_document(error_document(error))
        raise
    if output.failed:
        raise typer.Exit(1)


def _is_usage(error: Exception) -> bool:
    from kwire.errors import InvalidValue

    return isinstance(error, InvalidValue)


def chosen_form(form: OutputForm, as_json: bool) -> OutputForm:
    """Return the form of -o, or JSON for --json. Raises WrongUsage for both."""
    if as_json and form not in (OutputForm.TABLE, OutputForm.JSON):
        raise WrongUsage(f"give --json or -o {form}, not both.")
    return OutputForm.JSON if as_json else form
