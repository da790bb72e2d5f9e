"""Completion of command lines, from the index of commands, and of a cluster if one is named.

A script of `kwire.cli.completion_scripts` runs `kwire` with $_KWIRE_COMPLETE, and gets a line for
each word: the word, a tab, what it is. A word that begins with a colon is none: it names the kind
of paths that the shell is to complete itself. Whatever goes wrong, nothing is printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kwire.cli.command_index import children, index, parameters

LINE, BREAKS = "_KWIRE_LINE", "_KWIRE_BREAKS"
"""Set by that of bash: the line up to the cursor, and at which characters bash divides words."""

FROM_CLUSTER = ("topic", "group")
"""Kinds of names that only a cluster has."""


@dataclass(slots=True)
class PartialLine:
    """A command line up to a word: the command, its options and arguments.

    path: the words that name the command. values: those of options, by their first flag.
    open_option: the option whose value comes next; missing_values: how many of it do.
    """

    path: str = ""
    values: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    open_option: dict[str, Any] | None = None
    missing_values: int = 0
    options_end: bool = False

    def option(self, flag: str) -> dict[str, Any] | None:
        """Return the option of a flag, None for an unknown one."""
        return next((item for item in parameters(self.path) if flag in item["flags"]), None)

    def take(self, word: str) -> None:
        """Read one word."""
        if self.open_option is not None:
            self.values.setdefault(self.open_option["flags"][0], word)
            self.missing_values -= 1
            self.open_option = self.open_option if self.missing_values else None
        elif word.startswith("-") and len(word) > 1 and not self.options_end:
            self._take_option(word)
        elif not self.arguments and word in children(self.path):
            self.path = f"{self.path} {word}".strip()
        else:
            self.arguments.append(word)

    def _take_option(self, word: str) -> None:
        if word == "--":
            self.options_end = True
            return
        flag, equals, value = word.partition("=")
        if not word.startswith("--"):
            flag, value = word[:2], word[2:]
        option = self.option(flag)
        if option is None or not option["count"]:
            return
        if equals or value:
            self.values.setdefault(option["flags"][0], value)
        else:
            self.open_option, self.missing_values = option, option["count"]

    def argument(self) -> dict[str, Any] | None:
        """Return the argument that comes next."""
        arguments = [item for item in parameters(self.path) if not item["flags"]]
        number = len(self.arguments)
        if number < len(arguments):
            return arguments[number]
        return arguments[-1] if arguments and arguments[-1]["many"] else None


def completions(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what the last of the words may become, each with a sentence or an empty text."""
    *before, current = words or [""]
    line = PartialLine()
    for word in before:
        line.take(word)
    if line.open_option is not None:
        yield from _values(line, line.open_option, current)
        return
    if current.startswith("-") and not line.options_end:
        flag, equals, value = current.partition("=")
        option = line.option(flag) if equals else None
        if option is not None:
            for text, help in _values(line, option, value):
                yield (text if text.startswith(":") else f"{flag}={text}"), help
        else:
            yield from _options(line, current)
        return
    for name, summary in children(line.path).items():
        if name.startswith(current) and not line.arguments:
            yield name, summary
    if (argument := line.argument()) is not None:
        yield from _values(line, argument, current)


def _options(line: PartialLine, current: str) -> Iterator[tuple[str, str]]:
    for option in parameters(line.path):
        flags = [flag for flag in option["flags"] if flag.startswith("--")]
        if option["hidden"] or not option["flags"]:
            continue
        for flag in flags:
            if flag.startswith(current):
                yield flag, option["help"]


def _values(
    line: PartialLine, parameter: dict[str, Any], current: str
) -> Iterator[tuple[str, str]]:
    kind = parameter["takes"]
    if kind.startswith(":"):
        yield kind, ""
        return
    head = ""
    if parameter["value"].endswith(",..."):
        head = current[: current.rfind(",") + 1]
    end = "=" if kind.endswith("=") else ""
    for name in parameter["values"] or _names(line, kind.removesuffix("=")):
        if f"{head}{name}".startswith(current):
            yield f"{head}{name}{end}", ""


def _names(line: PartialLine, kind: str) -> Sequence[str]:
    if kind in ("key", "resource"):
        of_type = (line.arguments or [""])[0].removesuffix("s")
        kind = of_type if kind == "resource" else f"{of_type.removesuffix('-logger')}-config"
    if kind == "profile":
        from kwire.cli.profiles import profiles_path, read_profiles

        return list(read_profiles(profiles_path()))
    if kind in FROM_CLUSTER:
        from kwire.cli.completion_cluster import cluster_names

        return cluster_names(kind, line.values)
    names: Sequence[str] = index()["names"].get(kind, ())
    return names


def print_completions(words: Sequence[str]) -> None:
    """Print the completions of a command line, and end the process; print nothing on a failure."""
    try:
        out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
        with open(os.devnull, "r+b") as nothing:
            for descriptor in range(3):  # no question, no warning
                os.dup2(nothing.fileno(), descriptor)
        line = os.environ.get(LINE)
        words = words if line is None else _split(line)
        found = [*completions(words)]
        start = _broken_off(words[-1]) if line is not None and words else 0
        for word, help in found:
            shown = word if word.startswith(":") else word[start:]
            if shown and not set(shown) & set("\t\r\n"):
                out.write(f"{shown}\t{help}\n")
        out.flush()
    except BaseException:
        os._exit(0)
    sys.stdout.flush()
    os._exit(0)  # a cluster may still be asked


def _split(line: str) -> list[str]:
    """Return the words of a line after the command's own; the last one is perhaps unfinished."""
    import shlex

    lexer = shlex.shlex(line, posix=True, punctuation_chars="")
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # in a quotation, or after a backslash
        words.append(lexer.token)
        return words[1:]
    return [*words[1:], ""] if line[-1:].isspace() else words[1:]


def _broken_off(word: str) -> int:
    """Return how much of a word bash takes for words of their own: up to a colon, say."""
    breaks = set(os.environ.get(BREAKS, "")) & set(":=@")
    return max((word.rfind(character) + 1 for character in breaks), default=0)
