"""A cause: the words by which a log shows it, what they mean, and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kwire.doctor.finding import Fix
from kwire.quorum_story.log_entry import LogEntry


class CauseRole(Enum):
    """The part that a cause has in a story.

    ENDS_LEADERSHIP: the leader itself gives up. BEGINS_ELECTION: another node wants to lead.
    HINDERS: why nodes do not hear each other, or one does not work. STOPS: the process ends.
    REMARK: worth a line, and no reason of anything.
    """

    ENDS_LEADERSHIP = "ends leadership"
    BEGINS_ELECTION = "begins an election"
    HINDERS = "hinders"
    STOPS = "stops the process"
    REMARK = "remark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One row of the table.

    id: `subject.kind`, such as `leader.lost-majority`. role: its part in a story. words: an entry
    of a log shows the cause if it contains one of these; () for a cause that is derived from
    several entries. among: and one of these. detail: a pattern whose named groups fill in `{name}`
    in the meaning and the fixes; an entry that it does not fit does not show the cause. after: and
    an earlier entry of the same run contains one of these. codes: Kafka's error codes that show it
    in a recording. fixes: as a finding's, without the options that name the cluster.
    """

    id: str
    role: CauseRole
    meaning: str
    words: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    detail: str = ""
    after: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pattern", re.compile(self.detail))

    def shown_by(self, entry: LogEntry) -> Mapping[str, str] | None:
        """Return the details of the cause that an entry shows; None if it does not show it."""
        text = entry.text
        if not any(word in text for word in self.words):
            return None
        if self.among and not any(word in text for word in self.among):
            return None
        match = self._pattern.search(text)
        if match is None:
            return None
        found = match.groupdict("").items()
        return {name: " ".join(value.split()) for name, value in found if value}
