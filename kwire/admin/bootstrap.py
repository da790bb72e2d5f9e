"""The addresses a client starts from: bootstrap.servers or bootstrap.controllers (KIP-919)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kwire.errors import InvalidValue
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address

_PROTOCOL = re.compile(r"^[\w%.-]+://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """The addresses of brokers, or of controllers, never both."""

    endpoint_type: EndpointType
    addresses: tuple[Address, ...]

    @classmethod
    def of(
        cls, servers: str | Iterable[str] | None, controllers: str | Iterable[str] | None
    ) -> Bootstrap:
        """Read exactly one of the two, text with commas or a list. Raises InvalidValue."""
        if servers and controllers:
            raise InvalidValue("give bootstrap_servers or bootstrap_controllers, not both")
        if servers:
            return cls(endpoint_type=EndpointType.BROKER, addresses=_addresses(servers))
        if controllers:
            return cls(endpoint_type=EndpointType.CONTROLLER, addresses=_addresses(controllers))
        raise InvalidValue("give bootstrap_servers or bootstrap_controllers")


def _addresses(bootstrap: str | Iterable[str]) -> tuple[Address, ...]:
    texts = bootstrap.split(",") if isinstance(bootstrap, str) else bootstrap
    # As Java's clients do, pass over the protocol of PLAINTEXT://host:port: security says it.
    parsed = (Address.parse(_PROTOCOL.sub("", text.strip())) for text in texts if text.strip())
    addresses = tuple(dict.fromkeys(parsed))
    if not addresses:
        raise InvalidValue(f"{bootstrap!r} names no address: write host:port,host:port")
    return addresses
