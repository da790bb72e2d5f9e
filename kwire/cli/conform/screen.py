"""A run of `kwire conform` for people: a line a section, and everything about what did not pass."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import typer

from kwire.cli.wrapping import wrapped
from kwire.conform.report.document import BY_HAND, CheckPart, RunDocument
from kwire.conform.report.expected import Expectations
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.text.untrusted import harmless

COLOURS = {
    ConformanceVerdict.PASS: "green",
    ConformanceVerdict.INFO: "cyan",
    ConformanceVerdict.SKIPPED: "bright_black",
    ConformanceVerdict.DIFFERS: "yellow",
    ConformanceVerdict.FAIL: "red",
    ConformanceVerdict.DIED: "magenta",
}
ORDER = (
    ConformanceVerdict.PASS,
    ConformanceVerdict.DIFFERS,
    ConformanceVerdict.FAIL,
    ConformanceVerdict.DIED,
    ConformanceVerdict.INFO,
    ConformanceVerdict.SKIPPED,
)
"""The verdicts as lines of counts have them."""

QUIET = (ConformanceVerdict.PASS, ConformanceVerdict.SKIPPED)
"""Verdicts without details, unless they are asked for."""

NAMES_SHOWN = 4
"""Ids of one line that stand for many."""

_INDENT = " " * 10
NAME_WIDTH = 11
"""Columns of the name of a detail."""


def show_run(document: RunDocument, expectations: Expectations, *, verbose: bool) -> None:
    """Print a run: the server, a line a section, what did not pass, and a summary."""
    typer.echo(_heading(document))
    width = max(len(check.section) for check in document)
    for section, group in groupby(document, key=lambda check: check.section):
        checks = list(group)
        if not verbose and all(check.verdict is ConformanceVerdict.SKIPPED for check in checks):
            continue  # the reasons at the end name them
        typer.echo(f"{section:{width}}  {counts_text(check.verdict for check in checks)}")
        for check in checks:
            judgement = expectations.judge(check)
            loud = check.verdict not in QUIET or check.left_behind or judgement.is_unexpected
            if verbose or loud:
                for line in _check_lines(check, expectations, document):
                    typer.echo(line)
    for line in (*_cause_lines(document), *_skipped_lines(document)):
        typer.echo(line)
    for line in _summary(document, expectations):
        typer.echo(line)


def counts_text(verdicts: Iterator[ConformanceVerdict] | Sequence[ConformanceVerdict]) -> str:
    """Return `240 PASS, 2 FAIL`, coloured on a terminal."""
    counts = Counter(verdicts)
    return ", ".join(
        typer.style(f"{counts[verdict]} {verdict.value}", fg=COLOURS[verdict])
        for verdict in ORDER
        if counts[verdict]
    )


def _heading(document: RunDocument) -> str:
    server = document.server
    if server.role == "client":
        return f"{harmless(document.name)}: client, {len(server.api_versions)} APIs sent\n"
    about = [server.role if server.role != "any" else "no Kafka server", server.security]
    about += [f"cluster {harmless(server.cluster_id)}"] if server.cluster_id else []
    about += [f"{len(server.api_versions)} APIs"] if server.api_versions else []
    about += [f"silent after {server.patience:.3g} s"] if server.patience else []
    name = harmless(document.name)
    address = harmless(server.address)
    return f"{name if name == address else f'{name} at {address}'}: {', '.join(about)}\n"


def _check_lines(
    check: CheckPart, expectations: Expectations, document: RunDocument
) -> Iterator[str]:
    judgement = expectations.judge(check)
    verdict = typer.style(f"{check.verdict.value:7}", fg=COLOURS[check.verdict])
    yield from behind(f"  {verdict} {check.id}  ", check.sentence, len(check.id) + 12)
    passed = check.verdict is ConformanceVerdict.PASS and not judgement.is_unexpected
    if passed and not check.left_behind:
        return
    for name, text in _details(check, expectations, document):
        label = typer.style(f"{name:{NAME_WIDTH}}", dim=True)
        if name == "bytes":  # a command, which has to be one line to be copied
            yield f"{_INDENT}{label}{harmless(text)}"
            continue
        yield from behind(f"{_INDENT}{label}", harmless(text), len(_INDENT) + NAME_WIDTH)


def _cause_lines(document: RunDocument) -> Iterator[str]:
    """Yield a line for each cause that several failed checks may have."""
    if document.causes:
        yield ""
    for cause in document.causes:
        came = f"{cause.api}: {cause.came}" if cause.api else cause.came
        text = f"perhaps of one cause: {_names(cause.checks)}; {harmless(came)}"
        yield from behind(f"{len(cause.checks):4} FAIL  ", text, 10)


def _details(
    check: CheckPart, expectations: Expectations, document: RunDocument
) -> Iterator[tuple[str, str]]:
    """Yield the lines about a check that did not pass, each with its name."""
    yield "source", check.source
    if check.address:
        yield "address", check.address
    if check.expected:
        yield "expected", check.expected
        yield "came", check.came
    if check.bad_end:
        yield "afterwards", check.bad_end
    if check.reason:
        yield ("members" if check.members else "because"), check.reason
    for text in check.left_behind:
        yield "left", text
    expected = expectations.verdicts.get(check.id)
    if expected is not None:
        name = "known" if check.verdict is expected.verdict else "unexpected"
        yield name, f"{expected.verdict.value} expected: {expected.why}"
    elif expectations.judge(check).is_unexpected and expectations.server:
        yield "unexpected", "the expectations have no entry for it"
    if check.verdict.is_bad or check.verdict is ConformanceVerdict.DIFFERS:
        server = document.server
        of = server.address
        if server.role == "client":
            of = "--client " + ("--wait" if of == BY_HAND else f"--exec {shlex.quote(of)}")
        yield "bytes", f"kwire conform {of} --hex {check.worst.id}"


def _skipped_lines(document: RunDocument) -> Iterator[str]:
    """Yield a line for each reason for which checks were skipped."""
    reasons: dict[str, list[str]] = {}
    for check in document:
        if check.verdict is ConformanceVerdict.SKIPPED:
            reasons.setdefault(check.reason, []).append(check.id)
    if reasons:
        yield ""
    for reason, ids in reasons.items():
        text = f"{harmless(reason)}: {_names(ids)}"
        yield from behind(typer.style(f"{len(ids):4} SKIPPED ", dim=True), text, 13)


def _names(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - NAMES_SHOWN} more" if len(ids) > NAMES_SHOWN else ""
    return f"{', '.join(ids[:NAMES_SHOWN])}{more}"


def _summary(document: RunDocument, expectations: Expectations) -> Iterator[str]:
    yield ""
    if document.problem:
        yield typer.style(f"The run ended early: {harmless(document.problem)}.", fg="red")
    if document.suspects:
        yield f"Suspects: {', '.join(document.suspects)}. Add --restart CMD to find out which."
    counts = counts_text([check.verdict for check in document])
    yield f"{_number(len(document.checks))} in {document.seconds:.1f} s: {counts}"
    if expectations.server:
        unexpected = list(expectations.unexpected(document))
        of = harmless(expectations.server)
        ids = ", ".join(unexpected)
        yield f"Not as expected of {of}: {ids}" if unexpected else f"All as expected of {of}."
        if outside := len(expectations.outside(document)):
            were = "was" if outside == 1 else "were"
            yield f"{_number(outside)} of the expectations {were} not part of this run."


def behind(start: str, text: str, indent: int) -> Iterator[str]:
    """Yield text behind its start, in lines that fit."""
    for number, line in enumerate(wrapped(text, indent)):
        yield f"{start if number == 0 else ' ' * indent}{line}"


def _number(checks: int) -> str:
    return "1 check" if checks == 1 else f"{checks} checks"
