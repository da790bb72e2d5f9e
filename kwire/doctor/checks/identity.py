"""Check that all controllers belong to one cluster and one quorum."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from uuid import UUID

from kwire.admin.quorum import QuorumInfo
from kwire.doctor.evidence import Evidence, NodeEvidence
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, fix
from kwire.text.phrases import listed

CLUSTER_IDS = FindingKind(
    id="identity/cluster-ids-differ",
    verdict=FindingVerdict.PROBLEM,
    meaning="Controllers that were asked belong to different clusters. A node with the wrong"
    " cluster id does not stop: it logs INCONSISTENT_CLUSTER_ID over and over.",
    advice="if it is meant to belong to this cluster, stop it and format it anew with this cluster"
    " id; else take it out of the addresses",
    source="KAFKA-14205",
)
TWO_QUORUMS = FindingKind(
    id="identity/two-quorums",
    verdict=FindingVerdict.PROBLEM,
    meaning="Two controllers lead quorums without a common voter under one cluster id: a node was"
    " formatted as the first of a quorum of its own, or its disk was wiped.",
    advice="stop the quorum without the cluster's metadata at once, before brokers reach it, and"
    " format its nodes with --no-initial-controllers",
    source="KAFKA-19489",
)
TWO_LEADERS = FindingKind(
    id="identity/two-leaders",
    verdict=FindingVerdict.WARNING,
    meaning="Two controllers of one quorum answer as leader. During an election that is so for a"
    " moment: the one of the lower epoch does not know yet.",
    advice="run kwire doctor again; if it stays, the older leader is cut off from the others",
    source="KIP-595",
)
FINE = FindingKind(
    id="identity/ok",
    verdict=FindingVerdict.OK,
    meaning="All controllers have one cluster id and belong to one quorum.",
)
KINDS = (CLUSTER_IDS, TWO_QUORUMS, TWO_LEADERS, FINE)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Compare cluster ids, and the voter sets of all that lead."""
    clusters: dict[str, list[NodeEvidence]] = {}
    for node in evidence.controllers:
        if node.cluster_id is not None:
            clusters.setdefault(node.cluster_id, []).append(node)
    findings = []
    if len(clusters) > 1:
        parts = [f"{_names(nodes)}: {cluster_id}" for cluster_id, nodes in clusters.items()]
        # The first address that was given stands for the cluster that is meant.
        own, *others = clusters
        mend = [
            fix(
                f"stop {_names(clusters[other])} and format anew with cluster id {own}",
                when=f"if {_names(clusters[other])} are meant to belong to {own}",
            )
            for other in others
        ]
        mend.append(fix("leave their addresses out", when="if not"))
        text = f"the controllers belong to {len(clusters)} clusters"
        findings.append(CLUSTER_IDS(text, *parts, fixes=mend))
    for nodes in clusters.values():
        leaders = [node for node in nodes if node.quorum is not None]
        for first, second in combinations(leaders, 2):
            findings.append(_two(first, second))
    yield from findings
    if clusters and not findings:
        yield FINE(f"the cluster id is {next(iter(clusters))}")


def _two(first: NodeEvidence, second: NodeEvidence) -> Finding:
    assert first.quorum is not None
    assert second.quorum is not None
    text = f"{_leads(first, first.quorum)}; {_leads(second, second.quorum)}"
    if _keys(first.quorum) & _keys(second.quorum):
        older = min(
            (first, second), key=lambda node: node.quorum.leader_epoch if node.quorum else 0
        )
        cut_off = fix(f"check the way of {older.name} to the others", when="if it stays")
        return TWO_LEADERS(text, fixes=[fix(f"kwire doctor --only {TWO_LEADERS.id}"), cut_off])
    # The one with less of a log is the younger; both are named, since brokers may know either.
    younger = min(
        (first, second), key=lambda node: node.quorum.high_watermark if node.quorum else 0
    )
    mend = (
        f"if the cluster's metadata is not there, stop {younger.name} at once, before brokers reach"
        " it, and format its disk with --no-initial-controllers"
    )
    return TWO_QUORUMS(f"{text}: two quorums of one cluster id", fixes=[fix(mend)])


def _leads(node: NodeEvidence, quorum: QuorumInfo) -> str:
    voters = listed(voter.replica_id for voter in quorum.voters) if quorum.voters else "no"
    return f"{node.name} leads epoch {quorum.leader_epoch} with voters {voters}"


def _keys(quorum: QuorumInfo) -> set[tuple[int, UUID | None]]:
    return {(voter.replica_id, voter.replica_directory_id) for voter in quorum.voters}


def _names(nodes: list[NodeEvidence]) -> str:
    return ", ".join(node.name for node in nodes)
