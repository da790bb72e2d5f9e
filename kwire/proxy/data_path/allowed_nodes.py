"""Rules for addresses of nodes that messages name.

A message can name any address, also one that only the proxy reaches. So it counts only if a rule of
the operator's allows it, or if its host is that of a configured node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from kwire.errors import InvalidValue
from kwire.net.address import Address

PORTS = range(1024, 1 << 16)
"""Ports of nodes, unless a rule names others: those below are for services of the system."""

_FORM = re.compile(
    r"(?:\[(?P<ipv6>[0-9A-Fa-f./]*:[0-9A-Fa-f:./]*)\]|(?P<host>[^:\[\]]+))"
    r"(?::(?P<first>[0-9]{1,5})(?:-(?P<last>[0-9]{1,5}))?)?"
)
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", re.ASCII)

_NOT_BY_DEFAULT = "its host is no configured node's, or its port is below 1024"
_NOT_BY_RULES = "no allowed node has it"
_ADVICE = "give --allowed-nodes (in a file: allowed_nodes), or a listener for it"

_Ip = IPv4Address | IPv6Address
_Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class AddressRule:
    """Hosts and ports that are allowed. host: a network, a name, or `*.` and the end of names."""

    host: str | _Network
    ports: range = PORTS

    @classmethod
    def parse(cls, text: str) -> AddressRule:
        """Read `broker-1`, `*.example.org:9092`, `10.1.0.0/16:9092-9099` or `[fd00::/8]:9092`.

        Raises InvalidValue.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise InvalidValue(
                f"{text!r} allows no addresses: write HOST, *.DOMAIN or NETWORK/BITS, and after a"
                " colon PORT or PORT-PORT; brackets stand around IPv6"
            )
        host = match["ipv6"] or match["host"]
        ports = PORTS if match["first"] is None else _ports(text, match["first"], match["last"])
        if "/" not in host and _ip(host) is None:
            name = host.removeprefix("*.").lower()
            if not _NAME.fullmatch(name):
                raise InvalidValue(f"{text!r} allows no addresses: {host!r} is no name of a host")
            return cls("*." + name if host.startswith("*.") else name, ports)
        try:
            return cls(ip_network(host), ports)
        except ValueError as error:
            raise InvalidValue(f"{text!r} allows no addresses: {error}") from error

    @classmethod
    def of(cls, address: Address) -> AddressRule:
        """Return the rule that allows the host of a configured address."""
        ip = _ip(address.host)
        return cls(address.host.lower() if ip is None else ip_network(ip))

    def allows(self, address: Address) -> bool:
        """Return True for an address of these hosts and ports."""
        return address.port in self.ports and self._allows_host(address.host)

    def _allows_host(self, host: str) -> bool:
        ip = _ip(host)
        if not isinstance(self.host, str):
            return ip is not None and ip in self.host
        # Names are not resolved: only names and parts of names that the operator wrote are trusted.
        if ip is not None or not _NAME.fullmatch(host):
            return False
        name = host.lower()
        return name.endswith(self.host[1:]) if self.host.startswith("*.") else name == self.host


class AllowedNodes:
    """Decides which addresses count that messages name.

    rules: the operator's. Without any, nodes may be at the hosts of configured nodes, with ports
    from 1024: several nodes of a cluster often share a host. Configured addresses always count.
    """

    def __init__(self, rules: Sequence[AddressRule] = ()) -> None:
        self._rules = tuple(rules)

    def refusal(self, address: Address, configured: Iterable[Address]) -> str:
        """Return the reason why an address does not count, "" if it does."""
        if self._allows(address, list(configured)):
            return ""
        return f"{_NOT_BY_RULES if self._rules else _NOT_BY_DEFAULT}: {_ADVICE}"

    def _allows(self, address: Address, configured: list[Address]) -> bool:
        if address in configured:
            return True
        ip = _ip(address.host)
        # No node is reached at these: 0.0.0.0 leads to whatever listens on this machine.
        if ip is not None and (ip.is_unspecified or ip.is_multicast):
            return False
        rules = self._rules or map(AddressRule.of, configured)
        return any(rule.allows(address) for rule in rules)


def _ip(host: str) -> _Ip | None:
    """Return the IP address that a host stands for without any look-up; None for a name."""
    # Kafka's own tools write both for a node on this machine.
    if host.lower() == "localhost":
        return IPv4Address("127.0.0.1")
    if "%" in host:  # the name of an interface, which may be any text
        return None
    try:
        ip = ip_address(host)
    except ValueError:
        return None
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return mapped or ip


def _ports(text: str, first: str, last: str | None) -> range:
    ports = range(int(first), int(last or first) + 1)
    if not ports or ports[0] < 1 or ports[-1] >= 1 << 16:
        raise InvalidValue(f"{text!r} allows no addresses: ports are 1 to 65535, the lower first")
    return ports
