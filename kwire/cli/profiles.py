"""Profiles: clusters by name, in one TOML file of the user (`-P prod`, $KWIRE_PROFILE).

Secrets stay in the file of client properties that a profile names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from kwire.cli.errors import WrongUsage

FILE_VARIABLE = "KWIRE_CONFIG"
"""Names the file of profiles, in place of the one in the user's folder for configuration."""

PROFILE_VARIABLE = "KWIRE_PROFILE"
"""Names the profile of commands without -P."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A cluster, and how to reach it; None and False for what is not set.

    bootstrap_servers, bootstrap_controllers: `host:port,host:port`; with both, a command asks the
    controllers if KIP-919 lists its operation, else the brokers. command_config: a
    file of client properties. timeout, connect_timeout, request_timeout: seconds of an operation,
    of a TCP connection, of an answer. read_only: True to refuse commands
    that change the cluster.
    """

    name: str = ""
    bootstrap_servers: str | None = None
    bootstrap_controllers: str | None = None
    command_config: Path | None = None
    read_only: bool = False
    timeout: float | None = None
    connect_timeout: float | None = None
    request_timeout: float | None = None

    def bootstrap(self, *, controllers_first: bool) -> tuple[str | None, str | None]:
        """Return the brokers and the controllers to ask, never both: None for the others."""
        if self.bootstrap_servers and self.bootstrap_controllers:
            return (
                (None, self.bootstrap_controllers)
                if controllers_first
                else (self.bootstrap_servers, None)
            )
        return self.bootstrap_servers, self.bootstrap_controllers


NO_PROFILE = Profile()
"""The settings of a command that names no profile."""


def profiles_path() -> Path:
    """Return the path of the file, which need not exist."""
    if chosen := os.environ.get(FILE_VARIABLE):
        return Path(chosen)
    from platformdirs import user_config_path  # only where there is a profile

    return user_config_path("kwire", appauthor=False) / "config.toml"


def read_profile(name: str | None = None) -> Profile:
    """Return the profile of this name, by default the one of $KWIRE_PROFILE, else NO_PROFILE.

    Raises WrongUsage, which names the file, and the line where it is known.
    """
    chosen = name or os.environ.get(PROFILE_VARIABLE)
    if not chosen:
        return NO_PROFILE
    path = profiles_path()
    if not path.is_file():
        raise WrongUsage(f"There is no profile {chosen}: {path} does not exist. Write it first.")
    profiles = read_profiles(path)
    if chosen not in profiles:
        raise WrongUsage(f"{path} has no profile {chosen}: {_proposal(chosen, profiles)}.")
    return profiles[chosen]


def read_profiles(path: Path) -> dict[str, Profile]:
    """Return all profiles of a file by name. Raises WrongUsage."""
    import tomllib  # every command imports this module, and few read profiles

    from kwire.permissions import changeable_by_others

    if reason := changeable_by_others(path):
        raise WrongUsage(f"The profiles are not taken: {reason}.")
    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except OSError as error:
        raise WrongUsage(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise WrongUsage(f"{path} is no text in UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise WrongUsage(f"{path} is no TOML: {error}.") from error
    return _ProfilesFile(path, text).read(document)


class _ProfilesFile:
    """Turns the tables of a file into profiles; errors name the file and the line."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()

    def read(self, document: Mapping[str, Any]) -> dict[str, Profile]:
        """Return all profiles. Raises WrongUsage."""
        for key in document:
            if key != "profiles":
                proposal = "write [profiles.NAME]"
                raise self._error(None, key, f"{key} is not known at the top: {proposal}")
        tables = document.get("profiles", {})
        if not isinstance(tables, dict):
            raise self._error(None, "profiles", "profiles is a table: write [profiles.NAME]")
        return {name: self._profile(name, table) for name, table in tables.items()}

    def _profile(self, name: str, table: object) -> Profile:
        if not isinstance(table, dict):
            raise self._error("", name, f"profiles.{name} is a table: write [profiles.{name}]")
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key not in _KEYS:
                reason = f"profiles.{name} has no key {key}: {_proposal(key, _KEYS)}"
                raise self._error(name, key, reason)
            convert, form = _KEYS[key]
            values[key] = convert(value)
            if values[key] is None:
                raise self._error(name, key, f"{key} of profiles.{name} must be {form}")
        if "command_config" in values:
            config = values["command_config"].expanduser()
            values["command_config"] = self._path.parent / config
        return Profile(name=name, **values)

    def _error(self, profile: str | None, key: str, reason: str) -> WrongUsage:
        """Return the error of a key; profile: the table it stands in, None for the top."""
        line = self._line(profile, key)
        return WrongUsage(f"{self._path}{'' if line is None else f':{line}'}: {reason}.")

    def _line(self, profile: str | None, key: str) -> int | None:
        """Return the number of the line that sets a key, None for a form that is not searched."""
        # tomllib gives no lines: search for the assignment below the header of the profile.
        assignment = re.compile(rf"\s*(\[\[?\s*)?[\"']?{re.escape(key)}[\"']?\s*[\]=.]")
        header = re.compile(rf"\s*\[\s*profiles\s*\.\s*[\"']?{re.escape(profile or '')}[\"']?\s*\]")
        inside = not profile
        for number, line in enumerate(self._lines, 1):
            if profile and line.lstrip().startswith("["):
                inside = bool(header.match(line))
            elif inside and assignment.match(line):
                return number
        return None


def _addresses(value: object) -> str | None:
    texts: list[object] = value if isinstance(value, list) else [value]
    addresses = [text for text in texts if isinstance(text, str) and text.strip()]
    return ",".join(addresses) if addresses and len(addresses) == len(texts) else None


def _file(value: object) -> Path | None:
    return Path(value) if isinstance(value, str) and value else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) and value > 0 else None


_KEYS: Mapping[str, tuple[Callable[[object], Any], str]] = {
    "bootstrap_servers": (_addresses, 'text or a list of texts: "host:port,host:port"'),
    "bootstrap_controllers": (_addresses, 'text or a list of texts: "host:port,host:port"'),
    "command_config": (_file, 'the path of a file: "client.properties"'),
    "read_only": (_flag, "true or false"),
    "timeout": (_seconds, "a number of seconds above 0"),
    "connect_timeout": (_seconds, "a number of seconds above 0"),
    "request_timeout": (_seconds, "a number of seconds above 0"),
}
"""The keys of a profile; each one's reader, which returns None for what it cannot be."""


def _proposal(word: str, known: Mapping[str, object]) -> str:
    """Return the known word that is meant perhaps, else all of them."""
    from difflib import get_close_matches

    if close := get_close_matches(word, known, n=1):
        return f"did you mean {close[0]}?"
    return f"it has {', '.join(known)}" if known else "it has none"
