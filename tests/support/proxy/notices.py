"""The notices among the events of a proxy."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.proxy import Event, Notice, NoticeKind


def notice_texts(events: Iterable[Event], kind: NoticeKind) -> list[str]:
    """Return the texts of the notices of a kind, in their order."""
    return [event.text for event in events if isinstance(event, Notice) and event.kind is kind]
