"""The errors that commands raise, and the sentence that a user reads for any error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite

import typer

from kwire.cli.wording import command_words

OWN = "kwire"
"""The package whose errors are sentences for the user; any other error is a fault of kwire."""


INTERRUPTED = 130
"""The exit code after Ctrl-C."""


class CommandFailed(Exception):
    """One sentence for the user, for a failure that no room below has an error for; exit code 1."""


class WrongUsage(typer.BadParameter):
    """Options that do not go together, in one sentence that says which do; exit code 2."""

    def format_message(self) -> str:
        """Return the sentence without typer's words "Invalid value"."""
        return command_words(self.message)


def is_wrong_value(error: Exception) -> bool:
    """True for a value of a user's that has no meaning: an id, an address, a partition."""
    from kwire.errors import InvalidValue  # `kwire --help` does without

    return isinstance(error, InvalidValue)


@contextmanager
def usage_errors(*, end: str = ".") -> Iterator[None]:
    """Raise WrongUsage in place of InvalidValue. end: of the sentence."""
    try:
        yield
    except Exception as error:
        if is_wrong_value(error):
            raise WrongUsage(f"{error}{end}") from error
        raise


def finite(seconds: float | None) -> float | None:
    """Return a time as an option's callback. Raises WrongUsage for `nan` and `inf`."""
    if seconds is not None and not isfinite(seconds):
        raise WrongUsage(f"{seconds} is no number of seconds.")
    return seconds


def error_sentence(error: Exception) -> str:
    """Return what to print for an error; for a fault of kwire, how to report it.

    A node's message is in it: nothing in the sentence can command the terminal.
    """
    from kwire.text.untrusted import harmless  # `kwire --help` does without

    return harmless(_sentence(error))


def _sentence(error: Exception) -> str:
    if type(error).__module__.partition(".")[0] == OWN:
        return command_words(str(error))
    if isinstance(error, OSError):
        about = f" {error.filename}" if error.filename else ""
        return f"{error.strerror or error}:{about}" if about else f"{error.strerror or error}"
    kind = type(error).__name__
    return f"kwire failed with {kind}: {error}. Add --debug to see where, and report it."
