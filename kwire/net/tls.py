"""TLS of a listener towards its clients, and of a client towards a node.

Both are contexts of Python's ssl, made from PEM files as Kafka takes them (KIP-651).
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from kwire.errors import LocalError


class BadTls(LocalError):
    """A certificate or key that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTls:
    """TLS with clients.

    certificate: the listener's certificate chain. clients: authorities of the certificates that
    clients must have (mutual TLS); None to ask for none.
    """

    certificate: Path
    key: Path
    clients: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Return the context of a listener. Raises BadTls."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        _show(context, self.certificate, self.key)
        if self.clients is not None:
            _trust(context, self.clients)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTls:
    """TLS with a node.

    authorities: trusted signers of its certificate, None for those of the system. certificate,
    key: the client's own, for nodes that ask for one. name: the name that the node's certificate
    must be for, None for the host that is connected to. check_name: False accepts any name.
    """

    authorities: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    name: str | None = None
    check_name: bool = True

    def context(self) -> ssl.SSLContext:
        """Return the context of a client. Raises BadTls."""
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH)
        if self.authorities is not None:
            # Not create_default_context, which would trust the system's authorities besides those
            # given.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            _trust(context, self.authorities)
        context.check_hostname = self.check_name
        if self.certificate is not None:
            _show(context, self.certificate, self.key or self.certificate)
        return context


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


def _show(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    def ask() -> str:
        raise BadTls(f"the key {key} is encrypted: give a key file that is not")

    try:
        context.load_cert_chain(certificate, key, password=ask)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise BadTls(f"the key {key} is not that of the certificate {certificate}") from error
        raise BadTls(f"{certificate} and {key} hold no certificate and key in PEM") from error
    except OSError as error:
        raise BadTls(f"cannot read {_unreadable(certificate, key)}: {error.strerror}") from error


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
