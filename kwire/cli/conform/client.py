"""`kwire conform --client`: the cases of a client, which a command or somebody starts."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence

import typer

from kwire.cli.conform.check_bytes import show_part
from kwire.cli.conform.options import ConformOptions
from kwire.cli.conform.run import STOPPED, check_files, progress, report_run
from kwire.cli.errors import INTERRUPTED, WrongUsage, usage_errors
from kwire.cli.event_loop import run
from kwire.cli.output import Column, Output, OutputForm, Table, text_columns
from kwire.cli.screen import screen
from kwire.conform.clients.case import RECORDS, ClientCase
from kwire.conform.clients.run_case import (
    CLIENT_LIMIT,
    ClientByHand,
    ClientProgram,
    ClientUnderTest,
    group_of,
    topic_of,
)
from kwire.conform.clients.suite import ClientRun, run_cases, select_cases
from kwire.conform.report.client import client_document
from kwire.conform.report.document import BY_HAND
from kwire.conform.report.expected import ANY_VERDICT, read_expectations
from kwire.conform.result import CheckResult, skipped
from kwire.conform.runner import RUN_LIMIT
from kwire.net.address import Address


def check_client(options: ConformOptions) -> None:
    """Run the cases, report, and exit: 0, 1, or 130 after Ctrl-C, with what was seen until then.

    Raises WrongUsage, ProgramNotStarted, ReportNotWritten.
    """
    ids = [options.hex_id] if options.hex_id else options.words
    with usage_errors():
        cases = select_cases(ids)
    client = _client(options)
    check_files(options)
    expectations = read_expectations(options.expect) if options.expect else ANY_VERDICT
    started = time.time()
    client_run = ClientRun(cases=cases)
    is_stopped = _run(client, client_run, options.time_limit or RUN_LIMIT)
    client_run.seconds = client_run.seconds or time.time() - started  # it was stopped
    command = options.execute or BY_HAND
    document = client_document(client_run, command, name=options.name or "", started=started)
    if options.hex_id:
        show_part(document.checks[0], requests_come=True, as_json=options.as_json)
        return
    failed = report_run(document, expectations, options)
    if is_stopped:
        raise typer.Exit(INTERRUPTED)
    if failed:
        raise typer.Exit(1)


def _client(options: ConformOptions) -> ClientUnderTest:
    if options.wait == (options.execute is not None):
        raise WrongUsage(
            "--client wants --exec 'COMMAND {bootstrap} {task} {topic}', or --wait for one that "
            "you start yourself."
        )
    if options.execute is None:
        return ClientByHand(announce=_announce, limit=options.patience or RUN_LIMIT)
    try:
        words = shlex.split(options.execute)
    except ValueError as error:
        raise WrongUsage(f"--exec is no command: {error}.") from error
    if not any("{bootstrap}" in word for word in words):
        raise WrongUsage(
            "--exec has no {bootstrap}: the client would not find kwire. "
            "kwire conform --client --exec 'python my.py {bootstrap}'"
        )
    return ClientProgram(words=words, limit=options.patience or CLIENT_LIMIT)


def _run(client: ClientUnderTest, client_run: ClientRun, limit: float) -> bool:
    """Run the cases; return True if Ctrl-C ended it."""
    with progress("cases") as advance:

        def take(result: CheckResult) -> None:
            bad = sum(known.verdict.is_bad for known in client_run.results.values())
            advance(len(client_run.results), len(client_run.cases), bad)

        try:
            run(run_cases(client, client_run, limit=limit, on_result=take))
            return False
        except KeyboardInterrupt:
            client_run.problem = STOPPED
            for case in client_run.cases:
                client_run.results.setdefault(case.id, skipped(case.id, STOPPED))
            return True


def _announce(case: ClientCase, bootstrap: Address, limit: float) -> None:
    screen(stderr=True).print(
        f"{case.id}: start the client with bootstrap {bootstrap}, task {case.task.value}, "
        f"topic {topic_of(case)}, group {group_of(case)}, {RECORDS} records. kwire waits "
        f"{limit:g} s. {case.sentence}",
        markup=False,
        highlight=False,
    )


def list_cases(ids: Sequence[str], *, as_json: bool) -> None:
    """Print cases with their tasks, sentences and sources. Raises InvalidValue."""
    columns = [Column(key="id", whole=True), *text_columns("task", "sentence", "source")]
    rows = [
        {
            "id": case.id,
            "task": case.task.value,
            "sentence": case.sentence,
            "source": str(case.source),
        }
        for case in select_cases(ids)
    ]
    Output(OutputForm.JSON if as_json else OutputForm.TABLE).show(Table("cases", columns, rows))
