"""Check the security of the controllers' listeners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kwire.doctor.evidence import Evidence, NodeEvidence
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, fix
from kwire.doctor.unanswered import refused_fix
from kwire.net.address import is_loopback

CHECK = "kwire doctor --only security"
MECHANISM_KEY = "sasl.mechanism.controller.protocol"

PLAINTEXT = FindingKind(
    id="security/plaintext",
    verdict=FindingVerdict.WARNING,
    meaning="A controller's listener has neither TLS nor login: whoever reaches the port can read"
    " and, without an authorizer, change all metadata. On localhost this is for your information.",
    advice="give the listener SSL or SASL_SSL in listener.security.protocol.map, or shut the port"
    " off from all but the nodes",
    source="KIP-631",
)
NO_TLS = FindingKind(
    id="security/no-tls",
    verdict=FindingVerdict.WARNING,
    meaning="A controller's listener has a login without TLS: with PLAIN the password crosses the"
    " network unencrypted. On localhost this is for your information.",
    advice="use SASL_SSL",
    source="KIP-43",
)
MIXED = FindingKind(
    id="security/protocols-differ",
    verdict=FindingVerdict.WARNING,
    meaning="The controllers do not all speak the same security protocol on their listener for the"
    " quorum: some cannot reach the others.",
    advice="give the listener the same protocol on all controllers",
    source="KIP-631",
)
SCRAM = FindingKind(
    id="security/scram-between-controllers",
    verdict=FindingVerdict.PROBLEM,
    meaning="The controllers log in to each other with SCRAM. The credentials stand in the metadata"
    " log, which a new or restarted quorum cannot read before a leader is elected, and electing"
    " takes the login. As long as somebody leads it is a warning.",
    advice="use PLAIN over TLS, mutual TLS or GSSAPI between controllers; keep SCRAM for brokers"
    " and clients",
    source="KIP-900",
)
NOT_TOLD = FindingKind(
    id="security/not-told",
    verdict=FindingVerdict.UNKNOWN,
    meaning="A controller does not tell the protocol of its listener for the quorum, nor how it"
    " logs in to the others.",
    advice="depending on the reason: restart the controller, reduce its load, or with an"
    " authorizer allow DESCRIBE_CONFIGS on the cluster; Kafka before 3.7 does not tell it",
    source="KIP-919",
)
FINE = FindingKind(
    id="security/ok",
    verdict=FindingVerdict.OK,
    meaning="The controllers' listeners have TLS.",
)
KINDS = (PLAINTEXT, NO_TLS, MIXED, SCRAM, NOT_TOLD, FINE)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report controllers' listeners without TLS or login, and logins that cannot work."""
    protocols = {node: _protocol(node) for node in evidence.controllers}
    silent = [node for node in protocols if not node.configs]
    findings = [
        *(
            NOT_TOLD(
                f"{node.name} does not tell its configuration",
                *node.refusals.values(),
                fixes=[refused_fix(evidence, [node], CHECK, "DescribeConfigs")],
            )
            for node in silent
        ),
        *_insecure(PLAINTEXT, protocols, "PLAINTEXT", "has neither TLS nor login"),
        *_insecure(NO_TLS, protocols, "SASL_PLAINTEXT", "has a login without TLS"),
    ]
    if len(set(protocols.values())) > 1:
        values = (f"{node.name}: {protocol}" for node, protocol in protocols.items())
        text = "the controllers' listeners have different protocols"
        most = Counter(protocols.values()).most_common(1)[0][0]
        others = [node.name for node, protocol in protocols.items() if protocol != most]
        mend = fix(
            f"give the listener of {', '.join(others)} the protocol {most}, and restart them"
        )
        findings.append(MIXED(text, *values, fixes=[mend]))
    findings += _scram(evidence, protocols)
    yield from findings
    if protocols and not findings:
        yield FINE(f"the controllers' listeners speak {next(iter(protocols.values()))}")


def _protocol(node: NodeEvidence) -> str:
    """Return the protocol of the quorum's listener: as configured, else as we connected."""
    names = node.config("controller.listener.names").split(",")
    pairs = node.config("listener.security.protocol.map").split(",")
    protocols = {name.strip(): protocol for name, _, protocol in (p.partition(":") for p in pairs)}
    # The first of the names is the one that controllers use among themselves.
    return protocols.get(names[0].strip()) or ("SSL" if node.tls else "PLAINTEXT")


def _insecure(
    kind: FindingKind, protocols: dict[NodeEvidence, str], protocol: str, what: str
) -> Iterator[Finding]:
    nodes = [node for node in protocols if protocols[node] == protocol]
    if nodes:
        local = all(is_loopback(node.address.host) for node in nodes)
        names = ", ".join(str(node.node_id or node.address) for node in nodes)
        whose = f"of controller {names}" if len(nodes) == 1 else f"of controllers {names}"
        yield kind(
            f"the listener {whose} {what}",
            *(f"{node.address}: {protocol}" for node in nodes),
            verdict=FindingVerdict.INFO if local else None,
            fixes=[fix(f"on {', '.join(node.name for node in nodes)}: {kind.advice}")],
        )


def _scram(evidence: Evidence, protocols: dict[NodeEvidence, str]) -> Iterator[Finding]:
    nodes = [
        node
        for node, protocol in protocols.items()
        if protocol.startswith("SASL_") and node.config(MECHANISM_KEY).startswith("SCRAM")
    ]
    if nodes:
        leads = evidence.quorum is not None
        names = ", ".join(node.name for node in nodes)
        yield SCRAM(
            f"{names} log in to each other with SCRAM, whose credentials stand in the log that"
            " cannot be read before a leader is elected",
            f"{MECHANISM_KEY}={nodes[0].config(MECHANISM_KEY)}",
            verdict=FindingVerdict.WARNING if leads else None,
            fixes=[fix(f"on {names}: {SCRAM.advice}")],
        )
