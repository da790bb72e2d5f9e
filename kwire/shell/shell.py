"""The state of a shell, and the words of a line (org.apache.kafka.shell.state.MetadataShellState).

A shell prints lines and complaints by functions that it is given; it has no terminal of its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from kwire.errors import InvalidValue
from kwire.shell.commands import COMMANDS
from kwire.shell.context import Context
from kwire.shell.nodes import FolderNode
from kwire.shell.paths import components, glob_pattern, matches, path_of
from kwire.shell.position import ImageSource

WriteText = Callable[[str], None]


class Shell:
    """Runs commands on the images of a source.

    write, complain: take a line of output, and a line about what is missing. width: returns the
    columns of the terminal, None where the output is none.
    """

    def __init__(
        self,
        source: ImageSource,
        write: WriteText,
        complain: WriteText | None = None,
        *,
        width: Callable[[], int | None] = lambda: None,
    ) -> None:
        self.context = Context(source, write, complain or write, width)

    @property
    def has_ended(self) -> bool:
        """True after `exit`."""
        return self.context.has_ended

    @property
    def prompt(self) -> str:
        """Return the working directory, and the offset where it was chosen with `at`."""
        chosen = self.context.chosen
        place = "" if chosen is None else f" @{'-' if chosen.offset is None else chosen.offset}"
        return f"{self.context.working_directory}{place}> "

    def run_line(self, line: str) -> bool:
        """Run a line that a user typed and note it in the history; return True if it succeeded.

        Raises what `run` raises.
        """
        if line.strip():
            self.context.history.append(line.strip())
        words = split(line)
        return self.run(words) if words else True

    def run(self, words: Sequence[str]) -> bool:
        """Run a command; return False if a path was not there.

        Raises InvalidValue for wrong words, and what reading the source raises.
        """
        name, *arguments = words
        command = COMMANDS.get(name)
        if command is None:
            raise InvalidValue(f"{name!r} is no command: `help` lists them")
        as_json = "--json" in arguments
        arguments = [word for word in arguments if word != "--json"]
        if as_json and not command.has_json:
            raise InvalidValue(f"{name} prints no JSON: cat and find do")
        low, high = command.arguments
        if not low <= len(arguments) <= (len(arguments) if high is None else high):
            raise InvalidValue(f"write: {command.usage}")
        return command.run(self.context, arguments, as_json)

    def complete(self, line: str) -> list[str]:
        """Return the words that the last word of a line may become, sorted."""
        words = split(line, unfinished=True)
        if len(words) < 2:
            return [f"{name} " for name in sorted(COMMANDS) if name.startswith("".join(words))]
        command = COMMANDS.get(words[0])
        if command is None or command.completes is None:
            return []
        if command.completes == "command":
            return [name for name in sorted(COMMANDS) if name.startswith(words[-1])]
        return self._paths(words[-1], only_folders=words[0] == "cd")

    def _paths(self, word: str, *, only_folders: bool) -> list[str]:
        parent, slash, start = word.rpartition("/")
        names = components(parent + slash or ".", self.context.working_directory)
        found = []
        # A glob has no single folder whose names could be offered.
        if any(glob_pattern(name) for name in names):
            return []
        for _, node in matches(self.context.root(), path_of(names)):
            if isinstance(node, FolderNode):
                for name in node.sorted_names():
                    child = node.child(name) if name.startswith(start) else None
                    if isinstance(child, FolderNode):
                        found.append(f"{parent}{slash}{name}/")
                    elif child is not None and not only_folders:
                        found.append(f"{parent}{slash}{name}")
        return found


def split(line: str, *, unfinished: bool = False) -> list[str]:
    """Return the words of a line; quotation marks keep spaces, backslashes are left to globs.

    unfinished: the last word is still typed, empty after a space, its quotation mark may be open.
    Raises InvalidValue for a quotation mark without its other one.
    """
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = lexer.escape = ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:
        if not unfinished:
            raise InvalidValue("a quotation mark lacks its other one") from None
        words.append(lexer.token.lstrip("'\""))
    return [*words, ""] if unfinished and (not line or line[-1].isspace()) else words
