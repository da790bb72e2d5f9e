"""Differences between two runs, of two servers or of one before and after a change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kwire.conform.report.document import CheckPart, RunDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """A check, or a member of a family, with another verdict, or another reaction.

    first, second: as they were, None where the run has no such check.
    """

    id: str
    first: CheckPart | None
    second: CheckPart | None


def differences(first: RunDocument, second: RunDocument) -> Iterator[RunDifference]:
    """Yield the checks that differ, in the order of the first run, then of the second.

    A family is named by its members that differ. What was sent and received is not compared: ids
    and times differ in every run.
    """
    ours, theirs = dict(_parts(first)), dict(_parts(second))
    for check_id in [*ours, *(name for name in theirs if name not in ours)]:
        one, other = ours.get(check_id), theirs.get(check_id)
        if one is None or other is None or _compared(one) != _compared(other):
            yield RunDifference(id=check_id, first=one, second=other)


def _compared(check: CheckPart) -> tuple[object, ...]:
    return check.verdict, check.answer, check.connection, check.came


def _parts(run: RunDocument) -> Iterator[tuple[str, CheckPart]]:
    for check in run:
        if not check.members:
            yield check.id, check
        for member in check.members:
            yield member.id, member
