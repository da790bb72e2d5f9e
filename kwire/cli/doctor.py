"""`kwire doctor`: everything that is wrong with a cluster, by asking each controller by itself."""

from __future__ import annotations

import functools
from enum import StrEnum
from typing import Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.errors import usage_errors
from kwire.cli.evidence import gather_evidence
from kwire.cli.findings import findings_table, show_findings
from kwire.cli.fix_plan import show_fix_plan
from kwire.cli.options import flag, option
from kwire.cli.output import Output, OutputForm, Table, text_columns


class FailOn(StrEnum):
    """The least verdict that makes the exit code 1."""

    WARNING = "warning"
    PROBLEM = "problem"


FAILING = {
    FailOn.PROBLEM: ("problem",),
    FailOn.WARNING: ("warning", "problem", "unknown"),  # what is not known may be either
}
"""The verdicts of which one makes the exit code 1."""


def _doctor(
    cluster: ClusterOptions,
    output: Output,
    only: str | None = option(
        "--only", metavar="CHECK,...", help="Only these subjects, or ids that --list prints."
    ),
    fix_plan: bool = flag(
        "--fix-plan", help="Print what to do as a list of commands, with ids and addresses."
    ),
    fail_on: FailOn = option(
        default=FailOn.PROBLEM,
        help="End with 1 at a problem; or at a warning, too, and at what is unknown.",
    ),
    list_kinds: bool = flag("--list", help="List all findings that there are, and ask no cluster."),
) -> None:
    """Find out what is wrong with a cluster and its quorum.

    Ask every controller by itself, dial the endpoints that voters advertise, and read the metadata
    log. Nothing is changed. Exit code 1 if there is a problem, or if a subject could not be checked
    at all; 0 for warnings without --fail-on warning.
    With --fix-plan the advice is a list: what is done by hand, or in one case only, is a comment.

    \b
    kwire doctor --bootstrap-controller localhost:9093
    kwire doctor --bootstrap-controller localhost:9093 --only quorum,registrations
    kwire doctor --bootstrap-controller localhost:9093 --fail-on warning
    kwire doctor --bootstrap-controller localhost:9093 --fix-plan
    kwire doctor --list
    """
    from kwire.doctor.checks.nodes import NOT_CHECKED
    from kwire.doctor.examine import examine, needs_metadata

    names = _names(only)
    evidence = gather_evidence(cluster, with_image=needs_metadata(names))
    findings = examine(evidence, names)
    output.failed = any(
        finding.id == NOT_CHECKED.id or finding.verdict.value in FAILING[fail_on]
        for finding in findings
    )
    if fix_plan:
        show_fix_plan(output, findings, cluster, evidence)
        return
    ids = sorted({node.cluster_id for node in evidence.controllers if node.cluster_id})
    table = findings_table(findings, {"clusterIds": ids})
    show_findings(output, table, findings)


_examine = asks_cluster(registry.DESCRIBE_METADATA_QUORUM)(_doctor)


@functools.wraps(_examine)
def doctor(**options: Any) -> None:
    """Run the checks, or list them: a list needs no cluster."""
    if options["list_kinds"]:
        form = OutputForm.JSON if options["as_json"] else options["output_form"]
        _list(Output(form), _names(options["only"]))
    else:
        _examine(**options)


def _names(only: str | None) -> list[str]:
    """Return the names that --only has. Raises WrongUsage for one that no check has."""
    from kwire.doctor.examine import select

    names = [name.strip() for name in (only or "").split(",") if name.strip()]
    with usage_errors():
        list(select(names))
    return names


def _list(output: Output, only: list[str]) -> None:
    from kwire.doctor.examine import select

    columns = [
        *text_columns("id", "verdict", "meaning"),
        *text_columns("advice", "source", wide=True),
    ]
    rows = [
        {
            "id": kind.id,
            "verdict": kind.verdict.value,
            "meaning": kind.meaning,
            "advice": kind.advice or None,
            "source": kind.source or None,
        }
        for kind in select(only)
    ]
    output.show(Table("findings", columns, rows))
