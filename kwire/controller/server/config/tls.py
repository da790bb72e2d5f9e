"""Keys and trusted certificates of a listener with SSL: PEM in files or properties (KIP-651)."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from tempfile import NamedTemporaryFile

from kwire.controller.authentication.principal_mapping import NAME as PRINCIPAL_RULES
from kwire.controller.authentication.principal_mapping import PrincipalMapper
from kwire.errors import InvalidValue
from kwire.net.distinguished_name import name_text
from kwire.net.pem import CERTIFICATE, pem_blocks, read_store
from kwire.net.x509 import Certificate

STORE_LOCATIONS = ("ssl.keystore.location", "ssl.truststore.location")
"""The properties that name files."""

_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsConfig:
    """Stores as PEM text.

    keystore: private key and certificate chain. truststore: certificates of authorities, for both
    sides; None for the system's. verify_host: True to compare a server's certificate with its host
    name.
    """

    keystore: str = field(repr=False)
    key_password: str | None = field(repr=False)
    truststore: str | None
    client_auth: str
    principals: PrincipalMapper = PrincipalMapper()
    verify_host: bool

    def server_context(self) -> ssl.SSLContext:
        """Return the context of a listener."""
        context = self._context(ssl.Purpose.CLIENT_AUTH)
        context.verify_mode = _CLIENT_AUTH[self.client_auth]
        return context

    def client_context(self) -> ssl.SSLContext:
        """Return the context of requests to other controllers."""
        context = self._context(ssl.Purpose.SERVER_AUTH)
        context.check_hostname = self.verify_host
        return context

    def _context(self, purpose: ssl.Purpose) -> ssl.SSLContext:
        """Return a context with the stores loaded. InvalidValue if ssl cannot use them."""
        # ssl loads a private key from a file only. This one is readable by its user alone, and
        # removed at the end of the block.
        with NamedTemporaryFile("w", prefix="kwire-", suffix=".pem") as file:
            file.write(self.keystore)
            file.flush()
            try:
                context = ssl.create_default_context(purpose, cadata=self.truststore)
                context.load_cert_chain(file.name, password=self.key_password or "")
            # ValueError: letters that are not ASCII, or a password of more than 1024 bytes.
            except (ssl.SSLError, ValueError) as error:
                raise InvalidValue(f"the stores of ssl.* cannot be used: {error}") from None
        return context


def check_same_owner(old: str, new: str) -> None:
    """Compare the first certificates of two key stores in PEM (Java: SslFactory).

    1. The new one has the old one's subject.
    2. It is for every host that the old one is for.

    Raises InvalidValue: clients that know the listener by its name would not know it any more.
    """
    before, after = _certificate(old), _certificate(new)
    # 1.
    if _owner(before) != _owner(after):
        raise InvalidValue("the new certificate has another subject")
    # 2.
    if not before.hosts <= after.hosts:
        raise InvalidValue("the new certificate is not for all hosts of the old one")


def _certificate(keystore: str) -> Certificate:
    try:
        own = next(block for block in pem_blocks(keystore) if block.label == CERTIFICATE)
        return Certificate.read(own.der)
    except (StopIteration, ValueError):
        raise InvalidValue("the stores of ssl.* have no certificate") from None


def _owner(certificate: Certificate) -> str:
    """Return a subject as it is compared: without regard to case and spaces (RFC 5280, 7.1)."""
    return " ".join(name_text(certificate.subject.data).casefold().split())


def tls_config(pairs: Mapping[str, str], listener: str, *, with_sasl: bool = False) -> TlsConfig:
    """Read `ssl.*`, overridden by the listener's own `listener.name.<name>.ssl.*`.

    with_sasl: True if clients have to log in besides. A general ssl.client.auth is then not for
    this listener, as in Kafka.

    Raises InvalidValue if there is no key, or if a store is not PEM.
    """
    prefix = f"listener.name.{listener.lower()}."
    own = {name.removeprefix(prefix): pairs[name] for name in pairs if name.startswith(prefix)}
    pairs = {**pairs, **own}
    keystore = read_store(pairs, "keystore")
    if keystore is None:
        raise InvalidValue(f"listener {listener} with SSL needs ssl.keystore.location, a PEM file")
    auth = (own if with_sasl else pairs).get("ssl.client.auth", "none").lower()
    if auth not in _CLIENT_AUTH:
        raise InvalidValue(f"ssl.client.auth is {auth!r}: none, requested and required are known")
    return TlsConfig(
        keystore=keystore,
        key_password=pairs.get("ssl.key.password"),
        truststore=read_store(pairs, "truststore"),
        client_auth=auth,
        principals=PrincipalMapper.of(pairs.get(PRINCIPAL_RULES, "")),
        verify_host=bool(pairs.get("ssl.endpoint.identification.algorithm", "https")),
    )
