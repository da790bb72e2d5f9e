"""The rules of topic names (Java: org.apache.kafka.common.internals.Topic)."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 249

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def name_problem(name: str) -> str | None:
    """Return the fault of a topic's name; None for a valid name."""
    if not name:
        return "A topic needs a name."
    if name in (".", ".."):
        return f"A topic cannot be called {name!r}."
    if len(name) > LONGEST:
        return f"A name of {len(name)} characters is too long: {LONGEST} are allowed."
    if not _LEGAL.fullmatch(name):
        return f"{name!r} has other characters than ASCII letters and digits, '.', '_' and '-'."
    return None


def collision(name: str, others: Iterable[str]) -> str | None:
    """Return a topic that metrics could not tell from this one, since they write '.' as '_'."""
    if "." not in name and "_" not in name:
        return None
    unified = name.replace(".", "_")
    return next((other for other in sorted(others) if other.replace(".", "_") == unified), None)
