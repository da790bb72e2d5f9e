"""The story of a quorum: what was read, what happened, and the answers that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kwire.doctor.finding import Fix
from kwire.quorum_story.cause import Cause


class StoryKind(Enum):
    """The kinds of events."""

    STARTED = "started"
    READY = "ready"
    LEADS = "leads"
    FOLLOWS = "follows"
    SEEKS_VOTES = "seeks votes"
    NO_LEADER = "knows no leader"
    RESIGNED = "resigned"
    VOTERS = "voters"
    CAUSE = "cause"
    NOT_UNDERSTOOD = "not understood"


TELLS_LEADER = (StoryKind.LEADS, StoryKind.FOLLOWS)
"""The kinds of events that name the leader of an epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryEvent:
    """Something that happened at a node, and the line or record that proves it.

    time: milliseconds since 1970 by the source's clock, or since its first midnight if `dated` is
    False; None if the source does not tell. epoch, leader_id: None where the event has none.
    cause: for CAUSE, with `details` for its sentences. sentence: of this kind of event. times: how
    often it came in a row, the last at `last_time`. text: the line as it stands in the source.
    may_be_older: it was so at `time`, and may have been for long: what a node answers, and the
    state in which a log begins.
    """

    kind: StoryKind
    source: str
    place: str
    sentence: str
    time: int | None = None
    dated: bool = True
    node_id: int | None = None
    epoch: int | None = None
    leader_id: int | None = None
    cause: Cause | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    last_time: int | None = None
    text: str = ""
    may_be_older: bool = False

    @property
    def cause_id(self) -> str | None:
        """The id of the cause, as `leader.lost-majority`."""
        return self.cause.id if self.cause else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StorySource:
    """One source: its events in its own order.

    node_ids: the nodes that wrote it; empty if it does not say. is_log_file: False for records,
    captures and answers. problem: a sentence why not all could be read; empty if all was.
    """

    name: str
    events: tuple[StoryEvent, ...] = ()
    node_ids: tuple[int, ...] = ()
    first_time: int | None = None
    last_time: int | None = None
    dated: bool = True
    is_log_file: bool = True
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reign:
    """An epoch and its leader.

    began: when the first source knew the leader, by the clock of the story. leader_id: None for an
    epoch in which nobody was seen to lead. ended_by: the events that tell why the next one began,
    the most telling first; empty if no source tells.
    """

    epoch: int
    leader_id: int | None
    began: int | None
    evidence: tuple[StoryEvent, ...]
    ended_by: tuple[StoryEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseSummary:
    """A cause in this story: how often it came, at which nodes, with the first that shows it."""

    cause: Cause
    times: int
    node_ids: tuple[int, ...]
    first: StoryEvent
    last: StoryEvent
    meaning: str
    fixes: tuple[Fix, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryAnswer:
    """The answer to a question: `elections` (why the leader changes), or `ready` of one node.

    good: True if there is nothing to explain, None if the sources do not tell.
    causes: ids, the most telling first.
    """

    question: str
    sentence: str
    good: bool | None
    node_id: int | None = None
    causes: tuple[str, ...] = ()
    evidence: tuple[StoryEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Everything that the sources tell, on one clock.

    events: in the order of time. notes: sentences about what is not known: silent sources, gaps,
    clocks that disagree. not_understood: WARN, ERROR and FATAL of the quorum's loggers that no
    cause has, as they stand in the log.
    """

    sources: tuple[StorySource, ...]
    events: tuple[StoryEvent, ...]
    reigns: tuple[Reign, ...]
    causes: tuple[CauseSummary, ...]
    answers: tuple[StoryAnswer, ...]
    notes: tuple[str, ...] = ()
    not_understood: tuple[StoryEvent, ...] = ()
