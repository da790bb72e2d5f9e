"""The kinds of events that a controller logs, and their table in docs/engineers/controller.md."""

from __future__ import annotations

from dataclasses import fields
from types import ModuleType

from kwire.controller.operator_events import OperatorEvent
from kwire.controller.raft import quorum_events
from kwire.controller.state_machine import cluster_events


def kinds_in(module: ModuleType) -> list[type[OperatorEvent]]:
    """The events that a module declares, in its order."""
    return [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, OperatorEvent) and hasattr(kind, "title")
    ]


EVERY_KIND = [*kinds_in(quorum_events), *kinds_in(cluster_events)]


def documented_row(kind: type[OperatorEvent]) -> tuple[str, ...]:
    """The cells of the row of a kind: name, line, meaning, fields."""
    meaning = (kind.__doc__ or "").partition("\n")[0]
    title = f"{kind.title} (warning)" if kind.is_warning else kind.title
    return kind.__name__, title, meaning, ", ".join(field.name for field in fields(kind))
