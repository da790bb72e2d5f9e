"""A run of `kwire conform`: its progress, its interruption, its reports and its exit code."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import typer

from kwire.cli.conform.options import ConformOptions, ReportNotWritten
from kwire.cli.conform.screen import show_run
from kwire.cli.errors import INTERRUPTED
from kwire.cli.event_loop import run
from kwire.cli.screen import screen
from kwire.conform.check import FIRST
from kwire.conform.report.document import RunDocument, document_of, to_json
from kwire.conform.report.expected import ANY_VERDICT, Expectations, read_expectations
from kwire.conform.result import CheckResult, ConformanceRun
from kwire.conform.suite import SuiteOptions, SuiteStart, run_suite, unfinished
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.net.address import Address
from kwire.text.untrusted import harmless

STOPPED = "stopped with Ctrl-C or SIGTERM"


@dataclass(kw_only=True)
class RunUnderWay:
    """A run under way: what is known of it if it is stopped. start: None before it has begun."""

    results: dict[str, CheckResult] = field(default_factory=dict)
    start: SuiteStart | None = None

    def begin(self, start: SuiteStart) -> None:
        """Take the start, and say what earlier runs have left."""
        self.start = start
        left = start.leftovers
        for what, names in (
            ("Removed, left by an earlier run", left.removed),
            ("Left alone, perhaps in use by another run (--clean removes them)", left.kept),
            ("Left by an earlier run, and cannot be removed", left.failed),
        ):
            if names:
                shown = ", ".join(map(harmless, names[:3]))
                more = f" and {len(names) - 3} more" if len(names) > 3 else ""
                screen(stderr=True).print(f"{what}: {shown}{more}.", style="dim")


def run_and_report(address: Address, options: SuiteOptions, report: ConformOptions) -> None:
    """Run the checks, report, and exit: 0, 1, or 130 after Ctrl-C, with what was seen until then.

    Raises BadExpectations, WrongUsage, KwireError, ReportNotWritten.
    """
    check_files(report)
    expectations = read_expectations(report.expect) if report.expect else ANY_VERDICT
    started = time.time()
    under_way = RunUnderWay()
    try:
        done = run_with_progress(address, options, under_way)
        is_stopped = False
    except KeyboardInterrupt:
        if under_way.start is None:
            raise
        seconds = time.time() - started
        done = unfinished(under_way.start, under_way.results, STOPPED, seconds)
        is_stopped = True
    assert under_way.start is not None
    checks = (FIRST, *under_way.start.checks)
    document = document_of(done, checks, started=started, name=report.name or "")
    failed = report_run(document, expectations, report)
    if is_stopped:
        raise typer.Exit(INTERRUPTED)
    if failed:
        raise typer.Exit(1)


def report_run(document: RunDocument, expectations: Expectations, report: ConformOptions) -> bool:
    """Print a run and write its files; return True if it is not as it should be, or not known."""
    unexpected = tuple(expectations.unexpected(document))
    if report.expect:
        document = with_unexpected(document, unexpected)
    if report.as_json:
        typer.echo(to_json(document), nl=False)
    else:
        show_run(document, expectations, verbose=report.verbose)
    write_files(document, expectations, report)
    if document.problem and not expectations.expects_death(document):
        return True
    skipped = [
        check.verdict is ConformanceVerdict.SKIPPED for check in document if check.id != FIRST.id
    ]
    if skipped and all(skipped) and not report.expect:
        screen(stderr=True).print("Nothing was checked: every check was skipped.", style="bold")
        return True
    return bool(unexpected)


def with_unexpected(document: RunDocument, unexpected: tuple[str, ...]) -> RunDocument:
    """Return the document with the ids that are not as expected."""
    import msgspec

    return msgspec.structs.replace(document, unexpected=unexpected)


def write_files(document: RunDocument, expectations: Expectations, report: ConformOptions) -> None:
    """Write the files that the options name. Raises ReportNotWritten, MissingExtra."""
    if report.save:
        write_file(report.save, to_json(document))
    if report.junit:
        from kwire.conform.report.junit import to_junit

        write_file(report.junit, to_junit(document, expectations))
    if report.html:
        from kwire.conform.report.html_matrix import to_html

        write_file(report.html, to_html([document], [expectations]).encode())


def check_files(report: ConformOptions) -> None:
    """Raise before a run what write_files would raise after it."""
    for path in filter(None, (report.save, report.junit, report.html)):
        claim(path)
    if report.html:
        from kwire.conform.report.html_matrix import to_html

        to_html([])


def claim(path: Path) -> None:
    """Raise ReportNotWritten if no file can be written there."""
    with writing(path):
        is_new = not os.path.lexists(path)
        if is_new or path.is_dir() or path.is_file():  # no pipe: its reader would see an end
            path.open("ab").close()
        if is_new:
            path.unlink()


def write_file(path: Path, data: bytes) -> None:
    """Write a file. Raises ReportNotWritten."""
    with writing(path):
        path.write_bytes(data)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise ReportNotWritten for a file or folder that cannot be written inside."""
    try:
        yield
    except OSError as error:
        raise ReportNotWritten(f"cannot write {path}: {error.strerror}.") from error


def run_with_progress(
    address: Address, options: SuiteOptions, under_way: RunUnderWay
) -> ConformanceRun:
    """Run the checks; on a terminal show how many are done."""
    with progress("checks", "looking at the server") as advance:

        def take(result: CheckResult) -> None:
            under_way.results[result.id] = result
            total = 1 + (len(under_way.start.checks) if under_way.start else 0)
            bad = sum(result.verdict.is_bad for result in under_way.results.values())
            advance(len(under_way.results), total, bad)

        return run(run_suite(address, options, on_start=under_way.begin, on_result=take))


@contextmanager
def progress(what: str, begin: str = "") -> Iterator[Callable[[int, int, int], None]]:
    """Show on a terminal how many are done. begin: shown until the first is."""
    console = screen(stderr=True)
    if not console.is_terminal:
        yield lambda done, total, bad: None
        return
    with console.status(begin or f"the first {what}") as status:

        def advance(done: int, total: int, bad: int) -> None:
            failed = f", {bad} failed" if bad else ""
            status.update(f"{done} of {total} {what}{failed}")

        yield advance
