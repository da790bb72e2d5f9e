"""TLS and SASL towards a cluster's nodes, as in the properties of Kafka's own clients.

A file for `--command-config` of Kafka's tools is read here, too. docs/operators/security.md lists
the properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.text.properties import WrongProperty, located

if TYPE_CHECKING:
    from kwire.net.sasl import Credentials
    from kwire.net.tls import ClientTls
    from kwire.text.properties import Properties

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """tls, sasl: None without it."""

    tls: ClientTls | None = None
    sasl: Credentials | None = None

    @property
    def protocol(self) -> str:
        """Kafka's name for the two together."""
        below = "PLAINTEXT" if self.tls is None else "SSL"
        return below if self.sasl is None else f"SASL_{below}"


PLAINTEXT = Security()
"""Neither TLS nor SASL."""


def read_security(path: Path) -> Security:
    """Read a file of properties.

    Raises InvalidValue, which names the file, the line and the property, and never a secret.
    """
    pairs = _read(path)
    try:
        return security(pairs)
    except WrongProperty as error:
        raise located(path, pairs, error) from None


def read_bootstrap(path: Path) -> tuple[str | None, str | None]:
    """Return bootstrap.servers and bootstrap.controllers of a file (KIP-919), None for neither.

    To be asked only if a command names no address itself. Raises InvalidValue if both are there.
    """
    pairs = _read(path)
    names = ("bootstrap.servers", "bootstrap.controllers")
    servers, controllers = (pairs.get(name, "").strip() or None for name in names)
    if servers and controllers:
        advice = "leave one out, or name an address on the command line"
        error = WrongProperty(names[1], f"{names[1]} and {names[0]} are both there: {advice}")
        raise located(path, pairs, error)
    return servers, controllers


def security(pairs: Mapping[str, str]) -> Security:
    """Read properties, ignoring those that are not about security. Raises WrongProperty."""
    # Every command imports this module, and few read properties.
    from kwire.net.sasl_properties import SASL_IGNORED, SASL_KNOWN, read_credentials
    from kwire.net.tls_properties import TLS_IGNORED, TLS_KNOWN, read_client_tls

    known = TLS_KNOWN | TLS_IGNORED | SASL_KNOWN | SASL_IGNORED
    for name in pairs:
        if name.startswith(("sasl.", "ssl.", "kwire.")) and name not in known:
            raise WrongProperty(name, f"{name} is not supported: leave it out")
    protocol = pairs.get("security.protocol", PROTOCOLS[0]).upper()
    if protocol not in PROTOCOLS:
        reason = f"security.protocol is one of {', '.join(PROTOCOLS)}"
        raise WrongProperty("security.protocol", reason)
    with_sasl, with_tls = protocol.startswith("SASL_"), protocol.endswith("SSL")
    if "sasl.jaas.config" in pairs and not with_sasl:
        reason = "sasl.jaas.config needs security.protocol=SASL_PLAINTEXT or SASL_SSL"
        raise WrongProperty("sasl.jaas.config", reason)
    return Security(
        tls=read_client_tls(pairs) if with_tls else None,
        sasl=read_credentials(pairs) if with_sasl else None,
    )


def _read(path: Path) -> Properties:
    from kwire.text.properties import read_properties

    return read_properties(path)
