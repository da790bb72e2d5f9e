"""`kwire conform` without a server: lists checks, compares saved results, reports them again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from kwire.cli.conform.options import ConformOptions
from kwire.cli.errors import WrongUsage
from kwire.cli.output import Column, Output, OutputForm, Table, text_columns
from kwire.conform.check import Check
from kwire.conform.recorded import check_since
from kwire.conform.registry import select
from kwire.conform.report.comparison import RunDifference, differences
from kwire.conform.report.document import CheckPart, read_document
from kwire.conform.report.text import reaction_text
from kwire.conform.sources import address_of
from kwire.conform.vocabulary import Need, ServerRole
from kwire.text.untrusted import harmless


def list_checks(ids: Sequence[str], *, as_json: bool) -> None:
    """Print checks with their needs, sentences and sources. Raises InvalidValue."""
    rows = [_row(check) for check in select(ids)]
    columns = [
        Column(key="id", whole=True),
        *(Column(key=key, wide=not any(row[key] for row in rows)) for key in ("role", "needs")),
        *text_columns("sentence", "source"),
        *(Column(key=key, wide=True) for key in ("class", "since", "address")),
        Column(key="family", wide=True),
    ]
    form = OutputForm.JSON if as_json else OutputForm.TABLE
    Output(form).show(Table("checks", columns, rows))


def _row(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "role": None if check.role is ServerRole.ANY else check.role.value,
        "needs": [_need_text(need) for need in Need if need in check.needs],
        "sentence": check.sentence,
        "source": str(check.source),
        "class": check.source.sentence_class.value,
        "since": check_since(check),
        "address": address_of(check.source),
        "family": check.members is not None,
    }


def _need_text(need: Need) -> str:
    return (need.name or "").lower().replace("_", "-")


def compare(first: Path, second: Path, *, as_json: bool) -> None:
    """Print how two results differ; exit code 1 if they do. Raises BadDocument."""
    one, other = read_document(first), read_document(second)
    found = list(differences(one, other))
    if as_json:
        rows = [
            {"id": d.id, "first": _sentence(d.first), "second": _sentence(d.second)} for d in found
        ]
        names = {"first": one.name, "second": other.name}
        Output(OutputForm.JSON).print_document({**names, "differences": rows})
    else:
        _show_differences(found, harmless(one.name), harmless(other.name))
    if found:
        raise typer.Exit(1)


def _show_differences(found: Sequence[RunDifference], first: str, second: str) -> None:
    if first == second:
        first, second = "first", "second"
    width = max(len(first), len(second))
    for difference in found:
        typer.echo(difference.id)
        typer.echo(f"  {first:{width}}  {harmless(_sentence(difference.first))}")
        typer.echo(f"  {second:{width}}  {harmless(_sentence(difference.second))}")
    noun = "check differs" if len(found) == 1 else "checks differ"
    typer.echo(f"{len(found)} {noun}." if found else "No check differs.")


def _sentence(check: CheckPart | None) -> str:
    return "not there" if check is None else reaction_text(check)


def report_again(files: Sequence[Path], report: ConformOptions) -> None:
    """Report saved results: one as a run, several as a page. Raises InvalidValue, WrongUsage."""
    from kwire.cli.conform.run import report_run, write_file
    from kwire.conform.report.expected import ANY_VERDICT, read_expectations

    documents = [read_document(file) for file in files]
    if len(documents) > 1:
        if report.html is None or report.junit or report.save or report.expect:
            raise WrongUsage("several results make one page: add --html FILE, and no other report.")
        from kwire.conform.report.html_matrix import to_html

        write_file(report.html, to_html(documents).encode())
        return
    expectations = read_expectations(report.expect) if report.expect else ANY_VERDICT
    if report_run(documents[0], expectations, report):
        raise typer.Exit(1)
