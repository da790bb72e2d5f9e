"""The events of one source, without repetitions of one run and epoch."""

from __future__ import annotations

import re
from dataclasses import replace

from kwire.quorum_story.story import StoryEvent, StoryKind

_DIGITS = re.compile(r"\d+")


class EventList:
    """Keeps events; one that comes again is counted, until an epoch or a process begins."""

    def __init__(self) -> None:
        self.events: list[StoryEvent] = []
        self._rows: dict[tuple[object, ...], int] = {}
        self._epoch = -1

    def keep(self, event: StoryEvent) -> bool:
        """Keep an event; False if it only counts as one more of a known one."""
        epoch = -1 if event.epoch is None else event.epoch
        if event.kind is StoryKind.STARTED:
            self._rows.clear()
            self._epoch = -1
        elif epoch > self._epoch:
            self._rows.clear()
            self._epoch = epoch
        key: tuple[object, ...] = (event.kind, event.node_id, epoch, event.leader_id)
        key += (event.cause_id, *sorted(event.details.items()))
        if event.kind is StoryKind.NOT_UNDERSTOOD:
            key += (_DIGITS.sub("#", event.text),)
        elif event.kind is StoryKind.VOTERS:
            key += (event.sentence,)
        if (row := self._rows.get(key)) is not None:
            known = self.events[row]
            self.events[row] = replace(known, times=known.times + 1, last_time=event.time)
            return False
        self._rows[key] = len(self.events)
        self.events.append(event)
        return True
