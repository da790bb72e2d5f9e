"""Results of checks and of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kwire.conform.reaction import ConnectionState
from kwire.conform.target import Target
from kwire.conform.transcript import Chunk
from kwire.conform.vocabulary import ConformanceVerdict

_SKIPPED = ConformanceVerdict.SKIPPED


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """Both verdicts of a check or of a member of a family.

    answer: the verdict on what was answered. connection: what became of the connection, OPEN if
    none was opened; connection_verdict: PASS, DIFFERS or FAIL. expected, came: texts. reason: of
    SKIPPED, INFO and DIED, and of a repetition. out_of_time: True if what was waited for did not
    come. left_behind: what could not be removed. seconds: the time it took. members: the results of
    a family's.
    """

    id: str
    answer: ConformanceVerdict
    connection: ConnectionState = ConnectionState.OPEN
    connection_verdict: ConformanceVerdict = ConformanceVerdict.PASS
    expected: str = ""
    came: str = ""
    reason: str = ""
    out_of_time: bool = False
    left_behind: tuple[str, ...] = ()
    seconds: float = 0.0
    chunks: tuple[Chunk, ...] = ()
    members: tuple[CheckResult, ...] = ()

    @property
    def verdict(self) -> ConformanceVerdict:
        """The worse of both verdicts; what was not run has only SKIPPED."""
        if self.answer is _SKIPPED:
            return _SKIPPED
        return max(self.answer, self.connection_verdict, key=lambda verdict: verdict.rank)

    @property
    def deviates(self) -> bool:
        """True if what came is not what the check demands."""
        return self.verdict in (ConformanceVerdict.DIFFERS, ConformanceVerdict.FAIL)

    @property
    def is_suspect(self) -> bool:
        """True if the server may have died of it: it ended a connection, or was not as expected."""
        return self.verdict.is_bad or self.connection is not ConnectionState.OPEN

    @property
    def silences(self) -> Sequence[CheckResult]:
        """The check, or the members of the family, that failed where something was too late."""
        if self.members:
            return [result for member in self.members for result in member.silences]
        is_silent = self.out_of_time or any(chunk.silent for chunk in self.chunks)
        return [self] if is_silent and self.deviates else []

    def repeated(self, again: CheckResult, note: str) -> CheckResult:
        """Return the result of another run, or with that of some of a family's members.

        note: is added to the reason of each.
        """
        if not self.members or not again.members:
            reason = "; ".join(filter(None, (again.reason, note)))
            left_behind = self.left_behind + again.left_behind
            return replace(again, reason=reason, left_behind=left_behind)
        repetitions = {member.id: member for member in again.members}
        members = [
            member.repeated(repetitions[member.id], note) if member.id in repetitions else member
            for member in self.members
        ]
        return of_family(self.id, members)


def skipped(check_id: str, reason: str) -> CheckResult:
    """Return the result of a check that is not run."""
    return CheckResult(id=check_id, answer=_SKIPPED, reason=reason)


def of_family(check_id: str, members: Sequence[CheckResult]) -> CheckResult:
    """Return the result of a family: the worst of its members that were run.

    Texts, connection and bytes are those of the first of the worst.
    """
    run = [member for member in members if member.verdict is not _SKIPPED]
    if not run:
        reason = members[0].reason if members else "the server offers none of its members"
        return replace(skipped(check_id, reason), members=tuple(members))
    worst = max(run, key=lambda member: member.verdict.rank)
    bad = [member.id.rpartition("/")[2] for member in run if member.verdict is worst.verdict]
    name = worst.id.rpartition("/")[2]
    return replace(
        worst,
        id=check_id,
        came=f"{name}: {worst.came}" if worst.came else "",
        reason=f"{len(bad)} of {len(run)}: {', '.join(bad)}" if worst.expected else worst.reason,
        left_behind=tuple(text for member in members for text in member.left_behind),
        seconds=sum(member.seconds for member in members),
        members=tuple(members),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceRun:
    """The results of a run, in the order of the registry.

    problem: why it ended early; empty if it did not. suspects: ids of the checks during which the
    server died, where the one could not be found out. seconds: the time it took.
    """

    target: Target
    results: tuple[CheckResult, ...]
    problem: str = ""
    suspects: tuple[str, ...] = ()
    seconds: float = 0.0

    def __iter__(self) -> Iterator[CheckResult]:
        return iter(self.results)

    @property
    def counts(self) -> Counter[ConformanceVerdict]:
        """The number of checks with each verdict."""
        return Counter(result.verdict for result in self.results)
