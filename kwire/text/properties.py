"""Java's .properties files, read as java.util.Properties reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kwire.errors import InvalidValue
from kwire.permissions import changeable_by_others, warn_if_readable
from kwire.text.untrusted import read_text

TOKEN_COMMAND = "kwire.oauthbearer.token.command"
"""Of kwire alone: a program that prints a token."""

_PASSWORD = re.compile(
    r"(^|\.)(password|passphrase|secret|(secret|master)\.key|jaas\.config|keystore\.key"
    r"|keystore\.certificate\.chain|truststore\.certificates)$",
    re.IGNORECASE,
)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_PAIR = re.compile(r"((?:[^\s=:\\]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


class Properties(dict[str, str]):
    """Values by name. lines: the number of the line on which each name stands, from 1."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


class WrongProperty(InvalidValue):
    """A property has no meaning. name: of it, by which its line can be found in a file."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        super().__init__(reason)


def located(path: Path, pairs: Properties, error: WrongProperty) -> InvalidValue:
    """Return the error with the file, and the line where it is known."""
    line = pairs.lines.get(error.name)
    return InvalidValue(f"{path}: {error}" if line is None else f"{path}:{line}: {error}")


def is_password(name: str) -> bool:
    """Return True for a config of Kafka's type PASSWORD, or another with such an end.

    It decides what is refused, so it must not match too much. `flows.masks` decides what is hidden,
    and matches more.
    """
    return bool(_PASSWORD.search(name))


def read_properties(path: Path) -> Properties:
    """Return the names and values of a file. Raises InvalidValue, with the file's name.

    A file that names a command is refused if another user could change it: the command runs with
    the rights of this one. If every user can read secrets in it, a warning is logged.
    """
    pairs = parse_properties(read_text(path, InvalidValue))
    for name in pairs:
        if name.endswith(TOKEN_COMMAND) and (reason := changeable_by_others(path)):
            raise InvalidValue(f"{name} is not run: {reason}")
    if any(pairs[name] and is_password(name) for name in pairs):
        warn_if_readable(path)
    return pairs


def parse_properties(text: str) -> Properties:
    """Return names and values; of a name that comes twice the last value counts."""
    pairs = Properties()
    for number, line in _logical_lines(text):
        match = _PAIR.fullmatch(line)
        assert match is not None, "every line is a name and the rest"
        name = _unescaped(match[1])
        pairs[name] = _unescaped(match[2])
        pairs.lines[name] = number
    return pairs


def properties_text(pairs: Mapping[str, str]) -> str:
    """Return `name=value` lines, escaped as Properties.store does it."""
    return "".join(
        f"{_escaped(name, ' ')}={_escaped(value, '')}\n" for name, value in pairs.items()
    )


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines and their numbers, without comments and blanks.

    Lines that end in a backslash are joined with the next, under the number of the first.
    """
    pending, first = "", 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = line.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        first = first if pending else number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        yield first, pending + line
        pending = ""
    if pending:
        yield first, pending


def _unescaped(text: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        escape = match[1]
        return chr(int(escape[1:], 16)) if len(escape) == 5 else _ESCAPES.get(escape, escape)

    return _ESCAPE.sub(replacement, text)


def _escaped(text: str, everywhere: str) -> str:
    """Escape a text; spaces at its beginning, or all with `everywhere`."""
    escaped = re.sub(r"([\\=:#!" + everywhere + r"])", r"\\\1", text)
    for letter, character in _ESCAPES.items():
        escaped = escaped.replace(character, f"\\{letter}")
    if not everywhere and escaped.startswith(" "):
        escaped = "\\" + escaped
    return "".join(c if " " <= c <= "~" else f"\\u{ord(c):04X}" for c in escaped)
