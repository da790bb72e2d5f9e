"""Check where traffic and passwords cross a network unencrypted, and which certificates count."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from kwire.doctor.finding import FindingKind, FindingVerdict
from kwire.doctor.proxy_config.weakness import (
    KeyedListener,
    Weakness,
    clusters,
    listeners,
    weakness,
)
from kwire.errors import LocalError
from kwire.net.address import is_loopback
from kwire.net.certificates import certificate_warnings
from kwire.net.security import PLAINTEXT, Security, read_security
from kwire.proxy.service.config import ClusterConfig, ProxyConfig

OFF = FindingKind(
    id="tls/off",
    verdict=FindingVerdict.WARNING,
    meaning="The proxy uses TLS neither with clients nor with the node, and one of them is on"
    " another machine. TLS between the two may still pass through; where the proxy has to read the"
    " messages (`serve`, `rewrite_endpoints`) it cannot, and this is a problem.",
    advice="write `tls: {certificate: CERT, key: KEY}` and `upstream_tls: {authorities: CA}`",
    source="docs/debuggers/tls.md",
)
TO_CLIENTS = FindingKind(
    id="tls/clients-in-clear",
    verdict=FindingVerdict.PROBLEM,
    meaning="The proxy uses TLS with the node, and none with clients on other machines: their"
    " traffic, passwords of PLAIN included, crosses the network unencrypted.",
    advice="write `tls: {certificate: CERT, key: KEY}`",
    source="docs/debuggers/tls.md",
)
TO_NODE = FindingKind(
    id="tls/node-in-clear",
    verdict=FindingVerdict.PROBLEM,
    meaning="Clients use TLS, and the proxy sends what it has decrypted to a node on another"
    " machine unencrypted.",
    advice="write `upstream_tls: {authorities: CA}`",
    source="docs/debuggers/tls.md",
)
ANY_NAME = FindingKind(
    id="tls/any-name",
    verdict=FindingVerdict.WARNING,
    meaning="The name in the node's certificate is not checked: whoever has any certificate of the"
    " same authority can stand in for the node. If the authorities are those of the machine, that"
    " is everybody, and a problem.",
    advice="remove `check_name`, and write `name: NAME` if the certificate is for another name than"
    " the host's",
    source="docs/debuggers/tls.md",
)
OWN = FindingKind(
    id="tls/own-connections",
    verdict=FindingVerdict.WARNING,
    meaning="The proxy's own connections, of `serve` or to the cluster of a recording's topic, go"
    " to another machine without TLS. If a password is sent there, it is a problem.",
    advice="write `security.protocol=PROTOCOL` into the client_config, with the truststore of"
    " the nodes",
    source="docs/debuggers/tls.md",
)
OWN_ANY_NAME = FindingKind(
    id="tls/own-any-name",
    verdict=FindingVerdict.WARNING,
    meaning="The proxy's own connections take any name in a node's certificate: whoever has any"
    " certificate of the same authority gets the proxy's password, and can answer it.",
    advice="remove `ssl.endpoint.identification.algorithm` from the client_config",
    source="docs/operators/security.md",
)
CERTIFICATE = FindingKind(
    id="tls/certificate",
    verdict=FindingVerdict.WARNING,
    meaning="A certificate is not valid, or will not be within 30 days.",
    advice="renew it",
    source="docs/debuggers/tls.md",
)
KINDS = (OFF, TO_CLIENTS, TO_NODE, ANY_NAME, OWN, OWN_ANY_NAME, CERTIFICATE)


def check(config: ProxyConfig) -> Iterator[Weakness]:
    """Report connections without TLS to other machines, and certificates that prove nothing."""
    for keyed in listeners(config):
        yield from _in_clear(keyed)
        yield from _names(keyed)
        yield from _certificates(keyed)
    for key, cluster in clusters(config):
        yield from _own_connections(key, cluster)


def _in_clear(keyed: KeyedListener) -> Iterator[Weakness]:
    listener, cluster = keyed.listener, keyed.cluster
    listen, upstream = listener.listen, listener.upstream
    if listener.tls is None and listener.upstream_tls is None:
        if not (keyed.is_open or keyed.is_far):
            return
        reads = cluster.serve is not None or cluster.rewrite_endpoints
        unless = "" if reads else ", unless they speak TLS through the proxy"
        yield weakness(
            OFF,
            f"{keyed.key}.tls",
            "none",
            f"what passes between clients of {listen} and {upstream} crosses the network"
            f" unencrypted{unless}",
            verdict=FindingVerdict.PROBLEM if reads else None,
        )
    elif listener.tls is None and keyed.is_open:
        sentence = f"clients of {listen} send their traffic and passwords unencrypted"
        yield weakness(TO_CLIENTS, f"{keyed.key}.tls", "none", sentence)
    elif listener.upstream_tls is None and keyed.is_far:
        sentence = f"what clients send by TLS goes on to {upstream} unencrypted"
        yield weakness(TO_NODE, f"{keyed.key}.upstream_tls", "none", sentence)


def _names(keyed: KeyedListener) -> Iterator[Weakness]:
    tls = keyed.listener.upstream_tls
    if tls is not None and not tls.check_name:
        whose = "any public authority" if tls.authorities is None else str(tls.authorities)
        yield weakness(
            ANY_NAME,
            f"{keyed.key}.upstream_tls.check_name",
            "false",
            f"whoever has a certificate of {whose} can stand in for {keyed.listener.upstream}",
            verdict=FindingVerdict.PROBLEM if tls.authorities is None else None,
        )


def _certificates(keyed: KeyedListener) -> Iterator[Weakness]:
    now = datetime.now(UTC)
    for side in ("tls", "upstream_tls"):
        tls = getattr(keyed.listener, side)
        if tls is not None and tls.certificate is not None:
            for sentence in certificate_warnings(tls.certificate, now):
                key = f"{keyed.key}.{side}.certificate"
                yield weakness(CERTIFICATE, key, tls.certificate, sentence)


def _own_connections(key: str, cluster: ClusterConfig) -> Iterator[Weakness]:
    """Check those that follow the log and route, and those to the topic of a recording.

    Without a client_config the first have the TLS of the listener, which is checked there.
    """
    serve, record = cluster.serve, cluster.record
    if serve is not None and serve.client_config is not None:
        hosts = [listener.upstream.host for listener in cluster.listeners]
        yield from _own(f"{key}.serve.client_config", serve.client_config, hosts)
    if record is not None and record.topic is not None:
        hosts = [server.host for server in record.topic.servers]
        yield from _own(f"{key}.record.client_config", record.client_config, hosts)


def _own(key: str, file: Path | None, hosts: list[str]) -> Iterator[Weakness]:
    far = [host for host in hosts if not is_loopback(host)]
    try:
        security = PLAINTEXT if file is None else read_security(file)
    except LocalError:
        return  # `files` reports it
    if security.tls is not None:
        if not security.tls.check_name:
            sentence = (
                f"whoever has a certificate of the same authority can stand in for {hosts[0]}"
            )
            yield weakness(OWN_ANY_NAME, key, file, sentence)
    elif far:
        yield _own_in_clear(key, file, security, far[0])


def _own_in_clear(key: str, file: Path | None, security: Security, host: str) -> Weakness:
    sends = "the password of the proxy" if _sends_secret(security) else "what the proxy sends"
    return weakness(
        OWN,
        key,
        file or "none",
        f"{sends} to {host} crosses the network unencrypted",
        verdict=FindingVerdict.PROBLEM if _sends_secret(security) else None,
        PROTOCOL="SSL" if security.sasl is None else "SASL_SSL",
    )


def _sends_secret(security: Security) -> bool:
    """True if a login sends the password or the token itself; SCRAM sends neither."""
    sasl = security.sasl
    return sasl is not None and not sasl.mechanism.value.startswith("SCRAM")
