"""`kwire doctor --fix-plan`: the advice of all findings as a list of commands for a shell.

Steps that no command can do, and steps for one case only, are printed as comments.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from kwire.cli.cluster_options import ClusterOptions
from kwire.cli.output import Output, Table, text_columns
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.doctor.evidence import Evidence
    from kwire.doctor.finding import Finding, Fix

COLUMNS = text_columns("finding", "sentence", "when", "step", "isCommand")


def show_fix_plan(
    output: Output, findings: Sequence[Finding], cluster: ClusterOptions, evidence: Evidence
) -> None:
    """Print the steps of all findings; a command has the options that name the cluster."""
    rows = [*_rows(findings, cluster, evidence)]
    if not output.is_for_people:
        output.show(Table("steps", COLUMNS, rows))
        return
    before: dict[str, Any] = {}
    for row in rows:
        finding = (row["finding"], row["sentence"])
        if finding != (before.get("finding"), before.get("sentence")):
            typer.echo(f"# {row['finding']}: {harmless(row['sentence'])}")
        elif row["when"] != before["when"]:
            typer.echo("#   or:")
        if row["when"] and row["when"] != before.get("when"):
            typer.echo(f"#   {harmless(row['when'])}:")
        runs = row["isCommand"] and not row["when"]
        typer.echo(f"{'' if runs else '#   '}{harmless(row['step'])}")
        before = row
    if not rows:
        typer.echo("# nothing to do")


def _rows(
    findings: Sequence[Finding], cluster: ClusterOptions, evidence: Evidence
) -> Iterator[dict[str, Any]]:
    seen: dict[Fix, str] = {}
    for finding in findings:
        for item in finding.fixes:
            if (first := seen.setdefault(item, finding.id)) != finding.id and len(item.steps) > 1:
                yield _row(finding, item, f"as for {first}", is_command=False)
                continue
            for step in item.steps:
                is_command = step in item.commands
                text = with_cluster(step, cluster, evidence) if is_command else step
                yield _row(finding, item, text, is_command=is_command)


def _row(finding: Finding, item: Fix, step: str, *, is_command: bool) -> dict[str, Any]:
    return {
        "finding": finding.id,
        "sentence": finding.sentence,
        "when": item.when or None,
        "step": step,
        "isCommand": is_command,
    }


def with_cluster(command: str, cluster: ClusterOptions, evidence: Evidence) -> str:
    """Return a command with the options that the doctor was given.

    `kwire migration` reads the metadata log, which only controllers give.
    """
    options = ["--bootstrap-server", cluster.server or ""]
    if cluster.controller:
        options = ["--bootstrap-controller", cluster.controller]
    elif command.startswith("kwire migration "):
        options = ["--bootstrap-controller", ",".join(map(str, evidence.bootstrap_servers))]
    if cluster.command_config is not None:
        options += ["--command-config", str(cluster.command_config)]
    return f"{command} {shlex.join(options)}"
