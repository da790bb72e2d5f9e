"""Where a controller listens, what it tells others of that, and the certificates it shows."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from controller import properties
from kwire.errors import InvalidValue

_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerConfig:
    """One of `controller.listener.names`. An empty host stands for all interfaces."""

    name: str
    host: str
    port: int
    advertised_host: str
    advertised_port: int
    tls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsConfig:
    """PEM files as Kafka takes them (KIP-651).

    keystore: private key and certificate chain. truststore: the authorities of both sides.
    """

    keystore: Path
    key_password: str | None
    truststore: Path | None
    client_auth: str

    def server_context(self) -> ssl.SSLContext:
        """For listeners."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.truststore)
        context.verify_mode = _CLIENT_AUTH[self.client_auth]
        self._load(context)
        return context

    def client_context(self) -> ssl.SSLContext:
        """For requests to other controllers."""
        context = ssl.create_default_context(cafile=self.truststore)
        self._load(context)
        return context

    def _load(self, context: ssl.SSLContext) -> None:
        try:
            context.load_cert_chain(self.keystore, password=self.key_password or "")
        except (OSError, ssl.SSLError) as error:
            raise InvalidValue(f"ssl.keystore.location {self.keystore}: {error}") from None


def listener_configs(pairs: Mapping[str, str]) -> tuple[ListenerConfig, ...]:
    """Those that controller.listener.names names, in its order.

    InvalidValue where `listeners` lacks one, or where a protocol is not spoken here.
    """
    names = [name.upper() for name in properties.listed(pairs, "controller.listener.names")]
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
                tls=protocol == "SSL",
            )
        )
    return tuple(found)


def tls_config(pairs: Mapping[str, str]) -> TlsConfig:
    """The `ssl.*` values; InvalidValue for stores that are not PEM files."""
    for store in ("keystore", "truststore"):
        kind = pairs.get(f"ssl.{store}.type", "JKS").upper()
        if f"ssl.{store}.location" in pairs and kind != "PEM":
            raise InvalidValue(f"ssl.{store}.type is {kind}: only PEM is read here (KIP-651)")
    keystore = pairs.get("ssl.keystore.location")
    if not keystore:
        raise InvalidValue("a listener with SSL needs ssl.keystore.location, a PEM file")
    auth = pairs.get("ssl.client.auth", "none").lower()
    if auth not in _CLIENT_AUTH:
        raise InvalidValue(f"ssl.client.auth is {auth!r}: none, requested and required are known")
    truststore = pairs.get("ssl.truststore.location")
    return TlsConfig(
        keystore=Path(keystore),
        key_password=pairs.get("ssl.key.password"),
        truststore=Path(truststore) if truststore else None,
        client_auth=auth,
    )


def _by_name(pairs: Mapping[str, str], name: str) -> dict[str, tuple[str, int]]:
    found = {}
    for text in properties.listed(pairs, name):
        listener, separator, address = text.partition("://")
        if not separator:
            raise InvalidValue(f"{name}: {text!r} is not NAME://host:port")
        found[listener.upper()] = properties.address(address, name)
    return found


def _protocols(pairs: Mapping[str, str]) -> dict[str, str]:
    name = "listener.security.protocol.map"
    pieces = (text.rpartition(":") for text in properties.listed(pairs, name))
    return {listener.upper(): protocol.upper() for listener, _, protocol in pieces}
