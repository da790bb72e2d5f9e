"""Optional packages: the extras of `pip install kwire`, and the error that names a missing one."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from contextlib import AbstractContextManager, contextmanager

from kwire.errors import LocalError

_REQUIREMENT = re.compile(r"(?P<package>[\w.-]+)(?:.*extra *== *[\"'](?P<extra>[\w-]+)[\"'])?")


class MissingExtra(LocalError):
    """A package of an extra is missing; the message says what needs it, and how to install it."""

    def __init__(self, need: str, extra: str) -> None:
        super().__init__(f"{need}: {pip_line(extra)}")


def importing(package: str, extra: str, purpose: str) -> AbstractContextManager[None]:
    """Raise MissingExtra if a package of an extra cannot be imported inside."""
    return importing_any({package}, extra, f"{purpose} needs {package}")


@contextmanager
def importing_any(packages: Container[str], extra: str, need: str) -> Iterator[None]:
    """Raise MissingExtra if one of the packages of an extra cannot be imported inside."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise MissingExtra(need, extra) from error


def pip_line(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'kwire[{extra}]'"


def installed_packages() -> dict[str, str]:
    """Return the version of each package that kwire needs without extras."""
    from importlib.metadata import requires, version  # slow to import

    needed = [match for match in map(_REQUIREMENT.match, requires("kwire") or ()) if match]
    names = sorted(match["package"] for match in needed if match["extra"] is None)
    return {name: version(name) for name in names}


def installed_extras() -> dict[str, dict[str, str]]:
    """Return the extras of which every package is installed, with the version of each package."""
    from importlib.metadata import PackageNotFoundError, requires, version  # slow to import

    found: dict[str, dict[str, str]] = {}
    missing = set()
    for requirement in requires("kwire") or ():
        match = _REQUIREMENT.match(requirement)
        if match is None or match["extra"] in (None, "all") or match["package"] == "kwire":
            continue
        try:
            found.setdefault(match["extra"], {})[match["package"]] = version(match["package"])
        except PackageNotFoundError:
            missing.add(match["extra"])
    return {extra: packages for extra, packages in found.items() if extra not in missing}
