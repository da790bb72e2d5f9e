"""The events that an operator asks about, as the pure cores return them; the server logs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

FieldValue = int | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorEvent:
    """An event of a controller that is worth a line of its log.

    title: what happened, in words. is_warning: True if somebody should look at it.
    """

    title: ClassVar[str]
    is_warning: ClassVar[bool] = False

    @property
    def values(self) -> Mapping[str, FieldValue]:
        """The fields by name, as a log has them."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def _plain(value: object) -> FieldValue:
    if value is None or isinstance(value, int | str):
        return value
    if type(value) is tuple:
        return ",".join(str(item) for item in value)
    return str(value)
