"""Addresses of clients, and the hosts of ACLs that they fall under (Java: CidrUtils)."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from kwire.configs.values import java_int

_OCTETS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}", re.ASCII)
_NUMBERS = re.compile(r"\d+(?:\.\d+){0,3}", re.ASCII)
_LONGEST = 15  # characters of the longest IPv4 address that Java reads
_WORDS = re.compile(r"(\[)?([0-9a-fA-F:.]+)(?:%[0-9]+)?(?(1)\])/([+-]?\d{1,10})")
_HostNetwork = IPv4Network | IPv6Network


def host_text(host: str) -> str:
    """Return an address as ACLs have it; anything else as it is.

    Java's InetAddress.getHostAddress writes all eight groups of an IPv6 address, and takes an IPv4
    address that is mapped into IPv6 for what it is.
    """
    address = _address(host)
    if isinstance(address, IPv6Address):
        packed, zone = address.packed, f"%{address.scope_id}" if address.scope_id else ""
        groups = (int.from_bytes(packed[i : i + 2], "big") for i in range(0, 16, 2))
        return ":".join(f"{group:x}" for group in groups) + zone
    return host if address is None else str(address)


def is_in_range(host: str, cidr: str) -> bool:
    """Return True if an address lies in a range such as `10.1.0.0/16`; False for a bad range."""
    network, address = network_of(cidr), _address(host)
    return network is not None and address is not None and address in network


@lru_cache(maxsize=10_000)
def network_of(cidr: str) -> _HostNetwork | None:
    """Return the range of an ACL's host with a slash, None if it is none.

    As in Java, bits of the address after the prefix do not matter, nor does a zone, which must be
    a number: Java knows the names of the machine's interfaces, too.
    """
    if ":" in cidr:
        return _ipv6_network(cidr)
    if not _OCTETS.fullmatch(cidr):
        return None
    address, _, length = cidr.partition("/")
    # Python refuses leading zeros, which Java reads as decimal digits.
    octets = ".".join(str(int(octet)) for octet in address.split("."))
    return _network(octets, int(length))


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a text is to Java (InetAddress.getByName), None if it is none.

    The last number of an IPv4 address stands for all bytes that are left, and zeros may lead. Names
    of hosts, and of the interfaces of a zone, depend on the machine: they are no addresses here.
    """
    if ":" not in text:
        return _ipv4(text)
    parts = _WORDS.fullmatch(f"{text}/0")
    if parts is None:
        return None
    address = _address(":".join(map(_without_zeros, parts[2].split(":"))))
    zone = text.strip("[]").partition("%")[2]
    # A zone is an int in Java, and one of an IPv4 address is none.
    if zone and (java_int(zone) is None or isinstance(address, IPv4Address)):
        return None
    return address


def _ipv4(text: str) -> IPv4Address | None:
    if len(text) > _LONGEST or not _NUMBERS.fullmatch(text):
        return None
    *first, last = (int(number) for number in text.split("."))
    left = 4 - len(first)
    if any(number > 255 for number in first) or last >= 1 << 8 * left:
        return None
    return IPv4Address(bytes(first) + last.to_bytes(left, "big"))


def _ipv6_network(cidr: str) -> _HostNetwork | None:
    parts = _WORDS.fullmatch(cidr)
    if parts is None:
        return None
    address = ":".join(map(_without_zeros, parts[2].split(":")))
    # Java reads an IPv4 address that is mapped into IPv6 as IPv4, and finds that it is no IPv6.
    is_ipv6 = isinstance(_address(address), IPv6Address)
    return _network(address, int(parts[3])) if is_ipv6 else None


def _without_zeros(group: str) -> str:
    """Return a group of an IPv6 address without the leading zeros that Java takes."""
    return ".".join(number.lstrip("0") or number[:1] for number in group.split("."))


def _network(address: str, length: int) -> _HostNetwork | None:
    try:
        return ip_network(f"{address}/{length}", strict=False)
    except ValueError:
        return None


@lru_cache(maxsize=10_000)
def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
