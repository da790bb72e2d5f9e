"""Check what clients get from the proxy: hidden nodes, and rights of its own."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.doctor.finding import FindingKind, FindingVerdict
from kwire.doctor.proxy_config.weakness import (
    KeyedListener,
    Weakness,
    clusters,
    listeners,
    weakness,
)
from kwire.net.address import is_loopback
from kwire.proxy.service.config import ProxyConfig

HIDDEN_NODE = FindingKind(
    id="rights/hidden-node",
    verdict=FindingVerdict.WARNING,
    meaning="A listener that other machines reach is in front of a node that listens for its own"
    " machine only: the proxy opens to the network what was closed to it.",
    advice="write `listen: 127.0.0.1:PORT`; or write `tls: {certificate: CERT, key: KEY, clients:"
    " CA}`, so that only clients with a certificate of CA get there",
    source="docs/explanation/threat-model.md",
)
LENT = FindingKind(
    id="rights/lent",
    verdict=FindingVerdict.PROBLEM,
    meaning="`lend_rights` lets clients change the cluster with the rights of the proxy's"
    " principal, whatever their own are. If only this machine reaches the listeners it is a"
    " warning.",
    advice="remove `lend_rights`, and allow the proxy's principal CLUSTER_ACTION, so that clients"
    " write with their own rights",
    source="docs/debuggers/serve.md",
)
CERTIFICATE = FindingKind(
    id="rights/lent-certificate",
    verdict=FindingVerdict.PROBLEM,
    meaning="The proxy shows nodes a certificate of its own for clients that need none: to nodes,"
    " everybody who reaches the listener is the proxy, unless they log in by SASL. If only this"
    " machine reaches it, it is a warning.",
    advice="write `tls: {certificate: CERT, key: KEY, clients: CA}`",
    source="docs/debuggers/tls.md",
)
KINDS = (HIDDEN_NODE, LENT, CERTIFICATE)


def check(config: ProxyConfig) -> Iterator[Weakness]:
    """Report nodes that the proxy opens to the network, and rights that it lends."""
    for keyed in listeners(config):
        yield from _hidden_node(keyed)
        yield from _certificate(keyed)
    for key, cluster in clusters(config):
        if not (cluster.lend_rights and cluster.has_principal):
            continue
        is_open = any(not is_loopback(listener.listen.host) for listener in cluster.listeners)
        yield weakness(
            LENT,
            f"{key}.lend_rights",
            "true",
            "clients change the cluster with the proxy's rights, whatever their own are",
            verdict=None if is_open else FindingVerdict.WARNING,
        )


def _hidden_node(keyed: KeyedListener) -> Iterator[Weakness]:
    listen, upstream = keyed.listener.listen, keyed.listener.upstream
    if keyed.is_open and not keyed.is_far and not keyed.listener.knows_clients:
        yield weakness(
            HIDDEN_NODE,
            f"{keyed.key}.listen",
            listen,
            f"other machines reach {upstream} by way of {listen}, and the node itself listens for"
            " this machine only",
            PORT=listen.port,
        )


def _certificate(keyed: KeyedListener) -> Iterator[Weakness]:
    tls = keyed.listener.upstream_tls
    if tls is not None and keyed.listener.presents_certificate and not keyed.listener.knows_clients:
        yield weakness(
            CERTIFICATE,
            f"{keyed.key}.upstream_tls",
            f"with the certificate in {tls.certificate}",
            f"to {keyed.listener.upstream}, everybody who reaches {keyed.listener.listen} is"
            " the proxy, unless they log in by SASL",
            verdict=None if keyed.is_open else FindingVerdict.WARNING,
        )
