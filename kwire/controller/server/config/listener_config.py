"""Where a controller listens, and what it tells others of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kwire.controller.server.config import property_values
from kwire.controller.server.config.tls import TlsConfig, tls_config
from kwire.errors import InvalidValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerConfig:
    """One of `controller.listener.names`. An empty host stands for all interfaces."""

    name: str
    host: str
    port: int
    advertised_host: str
    advertised_port: int
    tls: TlsConfig | None = None


def listener_configs(pairs: Mapping[str, str]) -> tuple[ListenerConfig, ...]:
    """Those that controller.listener.names names, in its order.

    InvalidValue where `listeners` lacks one, or where a protocol is not spoken here.
    """
    names = [name.upper() for name in property_values.listed(pairs, "controller.listener.names")]
    listens = _by_name(pairs, "listeners")
    advertised = _by_name(pairs, "advertised.listeners")
    protocols = _protocols(pairs)
    found = []
    for name in names:
        if name not in listens:
            raise InvalidValue(f"listeners has no {name}, which controller.listener.names names")
        host, port = listens[name]
        told_host, told_port = advertised.get(name, (host or "localhost", port))
        protocol = protocols.get(name, "PLAINTEXT")
        if protocol not in ("PLAINTEXT", "SSL"):
            text = f"listener {name} wants {protocol}: PLAINTEXT and SSL are spoken here"
            raise InvalidValue(text)
        found.append(
            ListenerConfig(
                name=name,
                host=host,
                port=port,
                advertised_host=told_host,
                advertised_port=told_port,
                tls=tls_config(pairs, name) if protocol == "SSL" else None,
            )
        )
    return tuple(found)


def _by_name(pairs: Mapping[str, str], name: str) -> dict[str, tuple[str, int]]:
    found = {}
    for text in property_values.listed(pairs, name):
        listener, separator, address = text.partition("://")
        if not separator:
            raise InvalidValue(f"{name}: {text!r} is not NAME://host:port")
        found[listener.upper()] = property_values.address(address, name)
    return found


def _protocols(pairs: Mapping[str, str]) -> dict[str, str]:
    name = "listener.security.protocol.map"
    pieces = (text.rpartition(":") for text in property_values.listed(pairs, name))
    return {listener.upper(): protocol.upper() for listener, _, protocol in pieces}
