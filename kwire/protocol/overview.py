"""All messages at a glance: one row an API, with its versions in each release."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.protocol.comparison import kind_text, subject
from kwire.protocol.release_facts import facts


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRow:
    """An API, or a message that belongs to none.

    versions: by release; None where a release lacks it. flexible and listeners: of the newest
    release that has it.
    """

    key: int | None
    name: str
    kind: str
    versions: dict[str, str | None]
    flexible: str
    listeners: tuple[str, ...]


def overview(*, every: bool) -> list[OverviewRow]:
    """Return a row for each API, by key; with `every` for each record and other format too.

    An API whose key had another name in an older release has a row for each name.
    """
    known = facts()
    rows: dict[str, OverviewRow] = {}
    for fact in known.messages:
        if fact.kind == "response" or not (every or fact.is_rpc):
            continue
        name = subject(fact)
        versions = rows[name].versions if name in rows else dict.fromkeys(known.releases)
        rows[name] = OverviewRow(
            key=fact.key,
            name=name,
            kind=kind_text(fact.kind),
            versions={**versions, **dict.fromkeys(fact.releases, fact.versions)},
            flexible=fact.flexible_versions,
            listeners=fact.listeners,
        )
    return list(rows.values())
