"""The listeners of a controller: the addresses it binds, and those it advertises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kwire.controller.server.config import property_values
from kwire.controller.server.config.sasl import SaslConfig, sasl_config
from kwire.controller.server.config.tls import TlsConfig, tls_config
from kwire.errors import InvalidValue
from kwire.net.security import PROTOCOLS


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerConfig:
    """One listener of `controller.listener.names`. An empty host stands for all interfaces."""

    name: str
    host: str
    port: int
    advertised_host: str
    advertised_port: int
    tls: TlsConfig | None = None
    sasl: SaslConfig | None = None

    @property
    def security_protocol(self) -> str:
        """Kafka's name for TLS and SASL together."""
        below = "SSL" if self.tls else "PLAINTEXT"
        return f"SASL_{below}" if self.sasl else below


def listener_configs(pairs: Mapping[str, str]) -> tuple[ListenerConfig, ...]:
    """Return the listeners of controller.listener.names, in its order.

    Raises InvalidValue if `listeners` lacks one or has one twice, if its security protocol is not
    supported, or if it is advertised by an address that nobody can connect to.
    """
    names = [name.upper() for name in property_values.listed(pairs, "controller.listener.names")]
    bound = _addresses_by_name(pairs, "listeners")
    advertised = _addresses_by_name(pairs, "advertised.listeners")
    protocols = security_protocols(pairs)
    listeners: list[ListenerConfig] = []
    for name in names:
        if name not in bound:
            raise InvalidValue(f"listeners has no {name}, which controller.listener.names names")
        host, port = bound[name]
        advertised_host, advertised_port = advertised.get(name, (host or "localhost", port))
        if not advertised_host.strip() or not advertised_port:
            text = f"listener {name} is advertised without a host or a port, which others need"
            raise InvalidValue(f"{text}: write NAME://host:port into advertised.listeners")
        protocol = protocols.get(name, "PLAINTEXT")
        if protocol not in PROTOCOLS:
            known = ", ".join(PROTOCOLS)
            raise InvalidValue(f"listener {name} has {protocol}, which is none of {known}")
        has_sasl, has_tls = protocol.startswith("SASL_"), protocol.endswith("SSL")
        # Controllers reach each other at the first listener.
        listeners.append(
            ListenerConfig(
                name=name,
                host=host,
                port=port,
                advertised_host=advertised_host,
                advertised_port=advertised_port,
                tls=tls_config(pairs, name, with_sasl=has_sasl) if has_tls else None,
                sasl=sasl_config(pairs, name, logs_in=not listeners) if has_sasl else None,
            )
        )
    return tuple(listeners)


def _addresses_by_name(pairs: Mapping[str, str], name: str) -> dict[str, tuple[str, int]]:
    addresses = {}
    for text in property_values.listed(pairs, name):
        listener, separator, address = text.partition("://")
        if not separator:
            raise InvalidValue(f"{name}: {text!r} is not NAME://host:port")
        if listener.upper() in addresses:
            raise InvalidValue(f"{name} has {listener.upper()} twice")
        addresses[listener.upper()] = property_values.address(address, name)
    return addresses


def security_protocols(pairs: Mapping[str, str]) -> dict[str, str]:
    """Return listener.security.protocol.map."""
    name = "listener.security.protocol.map"
    pieces = (text.rpartition(":") for text in property_values.listed(pairs, name))
    return {listener.upper(): protocol.upper() for listener, _, protocol in pieces}


def inter_broker_listener(pairs: Mapping[str, str]) -> str:
    """Return inter.broker.listener.name, whose default is the security protocol among brokers."""
    name = pairs.get("inter.broker.listener.name", "").strip()
    return (name or pairs.get("security.inter.broker.protocol", "PLAINTEXT").strip()).upper()
