"""Check the nodes that were asked: those that do not answer, or do not answer everything."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.doctor.evidence import EndpointOrigin, Evidence, is_caught_up
from kwire.doctor.finding import GONE, Finding, FindingKind, FindingVerdict, fix
from kwire.doctor.unanswered import DENIED, SLOWNESS, refused_fix, rights, unreached_fix
from kwire.doctor.voter_fixes import OBSERVER_LIMIT_MS
from kwire.net.address import Address
from kwire.text.phrases import count

NEEDING_METADATA = ("registrations", "features", "brokers", "partitions")

CHECK = "kwire doctor --only nodes"

SLOW = 1.0
"""Seconds to connect and negotiate, from which on a node counts as slow."""

NONE_ANSWER = FindingKind(
    id="nodes/none-answer",
    verdict=FindingVerdict.PROBLEM,
    meaning="None of the addresses that were given is answered by a node of Kafka.",
    advice="depending on the reason: start the nodes, or correct the addresses, or TLS and SASL in"
    " the file of --command-config",
    source="KIP-919",
    unasked=True,
)
UNREACHABLE = FindingKind(
    id="nodes/unreachable",
    verdict=FindingVerdict.WARNING,
    meaning="A bootstrap address is not answered, though others are.",
    advice="depending on the reason: start the node, or leave the address out where it is used",
    source="KIP-899",
    unasked=True,
)
NOT_ASKED = FindingKind(
    id="nodes/not-asked",
    verdict=FindingVerdict.UNKNOWN,
    meaning="A controller that does not vote fetches from the leader, and does not answer from"
    " here: what it would tell is not known.",
    advice="check from here the endpoint that it advertises",
    source="KIP-919",
    unasked=True,
)
SLOW_NODE = FindingKind(
    id="nodes/slow",
    verdict=FindingVerdict.WARNING,
    meaning=f"A node takes more than {SLOW:.0f} s to accept a connection and tell its APIs.",
    advice=f"look for {SLOWNESS}",
    source="KIP-35",
)
REFUSED = FindingKind(
    id="nodes/refused",
    verdict=FindingVerdict.UNKNOWN,
    meaning="A node answers but refuses a request; the checks that need its answer are incomplete.",
    advice="depending on the reason: with an authorizer, give the principal DESCRIBE,"
    " DESCRIBE_CONFIGS and CLUSTER_ACTION on the cluster; controllers older than Kafka 3.7 do not"
    " have all of these requests",
    source="KIP-919",
    unasked=True,
)
NO_IMAGE = FindingKind(
    id="nodes/no-metadata",
    verdict=FindingVerdict.UNKNOWN,
    meaning="The metadata log was not read: registrations, brokers, partitions and features are"
    " not checked.",
    advice="when a controller leads again, run kwire doctor again; with an authorizer, allow"
    " CLUSTER_ACTION on the cluster",
    source="KIP-595",
    unasked=True,
)
FINE = FindingKind(
    id="nodes/ok",
    verdict=FindingVerdict.OK,
    meaning="The nodes that answer answered all that they were asked, in time.",
)
NOT_CHECKED = FindingKind(
    id="nodes/not-checked",
    verdict=FindingVerdict.UNKNOWN,
    meaning="No answer that these checks need was given, so that nothing is known of their"
    " subjects. The exit code is 1.",
    advice="mend the findings that tell who was not asked, and run kwire doctor again",
    source="KIP-919",
)
KINDS = (NONE_ANSWER, UNREACHABLE, NOT_ASKED, SLOW_NODE, REFUSED, NO_IMAGE, FINE, NOT_CHECKED)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report nodes that are silent, slow, or refuse, and a metadata log that was not read."""
    answering = [node for node in evidence.nodes if node.answers]
    failures = [node.failure for node in evidence.nodes if node.failure]
    if not answering:
        text = "no node answers at the addresses that were given"
        yield NONE_ANSWER(text, *failures, fixes=[unreached_fix(evidence.nodes, CHECK)])
        return
    bootstrap = {
        endpoint.address
        for endpoint in evidence.endpoints
        if endpoint.origin is EndpointOrigin.BOOTSTRAP
    }
    others = _not_asked(evidence, bootstrap)
    yield from others
    fine = not others
    for node in evidence.nodes:
        if node.failure and node.address in bootstrap:
            fine = False
            text = f"nobody answers at {node.address}"
            leave = fix(f"leave the address {node.address} out where it is used", when=GONE)
            fixes = [unreached_fix([node], CHECK), leave]
            yield UNREACHABLE(text, node.failure, fixes=fixes)
        elif node.answers and node.seconds > SLOW:
            fine = False
            look = f"look at {node.name} for {SLOWNESS}"
            text = f"{node.name} took {node.seconds:.1f} s to answer at {node.address}"
            yield SLOW_NODE(text, fixes=[fix(look, f"kwire doctor --only {SLOW_NODE.id}")])
        if node.refusals:
            fine = False
            names = " and ".join(sorted(node.refusals))
            reasons = (f"{name}: {reason}" for name, reason in sorted(node.refusals.items()))
            mend = refused_fix(evidence, [node], f"kwire doctor --only {REFUSED.id}")
            yield REFUSED(f"{node.name} does not answer {names}", *reasons, fixes=[mend])
    if evidence.image is None and evidence.no_image:
        fine = False
        text = f"the metadata log was not read: {evidence.no_image}"
        yield NO_IMAGE(text, fixes=[fix(*_read_again(evidence))])
    if fine:
        silent = len(evidence.nodes) - len(answering)
        rest = f", {silent} did not" if silent else ""
        yield FINE(f"{count(len(answering), 'node')} answered{rest}")


def _read_again(evidence: Evidence) -> list[str]:
    """Return the steps after which the metadata log can be read."""
    again = f"kwire doctor --only {','.join(NEEDING_METADATA)}"
    if DENIED in evidence.no_image:
        return [*rights(evidence), again]
    if evidence.quorum is None:
        return ["mend the findings of quorum and of nodes", again]
    return [f"{again} --timeout 300"]


def _not_asked(evidence: Evidence, bootstrap: set[Address]) -> list[Finding]:
    """Return the live controllers that no other check tells of: endpoints/* are about voters."""
    quorum = evidence.quorum
    # The leader lists one that has gone for minutes.
    live = {
        observer.replica_id
        for observer in (quorum.observers if quorum else ())
        if quorum and is_caught_up(quorum, observer, OBSERVER_LIMIT_MS)
    }
    return [
        NOT_ASKED(
            f"controller {endpoint.node_id} does not answer",
            node.failure or "",
            fixes=[
                fix(
                    f"check from here {endpoint.address}, which controller {endpoint.node_id}"
                    " advertises: it runs, and follows the leader"
                )
            ],
        )
        for endpoint in {known.address: known for known in evidence.endpoints}.values()
        if (node := evidence.at(endpoint.address)) is not None
        and not node.answers
        and endpoint.address not in bootstrap
        and endpoint.node_id in live
    ]
