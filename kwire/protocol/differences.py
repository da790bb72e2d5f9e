"""The parts of a comparison of two releases: sections, changes, differences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ProtocolSection(StrEnum):
    """The kinds of facts that are compared, in the order of a comparison."""

    MESSAGES = "messages"
    VERSIONS = "versions"
    LISTENERS = "listeners"
    FIELDS = "fields"
    FEATURES = "features"
    ERRORS = "errors"
    CONFIGS = "configs"


class ProtocolChange(StrEnum):
    """The change of a thing from the older release to the newer."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolDifference:
    """One difference.

    name: of a message, a feature, an error or a configuration (`topic retention.ms`). field: the
    path of a field, or the fact that changed. old, new: its text; None on the side without it.
    """

    change: ProtocolChange
    section: ProtocolSection
    name: str
    field: str = ""
    old: str | None = None
    new: str | None = None


def difference(
    section: ProtocolSection, name: str, field: str, old: str | None, new: str | None
) -> ProtocolDifference:
    """Return the difference of two texts, None for a side that lacks it."""
    change = (
        ProtocolChange.ADDED
        if old is None
        else ProtocolChange.REMOVED
        if new is None
        else ProtocolChange.CHANGED
    )
    return ProtocolDifference(
        change=change, section=section, name=name, field=field, old=old, new=new
    )
