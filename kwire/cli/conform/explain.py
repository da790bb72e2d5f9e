"""`kwire conform --explain ID` and `--kip NUMBER`: sentences, and what Kafka makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import typer

from kwire.cli.conform.check_bytes import chosen_member, show_chunks
from kwire.cli.conform.run import write_file
from kwire.cli.conform.screen import COLOURS, NAME_WIDTH, behind
from kwire.cli.output import Output, OutputForm, Table, text_columns
from kwire.conform.check import Check
from kwire.conform.clients.case import ClientCase
from kwire.conform.clients.suite import case_of
from kwire.conform.recorded import (
    RELEASE,
    check_since,
    example_of,
    recorded_runs,
    release_of,
    verdicts_of,
)
from kwire.conform.registry import all_checks, check_of
from kwire.conform.report.document import RunDocument
from kwire.conform.report.text import reaction_text
from kwire.conform.sources import address_of, since_of
from kwire.conform.vocabulary import ConformanceVerdict, SentenceClass
from kwire.errors import InvalidValue

MEANINGS = {
    SentenceClass.SPECIFICATION: "specification: a {} that does otherwise FAILs",
    SentenceClass.SCHEMA: "schema of a message: a {} that does otherwise FAILs",
    SentenceClass.JAVA: "java: only Apache Kafka's code; a {} that does otherwise DIFFERS",
}


def explain(check_id: str) -> None:
    """Print a check: its sentence and source, verdicts of releases, an example's bytes, decoded.

    Of a case for clients, whose id says so: its sentence and source. Raises InvalidValue for an id
    that no check has.
    """
    is_case = check_id.startswith("client/")
    check = case_of(check_id) if is_case else check_of(check_id)
    for line in behind(f"{check.id}  ", check.sentence, len(check.id) + 2):
        typer.echo(line)
    for name, text in _details(check):
        label = typer.style(f"{name:{NAME_WIDTH}}", dim=True)
        for line in behind(f"  {label}", text, NAME_WIDTH + 2):
            typer.echo(line)
    if isinstance(check, ClientCase):
        return
    example = example_of(check)
    if example is None:
        typer.echo(f"\nNo run of Kafka {RELEASE} with this check is recorded: {_why_not(check)}.")
        return
    run, part = example
    part = chosen_member(part, check_id)
    typer.echo(f"\n{part.id} at a {run.name}: {reaction_text(part)}")
    show_chunks(part.bytes)


def _details(check: Check | ClientCase) -> list[tuple[str, str]]:
    source = check.source
    details = [("source", str(source)), ("address", address_of(source))]
    if isinstance(check, ClientCase):
        meaning = MEANINGS[source.sentence_class].format("client")
        since = [("since", since_of(source))] if since_of(source) else []
        return [("class", meaning), *since, *details, ("task", check.task.value)]
    verdicts = [
        f"{run.name.removeprefix('Kafka ')} "
        + typer.style(part.verdict.value, fg=COLOURS[part.verdict])
        for run, part in verdicts_of(check)
    ]
    return [
        ("class", MEANINGS[source.sentence_class].format("server")),
        ("since", check_since(check)),
        *details,
        ("for", check.role.value),
        ("verdicts", ", ".join(verdicts)),
    ]


def _why_not(check: Check) -> str:
    reasons = (part.reason for run in recorded_runs() for part in run if part.id == check.id)
    return next(filter(None, reasons), "it is newer than the recordings")


def show_kip(number: int, html: Path | None, *, as_json: bool) -> None:
    """Print the sentences of a KIP with the verdict of each release, or write them as a page.

    Raises InvalidValue for a KIP that no check is of, MissingExtra.
    """
    checks = [check for check in all_checks() if check.source.title == f"KIP-{number}"]
    if not checks:
        raise InvalidValue(f"no check is of KIP-{number}: see `kwire conform --list`")
    if html is not None:
        from kwire.conform.report.html_matrix import to_html

        runs = [_only(run, checks) for run in recorded_runs()]
        page = to_html(runs, title=f"KIP-{number}, sentence by sentence")
        write_file(html, page.encode())
        return
    releases = tuple(dict.fromkeys(map(release_of, recorded_runs())))
    rows = [
        {
            "id": check.id,
            "sentence": check.sentence,
            "section": check.source.section,
            **{release: _verdict(check, release) for release in releases},
        }
        for check in checks
    ]
    columns = text_columns("id", "sentence", "section", *releases)
    form = OutputForm.JSON if as_json else OutputForm.TABLE
    Output(form).show(Table("checks", columns, rows))


def _verdict(check: Check, release: str) -> str | None:
    """Return the worse verdict of a release's broker and controller, None if both skipped it."""
    verdicts = [part.verdict for run, part in verdicts_of(check) if release_of(run) == release]
    worst = max(verdicts, key=lambda verdict: verdict.rank, default=None)
    return worst and worst.value


def _only(run: RunDocument, checks: Sequence[Check]) -> RunDocument:
    """Return a run with the results of these checks only."""
    ids = {check.id for check in checks}
    parts = tuple(part for part in run if part.id in ids)
    counts = Counter(part.verdict for part in parts)
    return msgspec.structs.replace(
        run, checks=parts, counts={verdict.value: counts[verdict] for verdict in ConformanceVerdict}
    )
