"""The error of a property that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kwire.errors import InvalidValue

if TYPE_CHECKING:
    from kwire.text.properties import Properties


class WrongProperty(InvalidValue):
    """A property has no meaning. name: of it, by which its line can be found in a file."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        super().__init__(reason)


def located(path: Path, pairs: Properties, error: WrongProperty) -> InvalidValue:
    """Return the error with the file, and the line where it is known."""
    line = pairs.lines.get(error.name)
    return InvalidValue(f"{path}: {error}" if line is None else f"{path}:{line}: {error}")
