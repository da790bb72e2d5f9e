"""Check the nodes that were asked: those that do not answer, or do not answer everything."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.doctor.evidence import EndpointOrigin, Evidence, count
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict

SLOW = 1.0
"""Seconds to connect and negotiate, from which on a node counts as slow."""

NONE_ANSWER = FindingKind(
    id="nodes/none-answer",
    verdict=FindingVerdict.PROBLEM,
    meaning="None of the addresses that were given is answered by a node of Kafka.",
    advice="check the addresses, and with TLS or SASL the file of --command-config; start the"
    " nodes",
    source="KIP-919",
)
UNREACHABLE = FindingKind(
    id="nodes/unreachable",
    verdict=FindingVerdict.WARNING,
    meaning="A bootstrap address is not answered, though others are.",
    advice="start the node, or leave the address out where it is used",
    source="KIP-899",
)
SLOW_NODE = FindingKind(
    id="nodes/slow",
    verdict=FindingVerdict.WARNING,
    meaning=f"A node takes more than {SLOW:.0f} s to accept a connection and tell its APIs.",
    advice="look for a long pause of garbage collection, a slow disk, slow name lookup, or a host"
    " that is overloaded",
    source="KIP-35",
)
REFUSED = FindingKind(
    id="nodes/refused",
    verdict=FindingVerdict.UNKNOWN,
    meaning="A node answers but refuses a request; the checks that need its answer are incomplete.",
    advice="with an authorizer, give the principal DESCRIBE, DESCRIBE_CONFIGS and CLUSTER_ACTION on"
    " the cluster; controllers older than Kafka 3.7 do not have all of these requests",
    source="KIP-919",
)
NO_IMAGE = FindingKind(
    id="nodes/no-metadata",
    verdict=FindingVerdict.UNKNOWN,
    meaning="The metadata log was not read: registrations, brokers, partitions and features are"
    " not checked.",
    advice="when a controller leads again, run kwire doctor again; with an authorizer, allow"
    " CLUSTER_ACTION on the cluster",
    source="KIP-595",
)
FINE = FindingKind(
    id="nodes/ok",
    verdict=FindingVerdict.OK,
    meaning="The nodes that answer answered all that they were asked, in time.",
)
KINDS = (NONE_ANSWER, UNREACHABLE, SLOW_NODE, REFUSED, NO_IMAGE, FINE)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report nodes that are silent, slow, or refuse, and a metadata log that was not read."""
    answering = [node for node in evidence.nodes if node.answers]
    failures = [node.failure for node in evidence.nodes if node.failure]
    if not answering:
        yield NONE_ANSWER("no node answers at the addresses that were given", *failures)
        return
    bootstrap = {
        endpoint.address
        for endpoint in evidence.endpoints
        if endpoint.origin is EndpointOrigin.BOOTSTRAP
    }
    fine = True
    for node in evidence.nodes:
        if node.failure and node.address in bootstrap:
            fine = False
            yield UNREACHABLE(f"nobody answers at {node.address}", node.failure)
        elif node.answers and node.seconds > SLOW:
            fine = False
            yield SLOW_NODE(f"{node.name} took {node.seconds:.1f} s to answer at {node.address}")
        if node.refusals:
            fine = False
            names = " and ".join(sorted(node.refusals))
            reasons = (f"{name}: {reason}" for name, reason in sorted(node.refusals.items()))
            yield REFUSED(f"{node.name} does not answer {names}", *reasons)
    if evidence.image is None and evidence.no_image:
        fine = False
        yield NO_IMAGE(f"the metadata log was not read: {evidence.no_image}")
    if fine:
        silent = len(evidence.nodes) - len(answering)
        others = f", {silent} did not" if silent else ""
        yield FINE(f"{count(len(answering), 'node')} answered{others}")
