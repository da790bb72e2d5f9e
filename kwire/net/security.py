"""TLS and SASL towards a cluster's nodes, as in the properties of Kafka's own clients.

What a file for `--command-config` of Kafka's tools has about security is read here, too: PEM files
for TLS (KIP-651), PLAIN and SCRAM for SASL.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kwire.errors import InvalidValue
from kwire.net.pem import store_location
from kwire.net.sasl import Credentials, Mechanism
from kwire.net.tls import ClientTls
from kwire.text.properties import parse_properties
from kwire.text.untrusted import read_text

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

_KNOWN = {
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.endpoint.identification.algorithm",
}


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
    """Read a file of properties. Raises InvalidValue, which names properties and never a secret."""
    pairs = parse_properties(read_text(path, InvalidValue))
    try:
        return security(pairs)
    except InvalidValue as error:
        raise InvalidValue(f"{path}: {error}") from None


def security(pairs: Mapping[str, str]) -> Security:
    """Read properties, ignoring those that are not about security. Raises InvalidValue."""
    for name in sorted(pairs.keys() - _KNOWN):
        if name.startswith(("sasl.", "ssl.")):
            raise InvalidValue(f"{name} is not supported: leave it out")
    protocol = pairs.get("security.protocol", PROTOCOLS[0]).upper()
    if protocol not in PROTOCOLS:
        raise InvalidValue(f"security.protocol is one of {', '.join(PROTOCOLS)}")
    with_sasl, with_tls = protocol.startswith("SASL_"), protocol.endswith("SSL")
    if "sasl.jaas.config" in pairs and not with_sasl:
        raise InvalidValue("sasl.jaas.config needs security.protocol=SASL_PLAINTEXT or SASL_SSL")
    return Security(
        tls=_tls(pairs) if with_tls else None, sasl=_credentials(pairs) if with_sasl else None
    )


def _tls(pairs: Mapping[str, str]) -> ClientTls:
    return ClientTls(
        authorities=store_location(pairs, "truststore"),
        certificate=store_location(pairs, "keystore"),
        check_name=bool(pairs.get("ssl.endpoint.identification.algorithm", "https")),
    )


def _credentials(pairs: Mapping[str, str]) -> Credentials:
    mechanism = pairs.get("sasl.mechanism", "GSSAPI").upper()
    if mechanism not in set(Mechanism):
        known = ", ".join(Mechanism)
        raise InvalidValue(f"sasl.mechanism is {mechanism}, and must be one of {known}")
    options = _jaas_options(pairs.get("sasl.jaas.config", ""))
    if not options.get("username") or "password" not in options:
        raise InvalidValue(
            'sasl.jaas.config must be: MODULE required username="NAME" password="PASSWORD";'
        )
    return Credentials(
        mechanism=Mechanism(mechanism), username=options["username"], password=options["password"]
    )


def _jaas_options(text: str) -> dict[str, str]:
    """Return the options of a login module; values may be quoted, a semicolon ends them."""
    words = shlex.shlex(text, posix=True, punctuation_chars=";")
    words.whitespace_split = True
    words.commenters = ""
    try:
        pairs = (word.partition("=") for word in words)
        return {name: value for name, separator, value in pairs if separator}
    except ValueError:
        raise InvalidValue("sasl.jaas.config has a quotation mark without its other one") from None
