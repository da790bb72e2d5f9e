"""A finding: what a check reports about a cluster, and the kinds of findings that there are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FindingVerdict(Enum):
    """The weight of a finding.

    INFO: worth knowing, nothing to mend. UNKNOWN: it could not be looked at, or not from here.
    """

    OK = "ok"
    INFO = "info"
    UNKNOWN = "unknown"
    WARNING = "warning"
    PROBLEM = "problem"

    @property
    def rank(self) -> int:
        """The order of weight, 0 for OK."""
        return list(FindingVerdict).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence about the cluster, with what it rests on and what to do.

    id: `subject/kind`, such as `quorum/no-leader`. evidence: answers of nodes and values of the
    metadata log that the sentence rests on. advice: empty if there is nothing to do. source: the
    KIP, the Java class or the issue that explains it.
    """

    id: str
    verdict: FindingVerdict
    sentence: str
    evidence: tuple[str, ...] = ()
    advice: str = ""
    source: str = ""

    @property
    def subject(self) -> str:
        """The first part of the id: `quorum`."""
        return self.id.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingKind:
    """One kind of findings: `kwire doctor --list` and docs/doctor.md are made from these.

    meaning: a sentence about any cluster that has it. advice: what to do; empty for kinds that
    need nothing done. unasked: True if it tells that somebody was not asked, or could not be: no
    selection leaves it out, as a check without an answer must not read as a good one.
    """

    id: str
    verdict: FindingVerdict
    meaning: str
    advice: str = ""
    source: str = ""
    unasked: bool = False

    def __call__(
        self,
        sentence: str,
        *evidence: str,
        advice: str | None = None,
        verdict: FindingVerdict | None = None,
    ) -> Finding:
        """Return a finding of this kind; advice and verdict are the kind's unless given."""
        return Finding(
            id=self.id,
            verdict=self.verdict if verdict is None else verdict,
            sentence=sentence,
            evidence=evidence,
            advice=self.advice if advice is None else advice,
            source=self.source,
        )
