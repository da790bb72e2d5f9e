"""Check the voters' endpoints: dialled from here, the voter itself must answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kwire.doctor.evidence import EndpointOrigin, Evidence, KnownEndpoint, NodeEvidence, Unreachable
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, Fix, fix
from kwire.doctor.unanswered import refused_fix, remedy
from kwire.net.address import is_loopback, is_wildcard
from kwire.text.phrases import count

WILDCARD = FindingKind(
    id="endpoints/wildcard",
    verdict=FindingVerdict.PROBLEM,
    meaning="A voter advertises 0.0.0.0 or ::, to which nobody can connect: when the leader goes,"
    " the others cannot elect this one.",
    advice="set advertised.listeners of the controller and restart it",
    source="KAFKA-20661",
)
UNRESOLVABLE = FindingKind(
    id="endpoints/unresolvable",
    verdict=FindingVerdict.PROBLEM,
    meaning="The name of the host that a voter advertises does not resolve from here.",
    advice="check the name, and on the other controllers that it resolves there",
    source="KAFKA-20380",
    unasked=True,
)
NOBODY = FindingKind(
    id="endpoints/nobody-answers",
    verdict=FindingVerdict.PROBLEM,
    meaning="Nobody answers from here at an endpoint that a voter advertises. It may still fetch"
    " from the leader; yet when the leader goes, it cannot be elected nor asked for its vote. For a"
    " voter that is down this is a warning.",
    advice="check advertised.listeners there; the other controllers may still reach it: run kwire"
    " doctor on one of them",
    source="KAFKA-20661",
    unasked=True,
)
OTHER_NODE = FindingKind(
    id="endpoints/other-node",
    verdict=FindingVerdict.PROBLEM,
    meaning="Another node answers at an endpoint that a voter advertises.",
    advice="correct advertised.listeners of the voter, or the address it was added with, and"
    " restart it",
    source="KAFKA-18281",
)
OTHER_CLUSTER = FindingKind(
    id="endpoints/other-cluster",
    verdict=FindingVerdict.PROBLEM,
    meaning="A node of another cluster answers at an endpoint that a voter advertises.",
    advice="correct advertised.listeners of the voter and restart it",
    source="KAFKA-14205",
)
LOOPBACK = FindingKind(
    id="endpoints/loopback",
    verdict=FindingVerdict.WARNING,
    meaning="A voter advertises localhost, which from every other machine means that machine.",
    advice="set advertised.listeners of the controller to a name that all nodes resolve",
    source="KAFKA-20661",
)
UNNAMED = FindingKind(
    id="endpoints/unnamed",
    verdict=FindingVerdict.UNKNOWN,
    meaning="A controller answers at the endpoint of a voter but does not tell its node id, so that"
    " it may be another one.",
    advice="depending on the reason: upgrade the controller, restart it, reduce its load, or with"
    " an authorizer allow DESCRIBE_CONFIGS on the cluster",
    source="KIP-919",
    unasked=True,
)
OTHER_PROTOCOL = FindingKind(
    id="endpoints/other-protocol",
    verdict=FindingVerdict.UNKNOWN,
    meaning="A listener of a voter has another security protocol than this client, so that it was"
    " not looked at.",
    advice="run kwire doctor again with a --command-config for that protocol",
    source="KIP-919",
    unasked=True,
)
NOT_DIALLED = FindingKind(
    id="endpoints/not-dialled",
    verdict=FindingVerdict.UNKNOWN,
    meaning="No endpoint of a voter is known here, or one was not dialled because there are too"
    " many.",
    advice="run kwire doctor again with the address of this controller",
    source="KIP-919",
    unasked=True,
)
FINE = FindingKind(
    id="endpoints/ok",
    verdict=FindingVerdict.OK,
    meaning="Each voter answers at each endpoint that it advertises.",
)
CHECK = "kwire doctor --only endpoints"

KINDS = (
    WILDCARD,
    UNRESOLVABLE,
    NOBODY,
    OTHER_NODE,
    OTHER_CLUSTER,
    LOOPBACK,
    UNNAMED,
    OTHER_PROTOCOL,
    NOT_DIALLED,
    FINE,
)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report endpoints of voters that do not lead to the voter."""
    endpoints = _of_voters(evidence)
    findings = [finding for endpoint in endpoints for finding in _judge(evidence, endpoint)]
    voters = {voter.replica_id for voter in evidence.quorum.voters} if evidence.quorum else set()
    findings += [
        NOT_DIALLED(
            f"no endpoint of voter {node_id} is known",
            fixes=[fix(f"run kwire doctor again with the address of controller {node_id} as well")],
        )
        for node_id in sorted(voters - {endpoint.node_id for endpoint in endpoints})
    ]
    yield from findings
    if endpoints and not findings:
        who = "the voters" if evidence.quorum else "the controllers that are known"
        yield FINE(f"{who} answer at {count(len(endpoints), 'endpoint')}, each itself")


def _of_voters(evidence: Evidence) -> list[KnownEndpoint]:
    """Return the endpoints in the voter set, then registered ones of voters that have others."""
    quorum = evidence.quorum
    voters = {voter.replica_id for voter in quorum.voters} if quorum else None
    unique: dict[object, KnownEndpoint] = {}
    # DescribeCluster tells addresses without the listener's name, the metadata log with it.
    endpoints = sorted(evidence.endpoints, key=lambda endpoint: endpoint.listener is None)
    for origin in (EndpointOrigin.VOTER_SET, EndpointOrigin.REGISTRATION):
        for endpoint in endpoints:
            is_voter = endpoint.node_id is not None and (
                voters is None or endpoint.node_id in voters
            )
            if endpoint.origin is origin and is_voter:
                unique.setdefault((endpoint.node_id, endpoint.address), endpoint)
    return list(unique.values())


def _judge(evidence: Evidence, endpoint: KnownEndpoint) -> Iterator[Finding]:
    subject = f"{_named(evidence, endpoint)} advertises {endpoint}"
    mend = [
        fix(
            f"set advertised.listeners of controller {endpoint.node_id} to an address at which it"
            " answers all others, and restart it",
            CHECK,
        )
    ]
    source = f"from the {endpoint.origin.value}"
    node = evidence.at(endpoint.address)
    if is_wildcard(endpoint.address.host):
        yield WILDCARD(f"{subject}, to which nobody can connect", source, fixes=mend)
        return
    if is_loopback(endpoint.address.host) and not _is_local(evidence):
        yield LOOPBACK(f"{subject}, which no other machine reaches", source, fixes=mend)
    protocol = _registered_protocol(evidence, endpoint)
    if protocol not in (None, evidence.protocol) and not (node and node.answers):
        ours = f"we speak {evidence.protocol}"
        again = f"run kwire doctor again with a --command-config whose protocol is {protocol}"
        text = f"{subject}, whose protocol is {protocol}; {ours}"
        yield OTHER_PROTOCOL(text, source, fixes=[fix(again)])
        return
    if node is None:
        again = f"run kwire doctor again with {endpoint.address} as well"
        yield NOT_DIALLED(f"{subject}, which was not dialled", source, fixes=[fix(again)])
    elif not node.answers:
        yield _unanswered(evidence, endpoint, node, subject, mend)
    elif not node.is_controller:
        yield OTHER_NODE(f"{subject}, where {node.name} answers", source, fixes=mend)
    elif node.cluster and (expected := _cluster_id(evidence)) != node.cluster.cluster_id:
        other = f"cluster {node.cluster.cluster_id} instead of {expected}"
        text = f"{subject}, where {node.name} answers, of {other}"
        yield OTHER_CLUSTER(text, source, fixes=mend)
    elif node.node_id is None:
        yield _unnamed(evidence, node, subject)
    elif node.node_id != endpoint.node_id:
        text = f"{subject}, where controller {node.node_id} answers"
        yield OTHER_NODE(text, source, fixes=mend)


def _unnamed(evidence: Evidence, node: NodeEvidence, subject: str) -> Finding:
    return UNNAMED(
        f"{subject}, where a controller answers that does not say which it is",
        *node.refusals.values(),
        fixes=[refused_fix(evidence, [node], CHECK, "DescribeConfigs")],
    )


def _unanswered(
    evidence: Evidence,
    endpoint: KnownEndpoint,
    node: NodeEvidence,
    subject: str,
    mend: list[Fix],
) -> Finding:
    reason = node.failure or ""
    if node.unreachable is Unreachable.UNRESOLVED:
        text = f"{subject}, a name that does not resolve from here"
        return UNRESOLVABLE(text, reason, fixes=mend)
    quorum, start = evidence.quorum, remedy(reason, f"controller {endpoint.node_id}")
    if quorum is None:
        known = "it is not known if it fetches, as no leader was reached"
    elif any(
        voter.replica_id == endpoint.node_id
        and (silent := quorum.silent_ms(voter)) is not None
        and silent < evidence.fetch_timeout_ms
        for voter in quorum.voters
    ):
        return NOBODY(
            f"{subject}, where nobody answers from here, though it fetches", reason, fixes=mend
        )
    else:
        known = "it does not fetch either"
    fixes = [fix(start, f"kwire quorum check --node {endpoint.node_id}")]
    if quorum is not None:
        fixes.append(
            fix("mend the finding of the voter that is silent", when="if it is gone for good")
        )
    return NOBODY(
        f"{subject}, where nobody answers from here; {known}",
        reason,
        fixes=fixes,
        verdict=FindingVerdict.WARNING,
    )


def _named(evidence: Evidence, endpoint: KnownEndpoint) -> str:
    # Without a leader a registered controller may not be a voter.
    is_voter = evidence.quorum is not None or endpoint.origin is EndpointOrigin.VOTER_SET
    return f"{'voter' if is_voter else 'controller'} {endpoint.node_id}"


def _registered_protocol(evidence: Evidence, endpoint: KnownEndpoint) -> str | None:
    """Return the security protocol of an endpoint as its node registered it, None if it did not."""
    if evidence.protocol is None:
        return None
    return next(
        (
            known.protocol
            for known in evidence.endpoints
            if known.protocol
            and (known.node_id, known.address) == (endpoint.node_id, endpoint.address)
        ),
        None,
    )


def _is_local(evidence: Evidence) -> bool:
    """True if the cluster was asked on this machine: then localhost is right from here."""
    return any(
        is_loopback(endpoint.address.host)
        for endpoint in evidence.endpoints
        if endpoint.origin is EndpointOrigin.BOOTSTRAP
    )


def _cluster_id(evidence: Evidence) -> str:
    """Return the cluster id of the leader, else that of most controllers."""
    nodes = [node for node in evidence.leaders if node.cluster] or evidence.controllers
    ids = Counter(node.cluster_id for node in nodes if node.cluster_id is not None)
    return ids.most_common(1)[0][0]
