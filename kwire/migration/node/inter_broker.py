"""Security of requests to brokers, as they have it among themselves (KIP-103, KIP-866).

In Java: ChannelBuilders.clientChannelBuilder with the settings of inter.broker.listener.name.
"""

from __future__ import annotations

from collections.abc import Mapping

from kwire.controller.server.config.listener_config import security_protocols
from kwire.controller.server.config.sasl import broker_login
from kwire.errors import InvalidValue
from kwire.net.security import PROTOCOLS, Security
from kwire.net.tls_properties import TLS_KNOWN, read_client_tls


def inter_broker_security(pairs: Mapping[str, str], listener: str) -> Security:
    """Return TLS and credentials for a listener of brokers.

    Its security protocol is that of listener.security.protocol.map, else its name. Settings
    `listener.name.<name>.` of its own come before the general ones.

    Raises InvalidValue, which names the setting and no secret, for what is missing or unknown.
    """
    protocol = security_protocols(pairs).get(listener, listener)
    if protocol not in PROTOCOLS:
        raise InvalidValue(
            f"listener.security.protocol.map has no security protocol for {listener}, the listener"
            f" of the brokers: it must be one of {', '.join(PROTOCOLS)}"
        )
    has_sasl, has_tls = protocol.startswith("SASL_"), protocol.endswith("SSL")
    return Security(
        tls=read_client_tls(_tls(pairs, listener)) if has_tls else None,
        sasl=broker_login(pairs, listener) if has_sasl else None,
    )


def _tls(pairs: Mapping[str, str], listener: str) -> dict[str, str]:
    prefix = f"listener.name.{listener.lower()}."
    general = {name: pairs[name] for name in TLS_KNOWN if name in pairs}
    return general | {name: pairs[prefix + name] for name in TLS_KNOWN if prefix + name in pairs}
