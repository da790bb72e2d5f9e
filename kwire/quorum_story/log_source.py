"""A controller's log file as a source of a story: its entries become events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kwire.quorum_story.causes import BY_ID, EARLIER, EXPECTED, WORDS
from kwire.quorum_story.event_list import EventList
from kwire.quorum_story.log_entry import LOUD, LogEntry, LogReader
from kwire.quorum_story.story import StoryEvent, StoryKind, StorySource
from kwire.quorum_story.transitions import state_before, transition, voters_of
from kwire.quorum_story.voter_changes import VoterChanges

QUORUMS_LOGGERS = (
    "org.apache.kafka.raft.",
    "org.apache.kafka.controller.",
    "org.apache.kafka.image.",
    "org.apache.kafka.metadata.",
    "org.apache.kafka.server.fault.",
    "kafka.raft.",
    "kafka.Kafka",
    "kafka.server.Controller",
    "kafka.server.KafkaRaftServer",
    "kafka.server.SharedServer",
)
"""Loggers of which a WARN or worse is shown though no cause has it."""

_PROCESS, _CONTROLLER = "Registered signal handlers for", "Starting controller"
"""Lines of one start; the first is of the process, and some loggers leave it out."""

_READY = "Kafka Server started"
_ENDED = (
    "Terminating process due to signal",
    "Graceful shutdown completed",
    "shutting down",
    "shut down completed",
    "shutdown completed",
    "Exiting Kafka due to fatal exception",
    "Encountered fatal fault",
)
_BACKWARDS = 1_000
"""Milliseconds by which an entry may be older than the one before: threads write at a time."""

STRANGE = 10_000
"""Lines without an entry, after which a file is no log of Kafka."""

_PREAMBLE = 8
"""Entries that a process writes before the first by which its start is known."""


def log_file(name: str, lines: Iterable[str]) -> StorySource:
    """Return what a controller's log tells. name: for the places, `name:12`."""
    log = LogStory(name)
    for line in lines:
        for event in log.read([line]):
            log.keep(event)
        if log.is_something_else:
            break
    for event in log.end():
        log.keep(event)
    return log.source()


class LogStory:
    """Makes events of the entries of one log, in pieces if it grows."""

    def __init__(self, name: str) -> None:
        self._reader = LogReader(name)
        self._runs: dict[str, _ProcessRun] = {}
        self._kept = EventList()
        self._nodes: dict[int, None] = {}
        self._times: tuple[int, int] | None = None
        self._dated = True
        self._entries = 0

    @property
    def is_something_else(self) -> bool:
        """True if so many lines fit no layout that it is not worth to read on."""
        return not self._entries and self._reader.pieces > STRANGE

    def read(self, lines: Iterable[str]) -> Iterator[StoryEvent]:
        """Yield the events of the entries that these lines end."""
        for entry in self._reader.read(lines):
            yield from self._events_of(entry)

    def end(self) -> Iterator[StoryEvent]:
        """Yield the events of the last entry."""
        for entry in self._reader.end():
            yield from self._events_of(entry)

    def begin_file(self) -> None:
        """Go on with the next file of a log that was rotated."""
        self._reader.begin_file()

    def keep(self, event: StoryEvent) -> bool:
        """Keep an event for the source; False if it repeats one of the same run and epoch."""
        return self._kept.keep(event)

    def source(self) -> StorySource:
        """Return the source, with all that was kept."""
        events, nodes = self._kept.events, tuple(self._nodes)
        if len(nodes) == 1:
            events = [e if e.node_id is not None else replace(e, node_id=nodes[0]) for e in events]
        return StorySource(
            name=self._reader.source,
            events=tuple(events),
            node_ids=nodes,
            first_time=self._times and self._times[0],
            last_time=self._times and self._times[1],
            dated=self._dated,
            problem=self.problem,
        )

    @property
    def problem(self) -> str:
        """A sentence if nothing could be read of the log so far; else empty."""
        name = self._reader.source
        if not self._reader.lines:
            return f"{name} is empty."
        if not self._entries:
            return (
                f"{name} is no log of Kafka in a layout that is known: no line of"
                f" {self._reader.lines} has a time and a level."
            )
        return ""

    def _events_of(self, entry: LogEntry) -> Iterator[StoryEvent]:
        self._entries += 1
        self._dated = entry.dated
        if entry.node_id is not None:
            self._nodes[entry.node_id] = None
        if entry.time is not None:
            first, last = self._times or (entry.time, entry.time)
            self._times = min(first, entry.time), max(last, entry.time)
        run = self._runs.setdefault(entry.stream, _ProcessRun())
        yield from run.events(entry)


class _ProcessRun:
    """Follows one process from its start to its end."""

    def __init__(self) -> None:
        self._first: LogEntry | None = None
        self._last: LogEntry | None = None
        self._starts: list[str] = []
        self._ended = False
        self._entries = 0
        self._epoch_leader: tuple[int | None, int | None] = (None, None)
        self._voters: tuple[int, ...] = ()
        self._said: set[str] = set()
        self._changes = VoterChanges()

    def events(self, entry: LogEntry) -> Iterator[StoryEvent]:
        """Yield what an entry tells."""
        self._first = self._first or entry
        if _PROCESS in entry.text or _CONTROLLER in entry.text:
            yield from self._start(entry)
        elif self._last is not None:
            yield from self._clock(entry, self._last)
        if any(word in entry.text for word in _ENDED):
            self._ended = True
        if _READY in entry.text:
            yield _event(StoryKind.READY, entry, "has started")
        self._last = entry
        self._entries += 1
        if self._changes.is_repeated(entry):
            return
        yield from self._raft(entry)
        yield from self._cause(entry)
        for details in self._changes.back(entry):
            cause = BY_ID["join.by-itself"]
            yield _event(StoryKind.CAUSE, entry, "", cause=cause, details=details)

    def _start(self, entry: LogEntry) -> Iterator[StoryEvent]:
        is_first = _PROCESS in entry.text
        if not is_first and self._starts == [_PROCESS]:
            self._starts.append(_CONTROLLER)
            return  # the second line of one start
        if self._last is not None and not self._ended and self._entries > _PREAMBLE:
            # Told at the last line of the run that broke off.
            yield _event(StoryKind.CAUSE, self._last, "", cause=BY_ID["stop.unclean"])
        yield _event(StoryKind.STARTED, entry, "starts")
        self._starts, self._ended = [_PROCESS if is_first else _CONTROLLER], False
        self._epoch_leader, self._entries, self._first = (None, None), 0, entry
        self._said.clear()

    def _clock(self, entry: LogEntry, last: LogEntry) -> Iterator[StoryEvent]:
        if entry.time is None or last.time is None or last.time - entry.time <= _BACKWARDS:
            return
        details = {"seconds": f"{(last.time - entry.time) / 1000:.0f}"}
        yield _event(StoryKind.CAUSE, entry, "", cause=BY_ID["clock.jump"], details=details)

    def _raft(self, entry: LogEntry) -> Iterator[StoryEvent]:
        if voters := voters_of(entry.text):
            if voters != self._voters:
                self._voters = voters
                names = ", ".join(map(str, voters))
                yield _event(StoryKind.VOTERS, entry, f"has the voters {names}")
            return
        found = transition(entry)
        if found is None:
            return
        if self._epoch_leader == (None, None) and (before := state_before(entry)) is not None:
            yield replace(
                _event(
                    before.kind, self._first or entry, f"{before.sentence}, when the log begins"
                ),
                place=entry.place,
                epoch=before.epoch,
                leader_id=before.leader_id,
                may_be_older=True,
            )
        known = (found.epoch, found.leader_id)
        # QuorumController says again what the raft client said.
        if found.is_echo and known == self._epoch_leader:
            return
        self._epoch_leader = known
        yield _event(
            found.kind, entry, found.sentence, epoch=found.epoch, leader_id=found.leader_id
        )

    def _cause(self, entry: LogEntry) -> Iterator[StoryEvent]:
        self._said.update(words for words in EARLIER if words in entry.text)
        text = entry.text
        for cause in [cause for word, cause in WORDS if word in text]:
            if cause.after and self._said.isdisjoint(cause.after):
                continue
            if (shown := cause.shown_by(entry)) is not None:
                yield _event(StoryKind.CAUSE, entry, "", cause=cause, details=shown)
                return
        if (
            entry.level in LOUD
            and entry.logger.startswith(QUORUMS_LOGGERS)
            and not any(word in entry.text for word in EXPECTED)
        ):
            yield _event(StoryKind.NOT_UNDERSTOOD, entry, entry.message)


def _event(kind: StoryKind, entry: LogEntry, sentence: str, **more: object) -> StoryEvent:
    return StoryEvent(
        kind=kind,
        source=entry.source,
        place=entry.place,
        sentence=sentence,
        time=entry.time,
        dated=entry.dated,
        node_id=entry.node_id,
        text=entry.message,
        **more,  # type: ignore[arg-type]
    )
