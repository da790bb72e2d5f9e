"""One clock for all sources: an epoch begins at one time, whatever the clocks of its nodes say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from kwire.quorum_story.story import TELLS_LEADER, StoryEvent, StoryKind, StorySource
from kwire.quorum_story.wording import duration

TOLERANCE = 60_000
"""Milliseconds by which clocks may differ without a word: nodes hear of an epoch one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """The milliseconds by which a source is ahead of the story's clock, and by which epochs.

    is_sure: False if its node was starting when it heard of them, which may have been late.
    """

    offset: int
    epochs: tuple[int, ...]
    is_sure: bool = True


def epoch_starts(source: StorySource, *, at_start: bool = False) -> dict[int, int]:
    """Return when each epoch's leader became known.

    at_start: with the epochs that a node found when it started, which may have begun long before.
    """
    starts: dict[int, int] = {}
    is_settled = False
    for event in source.events:
        if event.kind is StoryKind.STARTED:
            is_settled = False
        if event.kind not in TELLS_LEADER or event.may_be_older:
            continue
        if event.epoch is None or event.time is None:
            continue
        is_first_hand = event.kind is StoryKind.LEADS or not source.is_log_file
        if is_settled or is_first_hand or at_start:
            starts.setdefault(event.epoch, event.time)
        is_settled = True
    return starts


def clock_offsets(sources: Sequence[StorySource]) -> dict[str, ClockOffset]:
    """Return the offset of each source that shares an epoch with one that is on the story's clock.

    1. The clock is that of records or captures, else of the dated log with the most epochs.
    2. Add the source that shares the most epochs with those that are on the clock, repeatedly.
    3. Compare those that are left by the epochs that they found at a start.
    """
    starts = {source.name: epoch_starts(source) for source in sources}
    order = sorted(sources, key=lambda s: (s.is_log_file, not s.dated, -len(starts[s.name])))
    offsets: dict[str, ClockOffset] = {}
    known: dict[int, int] = {}
    rest = [source.name for source in order if starts[source.name]]
    while rest:
        # 1. and 2.
        name = max(rest, key=lambda n: (len(starts[n].keys() & known.keys()), -rest.index(n)))
        rest.remove(name)
        shared = sorted(starts[name].keys() & known.keys())
        differences = [starts[name][epoch] - known[epoch] for epoch in shared]
        if not shared and known:
            continue
        offset = round(_typical(differences)) if differences else 0
        offsets[name] = ClockOffset(offset=offset, epochs=tuple(shared))
        for epoch, time in starts[name].items():
            known.setdefault(epoch, time - offset)
    # 3.
    for source in order:
        if source.name not in offsets:
            found = epoch_starts(source, at_start=True)
            if shared := sorted(found.keys() & known.keys()):
                differences = [found[epoch] - known[epoch] for epoch in shared]
                offsets[source.name] = ClockOffset(
                    offset=round(_typical(differences)), epochs=tuple(shared), is_sure=False
                )
    return offsets


def _typical(differences: Sequence[int]) -> float:
    """Return the difference of two clocks; a node may hear late of one epoch, not of most."""
    return median(differences) if len(differences) > 2 else min(differences, key=abs)


def on_one_clock(
    sources: Sequence[StorySource], offsets: Mapping[str, ClockOffset]
) -> list[StorySource]:
    """Return the sources with times by the story's clock, where clocks differ by much."""
    clock_is_dated = _is_dated(sources, offsets)
    return [
        _shifted(source, offsets[source.name].offset, dated=clock_is_dated)
        if source.name in offsets and _differs(source, offsets[source.name], clock_is_dated)
        else source
        for source in sources
    ]


def clock_notes(sources: Sequence[StorySource], offsets: Mapping[str, ClockOffset]) -> list[str]:
    """Return a sentence for each clock that differs, or that cannot be compared."""
    notes = []
    clock_is_dated = _is_dated(sources, offsets)
    for source in sources:
        found = offsets.get(source.name)
        if found is None:
            # What a node answers was so before it was asked: it tells nothing of its clock.
            dated = [e for e in source.events if e.epoch is not None and not e.may_be_older]
            if offsets and dated:
                notes.append(
                    f"{source.name} shares no epoch with the other sources, so that its clock"
                    " cannot be compared with theirs."
                )
        elif source.dated and _differs(source, found, clock_is_dated):
            way = "ahead of" if found.offset > 0 else "behind"
            epochs = ", ".join(map(str, found.epochs[:5]))
            notes.append(
                f"The clock of {source.name} is {duration(abs(found.offset))} {way} the others, or"
                f" its time zone is another (by epoch {epochs}): its times are shown by theirs."
            )
        elif not source.dated and clock_is_dated:
            notes.append(f"{source.name} has times without dates: the epochs give them.")
    return notes


def _is_dated(sources: Sequence[StorySource], offsets: Mapping[str, ClockOffset]) -> bool:
    return any(source.dated for source in sources if source.name in offsets)


def _differs(source: StorySource, found: ClockOffset, clock_is_dated: bool) -> bool:
    if source.dated is not clock_is_dated:
        return True
    # A node that starts hears late of an epoch, but not before it began.
    return found.offset < -TOLERANCE or (found.is_sure and found.offset > TOLERANCE)


def _shifted(source: StorySource, by: int, *, dated: bool) -> StorySource:
    def moved(time: int | None) -> int | None:
        return None if time is None else time - by

    def event_moved(event: StoryEvent) -> StoryEvent:
        return replace(event, time=moved(event.time), last_time=moved(event.last_time), dated=dated)

    return replace(
        source,
        events=tuple(map(event_moved, source.events)),
        first_time=moved(source.first_time),
        last_time=moved(source.last_time),
        dated=dated,
    )
