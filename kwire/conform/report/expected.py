"""Expectations of one implementation: checks that it is known not to pass, each with the reason.

A run is as expected if nothing else fails, and if each of these ends as the file says: one that
passes is unexpected, too, and its line is to be deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field, field_validator

from kwire.conform.check import FIRST
from kwire.conform.registry import all_checks
from kwire.conform.report.document import CheckPart
from kwire.conform.report.text import reaction_text
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.text.untrusted import read_text
from kwire.text.yaml_file import BadFile, Strict, read_yaml

_SKIPPED = ConformanceVerdict.SKIPPED


class BadExpectations(BadFile):
    """A file of expectations cannot be used."""


class ExpectedVerdict(Strict):
    """The verdict that a check is expected to have. why: in a sentence, for the reader."""

    verdict: ConformanceVerdict
    why: str = Field(min_length=1)


class ExpectationsFile(Strict):
    """A file. server: the implementation and its version. checks: by id, also of members."""

    server: str
    checks: dict[str, ExpectedVerdict] = Field(default_factory=dict)

    @field_validator("checks")
    @classmethod
    def _are_checks(cls, checks: dict[str, ExpectedVerdict]) -> dict[str, ExpectedVerdict]:
        from kwire.conform.clients.suite import all_cases

        ids = [*(check.id for check in all_checks()), *(case.id for case in all_cases())]
        known = {FIRST.id, *ids}
        for name in checks:
            if name not in known and name.rpartition("/")[0] not in known:
                raise ValueError(f"no check is called {name}: see `kwire conform --list`")
        return checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Compares a check's verdict with what was expected. text: the result in a sentence.

    is_expected_deviation: True if it is not PASS, and was not to be.
    """

    is_unexpected: bool
    is_expected_deviation: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Expectations:
    """Verdicts that are expected, by the ids of checks and of members."""

    verdicts: Mapping[str, ExpectedVerdict] = field(default_factory=dict)
    server: str = ""

    def judge(self, check: CheckPart) -> Judgement:
        """Compare the verdict of a check; a family is judged by its members.

        What was SKIPPED is never unexpected.
        """
        text = reaction_text(check)
        expected = self.verdicts.get(check.id)
        if check.verdict is _SKIPPED:
            return Judgement(is_unexpected=False, text=text)
        if expected is not None:
            if check.verdict is expected.verdict:
                text = f"{text} (expected: {expected.why})"
                return Judgement(is_unexpected=False, is_expected_deviation=True, text=text)
            text = f"{text}; expected was {expected.verdict.value}: {expected.why}"
            return Judgement(is_unexpected=True, text=text)
        if any(member.id in self.verdicts for member in check.members):
            return self._judge_members(check, text)
        return Judgement(is_unexpected=check.verdict.is_bad, text=text)

    def unexpected(self, checks: Iterable[CheckPart]) -> Iterator[str]:
        """Yield the ids of checks that are not as expected."""
        return (check.id for check in checks if self.judge(check).is_unexpected)

    def outside(self, checks: Iterable[CheckPart]) -> list[str]:
        """Return the ids that were expected of checks which are not among these."""
        there = {check.id for check in checks}
        return [
            name
            for name in self.verdicts
            if name not in there and name.rpartition("/")[0] not in there
        ]

    def expects_death(self, checks: Iterable[CheckPart]) -> bool:
        """True if the server died of a check as expected: then others could not be run."""
        died = ConformanceVerdict.DIED
        return any(
            check.verdict is died and not self.judge(check).is_unexpected for check in checks
        )

    def _judge_members(self, check: CheckPart, text: str) -> Judgement:
        judged = {member.id: self.judge(member) for member in check.members}
        strange = [name.rpartition("/")[2] for name, j in judged.items() if j.is_unexpected]
        if strange:
            text = f"{text}; not as expected: {', '.join(strange)}"
        return Judgement(is_unexpected=bool(strange), is_expected_deviation=not strange, text=text)


ANY_VERDICT = Expectations()
"""No expectations: FAIL and DIED are unexpected."""


def read_expectations(path: Path) -> Expectations:
    """Read a file of expectations. Raises BadExpectations, which names the file."""
    try:
        file = read_yaml(ExpectationsFile, read_text(path, BadExpectations), BadExpectations)
    except BadExpectations as error:
        raise BadExpectations(f"{path}: {error}") from error
    return Expectations(file.checks, file.server)
