"""The error of a property that cannot be used."""

from __future__ import annotations

from kwire.errors import InvalidValue


class WrongProperty(InvalidValue):
    """A property has no meaning. name: of it, by which its line can be found in a file."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        super().__init__(reason)
