"""The answers: why does the active controller keep changing, and why is a controller not ready."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kwire.quorum_story.cause import CauseRole
from kwire.quorum_story.causes import RANK
from kwire.quorum_story.story import (
    Reign,
    StoryAnswer,
    StoryEvent,
    StoryKind,
    StorySource,
)
from kwire.quorum_story.wording import duration, meaning, time_text

ELECTIONS, READY = "elections", "ready"
"""The questions."""

SILENCE = 60_000
"""Milliseconds after which a node that wrote nothing more is silent."""

SETTLED = 3_000
"""Milliseconds in which requests that were under way may still fail under a new leader."""

MOST_ALIKE = 3
"""Events of one cause that an answer tells."""

RETRIES = 10_000
"""Milliseconds in which a follower whose fetches fail says so again, and a node stops."""

_STATES = (
    StoryKind.LEADS,
    StoryKind.FOLLOWS,
    StoryKind.SEEKS_VOTES,
    StoryKind.NO_LEADER,
    StoryKind.RESIGNED,
)


def why_it_changes(
    reigns: Sequence[Reign], sources: Sequence[StorySource], nodes: Sequence[StoryAnswer]
) -> StoryAnswer:
    """Return why the active controller changed: elections counted by cause, with intervals.

    nodes: if each takes part at the end.
    """
    if not reigns:
        sentence = "No source tells who led."
        return StoryAnswer(question=ELECTIONS, sentence=sentence, good=None)
    last, changes, nobody = reigns[-1], list(pairwise(reigns)), False
    if not changes:
        sentence = (
            f"Controller {last.leader_id} led in epoch {last.epoch}; no other leader is seen."
        )
    else:
        sentence = _counted(reigns, sources)
    if last.ended_by:
        by = last.ended_by[0]
        sentence += f" Since {_time(by)} nobody is seen to lead: {meaning(by)}"
    elif nobody := bool(nodes) and not any(node.good for node in nodes):
        sentence += " At the end no controller is seen to take part."
    ended = [reign for reign in reigns if reign.ended_by]
    return StoryAnswer(
        question=ELECTIONS,
        sentence=sentence,
        good=not changes and not last.ended_by and not nobody,
        causes=tuple(dict.fromkeys(_id(reign.ended_by[0]) for reign in ended)),
        evidence=tuple(reign.ended_by[0] for reign in ended),
    )


def _counted(reigns: Sequence[Reign], sources: Sequence[StorySource]) -> str:
    first, last, number = reigns[0], reigns[-1], len(reigns) - 1
    times = [reign.began for reign in reigns if reign.began is not None]
    gaps = [later - earlier for earlier, later in pairwise(sorted(times))]
    span = f" in {duration(max(times) - min(times))}" if len(times) > 1 else ""
    many = "once" if number == 1 else f"{number} times"
    text = f"The active controller changed {many}{span} (epochs {first.epoch} to {last.epoch}"
    if len(gaps) > 1:
        spans = dict.fromkeys((duration(min(gaps)), duration(max(gaps))))
        text += f", {' to '.join(spans)} between changes"
    counts = Counter(_id(reign.ended_by[0]) if reign.ended_by else "" for reign in reigns[:-1])
    parts = [f"{count}× {id or 'not known why'}" for id, count in counts.most_common()]
    sentences = [f"{text}): {', '.join(parts)}."]
    for id, _ in counts.most_common(2):
        shown = [r.ended_by[0] for r in reigns[:-1] if r.ended_by and _id(r.ended_by[0]) == id]
        sentences += [meaning(shown[-1])] if shown else []
    wrote = {node for source in sources for node in source.node_ids}
    silent = sorted(
        {r.leader_id for r in reigns[:-1] if not r.ended_by and r.leader_id is not None}
    )
    if missing := [str(id) for id in silent if id not in wrote]:
        sentences.append(f"Give the log of {' and '.join(missing)}, which led, by --log.")
    return " ".join(sentences)


def why_not_ready(
    events: Sequence[StoryEvent], sources: Sequence[StorySource], reigns: Sequence[Reign]
) -> Iterator[StoryAnswer]:
    """Yield for each node if it takes part in the quorum at the end, or why not."""
    logs = [source for source in sources if source.is_log_file]
    epoch = reigns[-1].epoch if reigns else None
    newest = max((s.last_time for s in logs if s.last_time is not None), default=None)
    for node in sorted({node for source in sources for node in source.node_ids}):
        own = [event for event in events if event.node_id == node]
        wrote = [source.last_time for source in sources if node in source.node_ids]
        last = max((time for time in wrote if time is not None), default=None)
        silent = newest - last if newest is not None and last is not None else 0
        described = _NodeRun(node=node, run=_last_run(own), last_time=last, newest_epoch=epoch)
        yield described.answer(silent)
    for source in logs:
        if not source.node_ids and source.events:
            run = _last_run(source.events)
            yield _NodeRun(
                node=None, run=run, last_time=source.last_time, newest_epoch=epoch
            ).answer(0)


def _last_run(events: Sequence[StoryEvent]) -> list[StoryEvent]:
    starts = [n for n, event in enumerate(events) if event.kind is StoryKind.STARTED]
    return list(events[starts[-1] if starts else 0 :])


@dataclass(frozen=True, slots=True, kw_only=True)
class _NodeRun:
    """The events of a node since its last start, and when its log ends.

    newest_epoch: of those that had a leader, by all sources.
    """

    node: int | None
    run: Sequence[StoryEvent]
    last_time: int | None
    newest_epoch: int | None

    @property
    def state(self) -> StoryEvent | None:
        """The last state; of those that came again, the one that came last."""
        states = [event for event in self.run if event.kind in _STATES]
        return max(states, key=lambda event: _end(event) or 0, default=None)

    @property
    def follows_in_vain(self) -> bool:
        """True if its fetches time out at the end: its leader is one in name."""
        state = self.state
        if state is None or state.kind is not StoryKind.FOLLOWS:
            return False
        # A follower that found no majority goes back to the leader that did not answer it.
        came_back = state.times > 1
        return any(
            self._is_late(event, RETRIES) and (came_back or (_end(event) or 0) > (_end(state) or 0))
            for event in _causes(self.run, CauseRole.BEGINS_ELECTION)
        )

    def answer(self, silent: int) -> StoryAnswer:
        """Return if the node takes part, or why not. silent: milliseconds that others wrote on."""
        good, sentence, evidence = self._verdict()
        name = "The controller" if self.node is None else f"Controller {self.node}"
        text = f"{name} {sentence}"
        if evidence:
            alike = [event for event in evidence if event.cause is evidence[0].cause]
            text += f": {' '.join(dict.fromkeys(map(meaning, alike[:MOST_ALIKE])))}"
        text = text if text.endswith(".") else f"{text}."
        if silent > SILENCE:
            good = None if good else good
            end = time_text(self.last_time, dated=self.run[-1].dated if self.run else True)
            text += f" Its log ends at {end}, {duration(silent)} before that of others."
        return StoryAnswer(
            question=READY,
            sentence=text,
            good=good,
            node_id=self.node,
            causes=tuple(dict.fromkeys(_id(event) for event in evidence)),
            evidence=tuple(evidence),
        )

    def _verdict(self) -> tuple[bool | None, str, list[StoryEvent]]:
        state = self.state
        since = 0 if state is None else _end(state) or 0
        hindrances = _causes(self.run, CauseRole.HINDERS)
        ends = since - RETRIES  # a node that is stopped goes on for seconds
        if stops := [e for e in _causes(self.run, CauseRole.STOPS) if (_end(e) or 0) >= ends]:
            return False, "does not run", stops
        if state is None:
            words = "is not seen to take part in an election"
            return False if hindrances else None, words, hindrances
        if self._is_outdated(state):
            words = f"{meaning(state)}, by its log, which tells nothing of epoch"
            return None, f"{words} {self.newest_epoch}", []
        if state.kind is StoryKind.LEADS:
            return True, f"leads in epoch {state.epoch} since {_time(state)}", []
        late = [event for event in hindrances if self._is_late(event, SILENCE)]
        if state.kind is StoryKind.FOLLOWS and not self.follows_in_vain:
            blocking = [
                event
                for event in late
                if (_end(event) or 0) > since + SETTLED and _concerns(event, state.leader_id)
            ]
            words = f"{meaning(state)} since {_time(state)}"
            return not blocking, f"{words}, but is hindered" if blocking else words, blocking
        words = f"is not ready: since {_time(state)} it {meaning(state)}"
        if state.kind is StoryKind.FOLLOWS:
            words = f"is not ready: it {meaning(state)} in name, and gets no answer"
        return False, words, late or hindrances

    def _is_outdated(self, state: StoryEvent) -> bool:
        """True if others know a later leader than the one that this node leads or follows."""
        if state.leader_id is None or state.epoch is None or self.newest_epoch is None:
            return False
        return state.epoch < self.newest_epoch

    def _is_late(self, event: StoryEvent, within: int) -> bool:
        end = _end(event)
        return end is None or self.last_time is None or end >= self.last_time - within


def _causes(events: Sequence[StoryEvent], role: CauseRole) -> list[StoryEvent]:
    found = [event for event in events if event.cause is not None and event.cause.role is role]
    return sorted(found, key=lambda event: RANK[_id(event)])


def _concerns(event: StoryEvent, leader_id: int | None) -> bool:
    """True unless an event is about another node than the leader: followers need only that."""
    peer = event.details.get("peer_id")
    # Bootstrap servers have negative ids.
    return peer is None or peer.startswith("-") or peer == str(leader_id)


def _end(event: StoryEvent) -> int | None:
    return event.last_time if event.last_time is not None else event.time


def _id(event: StoryEvent) -> str:
    return event.cause_id or ""


def _time(event: StoryEvent) -> str:
    return time_text(event.time, dated=event.dated)
