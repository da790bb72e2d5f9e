"""Check the rules for addresses of nodes: clients are led to whatever they allow."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network

from kwire.doctor.finding import FindingKind, FindingVerdict
from kwire.doctor.proxy_config.weakness import Weakness, clusters, weakness
from kwire.net.address import is_loopback
from kwire.proxy.data_path.allowed_nodes import PORTS, AddressRule
from kwire.proxy.service.config import ClusterConfig, ProxyConfig

WIDEST = {4: 16, 6: 48}
"""Bits of the widest network by version of IP: what a site usually has."""

THIS_MACHINE = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
LINK_LOCAL = (ip_network("169.254.0.0/16"), ip_network("fe80::/10"))
"""Clouds give machines their credentials at 169.254.169.254."""

OPEN = FindingKind(
    id="relay/allowed-nodes",
    verdict=FindingVerdict.PROBLEM,
    meaning="A rule of `allowed_nodes` allows more than a cluster has: the whole of a wide network,"
    " all names below one label, the proxy's own machine, link-local addresses, or ports below"
    " 1024. Whoever can put an address into a message can lead clients, and the proxy's logins,"
    " there. If only this machine reaches the listeners, it is a warning.",
    advice="write `allowed_nodes: [NODES]`, and add the hosts and ports at which nodes advertise"
    " themselves",
    source="docs/debuggers/addresses.md",
)
KINDS = (OPEN,)


def check(config: ProxyConfig) -> Iterator[Weakness]:
    """Report rules that allow more than nodes."""
    for key, cluster in clusters(config):
        is_open = any(not is_loopback(listener.listen.host) for listener in cluster.listeners)
        nodes = dict.fromkeys(str(listener.upstream) for listener in cluster.listeners)
        for number, rule in enumerate(cluster.allowed_nodes, 1):
            for reason in _reasons(rule, cluster):
                yield weakness(
                    OPEN,
                    f"{key}.allowed_nodes[{number}]",
                    _text(rule),
                    f"nodes may be at {_text(rule)}, which {reason}",
                    verdict=None if is_open else FindingVerdict.WARNING,
                    NODES=", ".join(f"'{node}'" for node in nodes),
                )


def _reasons(rule: AddressRule, cluster: ClusterConfig) -> Iterator[str]:
    if rule.ports.start < PORTS.start:
        yield f"has ports below {PORTS.start}, which services of the system have"
    if isinstance(rule.host, str):
        if rule.host.startswith("*.") and rule.host.count(".") < 2:
            yield "is every name below one label"
        return
    if rule.host.prefixlen < WIDEST[rule.host.version]:
        yield f"is a network of {rule.host.num_addresses:,} addresses"
    elif _overlaps(rule.host, LINK_LOCAL):
        yield "is link-local, where clouds hand out credentials"
    elif _overlaps(rule.host, THIS_MACHINE) and not _has_nodes_here(cluster):
        yield "is the machine of the proxy, and no node is configured there"


def _overlaps(
    network: IPv4Network | IPv6Network, others: tuple[IPv4Network | IPv6Network, ...]
) -> bool:
    return any(network.version == other.version and network.overlaps(other) for other in others)


def _has_nodes_here(cluster: ClusterConfig) -> bool:
    return any(is_loopback(listener.upstream.host) for listener in cluster.listeners)


def _text(rule: AddressRule) -> str:
    """Return a rule as people write it."""
    host = f"[{rule.host}]" if ":" in str(rule.host) else str(rule.host)
    return host if rule.ports == PORTS else f"{host}:{rule.ports.start}-{rule.ports.stop - 1}"
