"""A finding: what a check reports about a cluster, and the kinds of findings that there are."""

from __future__ import annotations

from collections.abc import Sequence
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


GONE = "if it is gone for good"
"""The case of a fix that takes a node out of the cluster."""

COMMAND = "kwire "
"""The beginning of a step that is a command; every other step is done by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """One way to end a finding: steps in their order.

    steps: a command of kwire without the options that name the cluster, or a sentence for what only
    hands can do, such as starting a node. when: the case in which it is the way; empty if it is the
    only one.
    """

    steps: tuple[str, ...]
    when: str = ""

    @property
    def commands(self) -> tuple[str, ...]:
        """The steps that are commands."""
        return tuple(step for step in self.steps if step.startswith(COMMAND))

    @property
    def text(self) -> str:
        """The fix as a part of a sentence; a command that names very much is cut."""
        shown = [
            f"{step[:_LONGEST]}…" if step in self.commands and len(step) > _LONGEST else step
            for step in self.steps
        ]
        if len(shown) > _MOST:
            more = len(shown) - _MOST + 1
            shown[_MOST - 1 :] = [f"{more} more steps, which kwire doctor --fix-plan prints"]
        steps = ", then ".join(shown)
        return f"{self.when}: {steps}" if self.when else steps


_MOST, _LONGEST = 4, 160
"""Steps of a fix, and characters of a command, in a sentence."""


def fix(*steps: str, when: str = "") -> Fix:
    """Return a fix of these steps; empty ones are left out."""
    return Fix(steps=tuple(step for step in steps if step), when=when)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence about the cluster, with what it rests on and what to do.

    id: `subject/kind`, such as `quorum/no-leader`. evidence: answers of nodes and values of the
    metadata log that the sentence rests on. advice: empty if there is nothing to do. source: the
    KIP, the Java class or the issue that explains it. fixes: the advice as steps, for the first
    case that holds.
    """

    id: str
    verdict: FindingVerdict
    sentence: str
    evidence: tuple[str, ...] = ()
    advice: str = ""
    source: str = ""
    fixes: tuple[Fix, ...] = ()

    @property
    def subject(self) -> str:
        """The first part of the id: `quorum`."""
        return self.id.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingKind:
    """One kind of findings: `kwire doctor --list` and docs/operators/doctor.md are made from these.

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
        fixes: Sequence[Fix] = (),
    ) -> Finding:
        """Return a finding of this kind; advice and verdict are the kind's unless given.

        fixes: with the ids of this cluster; the advice is then their text.
        """
        if advice is None:
            advice = "; ".join(item.text for item in fixes) or self.advice
        return Finding(
            id=self.id,
            verdict=self.verdict if verdict is None else verdict,
            sentence=sentence,
            evidence=evidence,
            advice=advice,
            source=self.source,
            fixes=tuple(fixes) or ((fix(advice),) if advice else ()),
        )
