"""What a command raises when it cannot do what it was asked."""

import typer


class Failure(Exception):
    """One sentence for the user, where no room below has an error for it; exit code 1."""


class WrongUsage(typer.BadParameter):
    """Options that do not go together, in one sentence that says which do; exit code 2."""

    def format_message(self) -> str:
        """The sentence alone, without the words "Invalid value"."""
        return self.message
