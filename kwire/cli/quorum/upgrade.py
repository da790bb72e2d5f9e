"""`kwire quorum upgrade`: the steps from static to dynamic voters, and what is done of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.errors import WrongUsage
from kwire.cli.evidence import gather_evidence
from kwire.cli.options import flag
from kwire.cli.output import Output, Table, number_columns, text_columns
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.doctor.upgrade_plan import PlanStep


COLOURS = {"done": "green", "next": "yellow", "unknown": "magenta"}

COLUMNS = [
    *number_columns("step", "node"),
    *text_columns("state", "sentence", "evidence", "command"),
]


@asks_cluster(registry.DESCRIBE_METADATA_QUORUM)
def upgrade(
    cluster: ClusterOptions,
    output: Output,
    plan: bool = flag("--plan", help="Print the steps; the command does no more."),
) -> None:
    """Plan the upgrade from static to dynamic voters (KIP-853): each step with what is done.

    Every node is asked, and nothing is changed: the steps are commands and edits of your own. Run
    it again after each. Exit code 1 if a step could not be looked at.

    \b
    kwire quorum upgrade --plan --bootstrap-controller localhost:9093
    """
    if not plan:
        raise WrongUsage("add --plan: it prints the steps, each of which is yours to do.")
    from kwire.doctor.upgrade_plan import StepState, upgrade_plan

    evidence = gather_evidence(cluster, all_brokers=True)
    steps = upgrade_plan(evidence)
    output.failed = output.failed or any(step.state is StepState.UNKNOWN for step in steps)
    if not output.is_for_people:
        ids = sorted({node.cluster_id for node in evidence.controllers if node.cluster_id})
        rows = [
            {
                "step": step.number,
                "node": step.node_id,
                "state": step.state.value,
                "sentence": step.sentence,
                "evidence": list(step.evidence),
                "command": step.command or None,
            }
            for step in steps
        ]
        output.show(Table("steps", COLUMNS, rows, facts={"clusterIds": ids}))
        return
    for step in steps:
        _show(step)


def _show(step: PlanStep) -> None:
    state = step.state.value
    word = typer.style(f"{state:8}", fg=COLOURS.get(state))
    typer.echo(f"{step.number}  {word} {harmless(step.sentence)}")
    for text in step.evidence:
        typer.echo(typer.style(f"            - {harmless(text)}", dim=True))
    if step.command and state != "done":
        typer.echo(f"            > {harmless(step.command)}")
