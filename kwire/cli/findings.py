"""Findings of checks, on a screen and as a table for scripts: `kwire doctor` and others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from kwire.cli.output import Column, Output, OutputForm, Table, text_columns
from kwire.cli.wrapping import has_room, wrapped
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.doctor.finding import Finding

COLOURS = {"ok": "green", "info": "cyan", "unknown": "magenta", "warning": "yellow"}
"""By verdict; a problem is red."""

LOUD = ("warning", "problem")
"""Verdicts in capitals."""

COLUMNS = text_columns("id", "verdict", "sentence", "evidence", "advice", "source")


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return a finding as a JSON object, and as a row of the table."""
    return {
        "id": finding.id,
        "verdict": finding.verdict.value,
        "sentence": finding.sentence,
        "evidence": list(finding.evidence),
        "advice": finding.advice or None,
        "source": finding.source or None,
    }


def findings_table(
    findings: Sequence[Finding],
    facts: Mapping[str, Any] | None = None,
    keys: Sequence[str] | None = None,
) -> Table:
    """Return the findings as rows, and how many problems, warnings and unknowns there are.

    keys: of a configuration file, one for each finding that is about it.
    """
    rows = [*map(finding_document, findings)]
    columns = COLUMNS
    if keys is not None:
        columns = [COLUMNS[0], Column(key="key"), *COLUMNS[1:]]
        for row, key in zip(rows, keys, strict=True):
            row["key"] = key
    verdicts = [row["verdict"] for row in rows]
    counts = {f"{name}s": verdicts.count(name) for name in ("problem", "warning", "unknown")}
    return Table("findings", columns, rows, facts={**(facts or {}), **counts})


def show_findings(
    output: Output,
    table: Table,
    findings: Sequence[Finding],
    *,
    summary: bool = True,
    failing: Sequence[str] = ("problem",),
) -> None:
    """Print findings: on a screen with what each rests on, and what to do; else as a table.

    failing: the verdicts that make the exit code 1.
    """
    verdicts = [finding.verdict.value for finding in findings]
    output.failed = output.failed or any(verdict in failing for verdict in verdicts)
    if output.form not in (OutputForm.TABLE, OutputForm.WIDE):
        output.show(table)
        return
    width = max((len(finding.id) for finding in findings), default=0)
    for finding in findings:
        wide = output.form is OutputForm.WIDE
        for line in _lines(finding, width, wide=wide):
            typer.echo(line)
    if summary:
        typer.echo(_summary(verdicts))


def _lines(finding: Finding, width: int, *, wide: bool) -> Iterator[str]:
    verdict = finding.verdict.value
    word = verdict.upper() if verdict in LOUD else verdict
    styled = typer.style(f"{word:7}", fg=COLOURS.get(verdict, "red"))
    indent, head = " " * (width + 11), f"{finding.id:{width}}  {styled}  "
    if not has_room(len(indent)):
        yield head.rstrip()
        indent = head = "  "
    first, *rest = wrapped(harmless(finding.sentence), len(indent))
    yield f"{head}{first}"
    yield from (f"{indent}{line}" for line in rest)
    if verdict == "ok" and not wide:
        return
    details = [f"- {harmless(text)}" for text in finding.evidence]
    details += [f"> {harmless(finding.advice)}"] if finding.advice else []
    details += [f"see {finding.source}"] if wide and finding.source else []
    for detail in details:
        for number, line in enumerate(wrapped(detail, len(indent) + 2)):
            yield typer.style(f"{indent}{'  ' if number else ''}{line}", dim=True)


def _summary(verdicts: Sequence[str]) -> str:
    counts = []
    for verdict, noun in (("problem", "problem"), ("warning", "warning"), ("unknown", "unknown")):
        if number := verdicts.count(verdict):
            plural = "s" if number > 1 and verdict != "unknown" else ""
            counts.append(f"{number} {noun}{plural}")
    return ", ".join(counts) or "no problems, no warnings"
