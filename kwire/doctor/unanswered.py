"""The steps for a node that gave no answer: by its reason, and rights only where they are missing.

The reasons are the sentences of kwire's errors, which evidence keeps.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from types import MappingProxyType

from kwire.doctor.evidence import Evidence, NodeEvidence
from kwire.doctor.finding import Fix, fix

SLOWNESS = "a long pause of garbage collection, a slow disk, slow name lookup, or too much load"

DENIED = "AUTHORIZATION_FAILED"
"""In the reason where rights are missing."""

HANGS = "accepted the connection but did not answer"
"""In the reason of a node whose process runs."""

START = "start {who}"

_REMEDIES = MappingProxyType(
    {
        "UNSUPPORTED_VERSION": "upgrade {who}, which is too old for these requests",
        "does not offer": "upgrade {who}, which is too old for these requests",
        "none in common": "upgrade {who}, which is too old for these requests",
        "not a controller": "give the addresses of controllers in place of those of {who}",
        "AUTHENTICATION_FAILED": "correct user and password in the file of --command-config",
        "wants a login": "give {who} a login: SASL in the file of --command-config",
        "without TLS": "leave TLS out for {who}, if it is a plain listener: security.protocol in"
        " the file of --command-config",
        " certificate": "correct truststore or certificate in the file of --command-config",
        "or it wants TLS": f"look at {{who}} for {SLOWNESS}, or a listener with TLS",
        "wants TLS": "see that {who} is a Kafka listener, and if it wants TLS, give a"
        " --command-config with security.protocol=SSL",
        "refused the connection": START,
        "cannot be resolved": "correct the name of the host of {who}, or have it resolved here",
        "could not be connected to": "see that {who} runs, and that no firewall is between",
        "cannot be reached": "see that {who} runs, and that no firewall is between",
        "did not answer": f"look at {{who}} for {SLOWNESS}",
        "it is slow, or hangs": f"look at {{who}} for {SLOWNESS}",
    }
)
"""The step for each part of a reason; the first that it has decides."""


def remedy(reason: str, who: str) -> str:
    """Return the step after which the node answers; its log knows more than an unknown reason."""
    step = next(
        (step for part, step in _REMEDIES.items() if part in reason), "read the log of {who}"
    )
    return step.format(who=who)


def revival(evidence: Evidence, node_id: int) -> str:
    """Return the step for a silent controller; one that takes connections needs no start."""
    for endpoint in evidence.endpoints:
        node = evidence.at(endpoint.address) if endpoint.node_id == node_id else None
        if node is not None and HANGS in (node.failure or ""):
            return remedy(node.failure or "", f"controller {node_id}")
    return START.format(who=f"controller {node_id}")


def refused_fix(evidence: Evidence, nodes: Iterable[NodeEvidence], check: str, *names: str) -> Fix:
    """Return what makes nodes answer requests that they refused.

    names: of these requests; all by default. check: the command that asks again.
    """
    steps: dict[str, None] = {}
    denied = False
    for node in nodes:
        reasons = [why for name, why in node.refusals.items() if not names or name in names]
        if node.has_empty_log:
            steps[f"mend quorum/empty-log of {node.name}"] = None
            continue
        denied = denied or any(DENIED in reason for reason in reasons)
        others = [reason for reason in reasons if DENIED not in reason]
        for reason in others or [""] * (not reasons):
            steps[remedy(reason, node.name)] = None
    return fix(*(rights(evidence) if denied else ()), *steps, check)


def unreached_fix(nodes: Iterable[NodeEvidence], check: str) -> Fix:
    """Return what makes nodes answer that could not be connected to, each named by its address."""
    steps = {remedy(node.failure or "", f"the node at {node.address}"): None for node in nodes}
    return fix(*steps, check)


def rights(evidence: Evidence) -> list[str]:
    """Return the step that gives this client the rights; a user without them cannot do it."""
    flags = " ".join(f"--operation {name}" for name in ("Describe", "DescribeConfigs"))
    principal = shlex.quote(evidence.principal or "User:NAME")
    command = (
        f"kwire acls add --cluster {flags} --operation ClusterAction --allow-principal {principal}"
    )
    if evidence.principal is None:
        # Only the authorizer knows as whom it took us.
        return [f"with an authorizer, as a super user: {command}"]
    return ["log in as a super user", command]
