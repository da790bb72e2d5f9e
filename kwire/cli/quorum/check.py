"""`kwire quorum check`: a probe of one controller, and the question if it may be restarted."""

from __future__ import annotations

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.evidence import gather_evidence_briefly
from kwire.cli.findings import findings_table, show_findings
from kwire.cli.options import option
from kwire.cli.output import Output


@asks_cluster(registry.DESCRIBE_METADATA_QUORUM)
def check(
    cluster: ClusterOptions,
    output: Output,
    node: int | None = option(
        "--node", metavar="ID", min=0, help="Does this controller lead, or follow?"
    ),
    without_id: int | None = option(
        "--without", metavar="ID", min=0, help="May this controller be restarted?"
    ),
) -> None:
    """Check that the quorum works. Exit code 1 if it does not, for probes and scripts.

    With --node, one controller: it fails if it answers but follows nobody, or does not answer.
    With --without, the others: it fails unless a majority of the voters is caught up without it.

    \b
    kwire quorum check --node 3 --bootstrap-controller localhost:9093
    kwire quorum check --without 3 --bootstrap-controller localhost:9093 && kubectl delete pod c-3
    """
    from kwire.doctor.quorum_check import takes_part, without, works

    evidence = gather_evidence_briefly(cluster, node)
    findings = [] if node is None else [takes_part(evidence, node)]
    findings += [] if without_id is None else [without(evidence, without_id)]
    if not findings:
        findings = list(works(evidence))
    show_findings(
        output,
        findings_table(findings),
        findings,
        summary=False,
        failing=("problem", "unknown"),
    )
