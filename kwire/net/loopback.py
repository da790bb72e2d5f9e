"""Whether an address can only be reached from this machine."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Whether the host is `localhost` or a loopback address; a name may be anything."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
