"""TLS of a listener towards its clients, and of a client towards a node.

Both are contexts of Python's ssl, made from PEM files as Kafka takes them (KIP-651), or from stores
of Kafka's client properties.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kwire.net.stores import BadTls, TlsStore
from kwire.permissions import open_private, warn_if_readable

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTls:
    """TLS with clients.

    certificate: the listener's certificate chain. clients: authorities of the certificates that
    clients must have (mutual TLS); None to ask for none. keys_out: a file that gets the secrets of
    every connection, for whoever decrypts captured packets.
    """

    certificate: Path
    key: Path
    clients: Path | None = None
    keys_out: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Return the context of a listener. Raises BadTls."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        _show(context, self.certificate, self.key)
        if self.clients is not None:
            _trust(context, self.clients)
            context.verify_mode = ssl.CERT_REQUIRED
        _write_keys(context, self.keys_out)
        return context


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTls:
    """TLS with a node.

    authorities: trusted signers of its certificate, None for those of the system. certificate,
    key: the client's own, for nodes that ask for one. name: the name that the node's certificate
    must be for, None for the host that is connected to. check_name: False accepts any name.
    truststore, keystore: stores of Kafka's properties in place of the files above. protocols,
    ciphers: what ssl.enabled.protocols and ssl.cipher.suites allow; empty for Python's choice.
    keys_out: as of ServerTls.
    """

    authorities: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    name: str | None = None
    check_name: bool = True
    truststore: TlsStore | None = None
    keystore: TlsStore | None = None
    protocols: tuple[str, ...] = ()
    ciphers: tuple[str, ...] = ()
    keys_out: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Return the context of a client. Raises BadTls."""
        if self.authorities is None and self.truststore is None:
            context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH)
        else:
            # Not create_default_context, which would trust the system's authorities besides those
            # given.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self.authorities is not None:
            _trust(context, self.authorities)
        if self.truststore is not None:
            _trust_store(context, self.truststore)
        context.check_hostname = self.check_name
        if self.certificate is not None:
            _show(context, self.certificate, self.key or self.certificate)
        if self.keystore is not None:
            _show_store(context, self.keystore)
        restrict(context, self.protocols, self.ciphers)
        _write_keys(context, self.keys_out)
        return context


VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
"""The versions of TLS by Java's names; older ones are broken (RFC 8996)."""


def restrict(context: ssl.SSLContext, protocols: Sequence[str], ciphers: Sequence[str]) -> None:
    """Allow only these versions and cipher suites, in Java's names. Raises BadTls.

    Python cannot choose among the three suites of TLS 1.3: if one is listed, all are allowed; if
    none is, TLS 1.3 is not offered.
    """
    versions = {VERSIONS[name] for name in protocols} or set(VERSIONS.values())
    if ciphers:
        older = [name for name in ciphers if "_WITH_" in name]
        if len(older) == len(ciphers):
            versions.discard(ssl.TLSVersion.TLSv1_3)
        if not older:
            versions.discard(ssl.TLSVersion.TLSv1_2)
        if not versions:
            raise BadTls("ssl.cipher.suites has none for a version in ssl.enabled.protocols")
        if older:
            _set_ciphers(context, older)
    context.minimum_version, context.maximum_version = min(versions), max(versions)


def _set_ciphers(context: ssl.SSLContext, suites: Sequence[str]) -> None:
    try:
        context.set_ciphers(":".join(map(openssl_name, suites)))
    except ssl.SSLError:
        names = ", ".join(suites)
        raise BadTls(f"ssl.cipher.suites has none that OpenSSL knows: {names}") from None


def openssl_name(suite: str) -> str:
    """Return OpenSSL's name of a cipher suite of TLS 1.2: ECDHE-RSA-AES128-GCM-SHA256."""
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = cipher.replace("AES_", "AES").replace("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305")
    cipher = cipher.replace("_CBC_", "_")
    parts = [cipher] if exchange == "RSA" else [exchange, cipher]
    return "-".join(parts).replace("_", "-")


def handshake_failure(error: OSError) -> str:
    """Return the cause of a failed handshake as a phrase that follows the name of the peer."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"shows a certificate that is not accepted: {error.verify_message.rstrip('.')}"
    if isinstance(error, ssl.SSLError) and error.reason:
        reason = error.reason.lower().replace("_", " ")
        return _SENTENCES.get(error.reason, f"breaks the TLS handshake off: {reason}")
    if isinstance(error, ConnectionAbortedError):
        return "does not go on with the TLS handshake"
    return f"ends the TLS handshake: {error.strerror or 'it closed'}"


_DISTRUST = "does not trust the certificate it is shown"
_NO_CERTIFICATE = "shows no certificate, which is required"
_SENTENCES = {
    "WRONG_VERSION_NUMBER": "does not speak TLS",
    "HTTP_REQUEST": "does not speak TLS, but HTTP",
    "RECORD_LAYER_FAILURE": "does not speak TLS",
    "PACKET_LENGTH_TOO_LONG": "does not speak TLS",
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": _NO_CERTIFICATE,
    "TLSV1_ALERT_UNKNOWN_CA": _DISTRUST,
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": _DISTRUST,
    "SSLV3_ALERT_BAD_CERTIFICATE": _DISTRUST,
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "requires a certificate, and got none",
    "TLSV1_ALERT_PROTOCOL_VERSION": "has no version of TLS in common",
    "UNSUPPORTED_PROTOCOL": "has no version of TLS in common",
    "NO_SHARED_CIPHER": "has no cipher in common",
}
"""Sentences for the frequent ones of OpenSSL's reasons."""


def _write_keys(context: ssl.SSLContext, path: Path | None) -> None:
    """Have the secrets of every connection appended to a private file. Raises BadTls."""
    if path is None:
        return
    try:
        open_private(path, append=True).close()
        context.keylog_filename = str(path)
    except OSError as error:
        raise BadTls(f"cannot write the keys of TLS to {path}: {error.strerror}") from error
    _warn_of_keys(path)


@cache
def _warn_of_keys(path: Path) -> None:
    logger.warning(
        "the secrets of all TLS connections are written to %s: whoever reads it can decrypt"
        " what was captured of them; remove it when you have looked",
        path,
    )


def _show(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    def ask() -> str:
        raise BadTls(
            f"the key {key} is encrypted: give a key file that is not, or its password as"
            " ssl.key.password of client properties"
        )

    warn_if_readable(key)
    try:
        context.load_cert_chain(certificate, key, password=ask)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise BadTls(f"the key {key} is not that of the certificate {certificate}") from error
        raise BadTls(f"{certificate} and {key} hold no certificate and key in PEM") from error
    except OSError as error:
        raise BadTls(f"cannot read {_unreadable(certificate, key)}: {error.strerror}") from error


def _trust_store(context: ssl.SSLContext, store: TlsStore) -> None:
    try:
        context.load_verify_locations(cadata=store.authorities())
    except (ssl.SSLError, ValueError) as error:
        raise BadTls(f"{store} holds no certificate in PEM") from error


def _show_store(context: ssl.SSLContext, store: TlsStore) -> None:
    try:
        store.identity().load(context)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise BadTls(f"{store} holds a key that is not that of its certificate") from error
        if store.is_pkcs12 or "ENCRYPTED" not in store.identity().pem:
            raise BadTls(f"{store} holds no certificate and key that can be used") from error
        advice = "is wrong" if store.key_password else "is missing"
        raise BadTls(f"{store} holds an encrypted key, and ssl.key.password {advice}") from error
    except OSError as error:
        raise BadTls(f"{store} cannot be used: {error.strerror}") from error


def _trust(context: ssl.SSLContext, authorities: Path) -> None:
    try:
        context.load_verify_locations(authorities)
    except ssl.SSLError as error:
        raise BadTls(f"{authorities} holds no certificate in PEM") from error
    except OSError as error:
        raise BadTls(f"cannot read {authorities}: {error.strerror}") from error


def _unreadable(*paths: Path) -> str:
    """Return the first file that cannot be read; ssl does not say which."""
    return str(next((path for path in paths if not path.is_file()), paths[0]))
