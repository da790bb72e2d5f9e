"""Tells the story: sources on one clock, epochs and their leaders, and why each of them ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kwire.quorum_story.answers import SILENCE, why_it_changes, why_not_ready
from kwire.quorum_story.causes import CAUSES
from kwire.quorum_story.clocks import clock_notes, clock_offsets, on_one_clock
from kwire.quorum_story.reigns import leaders_of_one_epoch, reigns_of
from kwire.quorum_story.story import (
    CauseSummary,
    Reign,
    Story,
    StoryEvent,
    StoryKind,
    StorySource,
)
from kwire.quorum_story.wording import fixes, meaning, time_text


def explain(sources: Sequence[StorySource]) -> Story:
    """Return the story that these sources tell together.

    1. Put all times on one clock, by the epochs that the sources share.
    2. Order the events; those of one source keep their order.
    3. Find the leaders, and for each what ended its epoch.
    4. Answer why the leader changes, and of each node that wrote a log if it takes part.
    5. Say what the sources do not tell.
    """
    # 1.
    offsets = clock_offsets(sources)
    notes = [source.problem for source in sources if source.problem]
    notes += [
        f"{source.name} has no line that names the id of its node."
        for source in sources
        if source.is_log_file and source.events and not source.node_ids
    ]
    notes += clock_notes(sources, offsets)
    aligned = on_one_clock(sources, offsets)
    # 2.
    events = _ordered(aligned)
    # 3.
    reigns = reigns_of(events)
    # 4.
    nodes = [*why_not_ready(events, aligned, reigns)]
    answers = (why_it_changes(reigns, aligned, nodes), *nodes)
    # 5.
    notes += _contradictions(events)
    notes += _silences(aligned, reigns)
    return Story(
        sources=tuple(aligned),
        events=tuple(events),
        reigns=reigns,
        causes=tuple(_summaries(events)),
        answers=answers,
        notes=tuple(notes),
        not_understood=tuple(e for e in events if e.kind is StoryKind.NOT_UNDERSTOOD),
    )


def _ordered(sources: Sequence[StorySource]) -> list[StoryEvent]:
    keyed: list[tuple[int, bool, int, StoryEvent]] = []
    for source in sources:
        latest = source.first_time or 0
        for event in source.events:
            # An entry without a time, or one of a clock that jumped, keeps its place.
            if not event.may_be_older:
                latest = latest if event.time is None else max(latest, event.time)
            # The state in which a log begins is told by its first transition only.
            begins = event.may_be_older and event.time is not None
            time = event.time if begins and event.time is not None else latest
            keyed.append((time, not begins, len(keyed), event))
    return [event for *_, event in sorted(keyed, key=lambda item: item[:3])]


def _summaries(events: Sequence[StoryEvent]) -> Iterator[CauseSummary]:
    """Yield each cause that was seen, in the order of the table."""
    seen: dict[str, list[StoryEvent]] = defaultdict(list)
    for event in events:
        if event.cause is not None:
            seen[event.cause.id].append(event)
    for cause in CAUSES:
        if found := seen.get(cause.id):
            nodes = {event.node_id for event in found if event.node_id is not None}
            yield CauseSummary(
                cause=cause,
                times=sum(event.times for event in found),
                node_ids=tuple(sorted(nodes)),
                first=found[0],
                last=found[-1],
                meaning=meaning(found[-1]),
                fixes=fixes(found[-1]),
            )


def _contradictions(events: Sequence[StoryEvent]) -> Iterator[str]:
    for epoch, leaders in sorted(leaders_of_one_epoch(events).items()):
        names = " and ".join(map(str, sorted(leaders)))
        yield (
            f"Epoch {epoch} has the leaders {names}: an epoch has one, so these sources are of"
            " different clusters, or of one that was formatted anew. Explain them one by one."
        )
        return


def _silences(sources: Sequence[StorySource], reigns: Sequence[Reign]) -> Iterator[str]:
    """Yield a sentence for each log that misses epochs which began while it was written."""
    for source in sources:
        told = {event.epoch for event in source.events if event.epoch is not None}
        first, last = source.first_time, source.last_time
        if not source.is_log_file or first is None or last is None or not told:
            continue
        missed = [
            reign
            for reign in reigns
            if reign.began is not None
            and first <= reign.began <= last - SILENCE
            and reign.epoch not in told
        ]
        if missed:
            epochs = ", ".join(str(reign.epoch) for reign in missed[:5])
            at = time_text(missed[0].began, dated=source.dated)
            yield (
                f"{source.name} has nothing of epoch {epochs}, which began from {at} on: the node"
                " was cut off or did not run, or lines are missing."
            )
