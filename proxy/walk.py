"""Finds things in a decoded message, at whatever depth and in whichever API they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kwire import error_codes
from kwire.declaration import Group

RECORDS_FIELDS = ("records", "unaligned_records")
"""The fields that hold record batches."""


def fields(group: Group, version: int) -> Iterator[tuple[str, Any]]:
    """Name and value of each field of the version; a tagged one only where it was sent."""
    for name, field in type(group).fields.items():
        if version not in field.versions:
            continue
        value = getattr(group, name)
        tagged = field.tag is not None and version in field.tagged
        if not (tagged and value == field.fresh()):
            yield name, value


def scalars(group: Group, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Path, name and value of every field that is no struct, depth first."""
    for name in type(group).fields:
        value = getattr(group, name)
        if isinstance(value, Group):
            yield from scalars(value, f"{path}{name}.")
        elif isinstance(value, list):
            for index, element in enumerate(value):
                yield from scalars(element, f"{path}{name}[{index}].")
        else:
            yield f"{path}{name}", name, value


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error code in a response: where it stands, and what the node said beside it."""

    path: str
    code: int
    message: str | None = None

    @property
    def name(self) -> str:
        """Kafka's name of the code."""
        return error_codes.name(self.code)


def failures(group: Group, path: str = "") -> Iterator[Failure]:
    """Every error code that is not 0, at every level."""
    for name in type(group).fields:
        value = getattr(group, name)
        if name.endswith("error_code") and value:
            message = getattr(group, name.replace("code", "message"), None)
            yield Failure(path=f"{path}{name}", code=value, message=message)
        elif isinstance(value, Group):
            yield from failures(value, f"{path}{name}.")
        elif isinstance(value, list):
            for index, element in enumerate(value):
                yield from failures(element, f"{path}{name}[{index}].")
