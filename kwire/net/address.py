"""Addresses of nodes, as people write them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import ip_address

from kwire.errors import InvalidValue
from kwire.text.untrusted import cut_repr

_FORM = re.compile(r"(?:\[(?P<ipv6>[^\[\]]+)\]|(?P<host>[^:\[\]]+)):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A host and a port, written `host:port`; brackets stand around an IPv6 host."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read `host:port` or `[::1]:port`, a port from 0 to 65535. Raises InvalidValue."""
        match = _FORM.fullmatch(text.strip())
        if match is None and text.count(":") > 1:
            raise InvalidValue(f"{cut_repr(text)} is no address: write an IPv6 host as [host]:port")
        if match is None or int(match["port"]) > 0xFFFF:
            raise InvalidValue(
                f"{cut_repr(text)} is no address: write host:port, with a port up to 65535"
            )
        return cls(match["ipv6"] or match["host"], int(match["port"]))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def why_not_bound(error: OSError | UnicodeError) -> str:
    """Return the system's reason why listening failed, without the address that asyncio adds.

    UnicodeError comes of a host that is no name at all.
    """
    if isinstance(error, UnicodeError):
        return "that is no name of a host"
    code = error.errno or 0  # below 0: a name that is not resolved, for which strerror has no words
    return os.strerror(code) if code > 0 else error.strerror or str(error)


def is_loopback(host: str) -> bool:
    """True for `localhost` and loopback addresses, which no other machine reaches.

    Other names count as reachable: they are not resolved.
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def is_wildcard(host: str) -> bool:
    """True for 0.0.0.0 and ::, which a server listens at and no client can connect to."""
    return host in ("0.0.0.0", "::")


def local_host(host: str) -> str:
    """Return a host in lower case, and the address of loopback for `localhost`."""
    return "127.0.0.1" if host.lower() == "localhost" else host.lower()


def address_key(address: Address) -> Address:
    """Return the address with its host in lower case: names of hosts have no case."""
    return Address(address.host.lower(), address.port)


def cannot_connect(host: str, remedy: str) -> str:
    """Return the error text for a wildcard host that others would be told to connect to."""
    return f"no client can connect to {host}: {remedy}"
