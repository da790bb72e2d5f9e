"""Runs beside each other as one page of HTML, which loads nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from kwire.conform.registry import section_title
from kwire.conform.report.document import BytesPart, CheckPart, RunDocument
from kwire.conform.report.expected import ANY_VERDICT, Expectations
from kwire.conform.report.text import reaction_text
from kwire.extras import importing
from kwire.text.untrusted import harmless

_EXCERPT = 2048
"""Hex digits of one chunk that a cell shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """The result of a check in one run. verdict: empty if the run has no such check.

    details: lines that are folded away.
    """

    verdict: str = ""
    is_unexpected: bool = False
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A check, and its result in each run."""

    id: str
    sentence: str
    source: str
    address: str
    cells: tuple[MatrixCell, ...]

    @property
    def passes(self) -> bool:
        """True if no server did anything else, as far as the check was run."""
        return all(cell.verdict in ("PASS", "SKIPPED", "") for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSection:
    """The rows of one section."""

    path: str
    title: str
    rows: tuple[MatrixRow, ...]

    @property
    def passes(self) -> bool:
        """True if all rows do."""
        return all(row.passes for row in self.rows)


def to_html(
    runs: Sequence[RunDocument],
    expectations: Sequence[Expectations] | None = None,
    *,
    title: str = "Conformance to Kafka's wire protocol",
) -> str:
    """Return the page, a column a run. expectations: of each run, by default none.

    Text that came over the wire is escaped. Raises MissingExtra.
    """
    with importing("jinja2", "conform", "HTML"):
        from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("kwire.conform.report", "."), autoescape=True)
    judges = expectations or [ANY_VERDICT] * len(runs)
    return environment.get_template("matrix.html").render(
        title=title,
        runs=[_heading(run) for run in runs],
        sections=list(_sections(runs, judges)),
        verdicts=["PASS", "DIFFERS", "FAIL", "DIED", "INFO", "SKIPPED"],
    )


def _heading(run: RunDocument) -> dict[str, object]:
    started = datetime.fromtimestamp(run.started_ms / 1000, UTC)
    return {
        "name": harmless(run.name),
        "about": f"{run.server.role} at {harmless(run.server.address)},"
        f" {started:%d %B %Y %H:%M} UTC, {run.seconds:.1f} s, kwire {harmless(run.kwire)}",
        "problem": harmless(run.problem),
        "counts": run.counts,
    }


def _sections(
    runs: Sequence[RunDocument], judges: Sequence[Expectations]
) -> Iterator[MatrixSection]:
    parts = [{check.id: check for check in run} for run in runs]
    known = {check_id: check for checks in reversed(parts) for check_id, check in checks.items()}
    # In the order of the longest run; what only others have stands at its section's end.
    longest = max(parts, key=len, default={})
    ids = [*longest, *(check_id for check_id in known if check_id not in longest)]
    order = {
        path: number for number, path in enumerate(dict.fromkeys(known[i].section for i in ids))
    }
    ids.sort(key=lambda check_id: order[known[check_id].section])
    for path, group in groupby(ids, key=lambda check_id: known[check_id].section):
        rows = tuple(
            MatrixRow(
                id=check_id,
                sentence=known[check_id].sentence,
                source=known[check_id].source,
                address=known[check_id].address,
                cells=tuple(
                    _cell(checks.get(check_id), judge)
                    for checks, judge in zip(parts, judges, strict=True)
                ),
            )
            for check_id in group
        )
        yield MatrixSection(path=path, title=section_title(path), rows=rows)


def _cell(check: CheckPart | None, judge: Expectations) -> MatrixCell:
    if check is None:
        return MatrixCell()
    verdict = check.verdict.value
    judgement = judge.judge(check)
    if verdict == "PASS" and not judgement.is_unexpected:
        return MatrixCell(verdict=verdict)
    details = [harmless(judgement.text)]
    if verdict != "SKIPPED":
        details += map(_bytes, check.bytes)
        for member in check.members:
            if member.verdict is check.verdict:
                details.append(f"{member.id.rpartition('/')[2]}: {harmless(reaction_text(member))}")
    return MatrixCell(
        verdict=verdict, is_unexpected=judgement.is_unexpected, details=tuple(details)
    )


def _bytes(part: BytesPart) -> str:
    cut = "…" if len(part.hex) > _EXCERPT or part.size * 2 > len(part.hex) else ""
    direction = "sent" if part.sent else "came"
    return f"{direction} {part.size} bytes: {part.hex[:_EXCERPT]}{cut}"
