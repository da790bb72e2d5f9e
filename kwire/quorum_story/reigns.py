"""Epochs and their leaders, and what ended each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from kwire.quorum_story.cause import CauseRole
from kwire.quorum_story.causes import RANK
from kwire.quorum_story.story import TELLS_LEADER, Reign, StoryEvent, StoryKind

BEFORE = 60_000
"""Milliseconds before a new leader in which others' trouble may be a reason for it."""


def reigns_of(events: Sequence[StoryEvent]) -> tuple[Reign, ...]:
    """Return the epochs that had a leader, in their order, each with what ended it.

    events: in the order of time.
    """
    by_epoch: dict[int, list[StoryEvent]] = defaultdict(list)
    for epoch, _, event in _leaders(events):
        by_epoch[epoch].append(event)
    reigns = [_reign(epoch, by_epoch[epoch]) for epoch in sorted(by_epoch)]
    ended = [
        _ended(reign, next_reign, events)
        for reign, next_reign in pairwise([*reigns, None])
        if reign
    ]
    return tuple(ended)


def leaders_of_one_epoch(events: Sequence[StoryEvent]) -> dict[int, set[int]]:
    """Return the epochs of which the sources name several leaders: they are of two clusters."""
    leaders: dict[int, set[int]] = defaultdict(set)
    for epoch, leader_id, _ in _leaders(events):
        leaders[epoch].add(leader_id)
    return {epoch: ids for epoch, ids in leaders.items() if len(ids) > 1}


def _leaders(events: Sequence[StoryEvent]) -> Iterator[tuple[int, int, StoryEvent]]:
    """Yield epoch, leader and event for each that names both."""
    for event in events:
        if event.kind in TELLS_LEADER and event.epoch is not None and event.leader_id is not None:
            yield event.epoch, event.leader_id, event


def _reign(epoch: int, events: Sequence[StoryEvent]) -> Reign:
    # The leader's own word before that of others.
    evidence = sorted(events, key=lambda event: event.kind is not StoryKind.LEADS)
    times = [event.time for event in events if event.time is not None and not event.may_be_older]
    return Reign(
        epoch=epoch,
        leader_id=evidence[0].leader_id,
        began=min(times, default=None),
        evidence=tuple(evidence),
    )


def _ended(reign: Reign, following: Reign | None, events: Sequence[StoryEvent]) -> Reign:
    """Return a reign with what ended it.

    1. What the leader itself says: that it stops or gives up, in its own epoch.
    2. A recovery, and shortly before the next leader what hinders others, and that a follower gave
       up. That a follower stops ends no leadership: the leader says if it misses a majority.
    """
    after = reign.began
    before = following.began if following else None
    if following is not None and before is None:
        return reign
    own, others = [], []
    for event in events:
        if event.cause is None or event.time is None:
            continue
        if after is not None and event.time < after:
            continue
        if before is not None and event.time > before:
            continue
        last = event.last_time if event.last_time is not None else event.time
        role = event.cause.role
        # 1.
        if event.node_id == reign.leader_id and role in (
            CauseRole.STOPS,
            CauseRole.ENDS_LEADERSHIP,
        ):
            own.append(event)
        # 2.
        elif before is not None and (
            role is CauseRole.ENDS_LEADERSHIP
            or (last >= before - BEFORE and role in (CauseRole.HINDERS, CauseRole.BEGINS_ELECTION))
        ):
            others.append(event)
    if following is None and not own:
        return reign
    found = sorted(own, key=_rank) + sorted(others, key=_rank)
    unique = {(event.cause_id, event.node_id): event for event in reversed(found)}
    return replace(reign, ended_by=tuple(reversed(unique.values())))


def _rank(event: StoryEvent) -> tuple[bool, int]:
    # An election is begun because of something else, where that is known.
    assert event.cause is not None
    return event.cause.role is CauseRole.BEGINS_ELECTION, RANK[event.cause.id]
