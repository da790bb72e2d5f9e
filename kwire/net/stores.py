"""Keystores and truststores of Kafka's client properties: PEM (KIP-651) and PKCS12.

A store is read when a context is made from it, so that a renewed file takes effect then.
"""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.errors import LocalError
from kwire.extras import pip_line
from kwire.permissions import warn_if_readable

# Every command imports this module, and few have stores: what else they need is imported there.
if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates


class BadTls(LocalError):
    """A certificate or key that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsIdentity:
    """A private key and its certificate chain as PEM text. password: of the key, None if open."""

    pem: str = field(repr=False)
    password: str | None = field(repr=False)

    @property
    def certificates(self) -> str:
        """The chain alone."""
        from kwire.net.pem import CERTIFICATE, pem_blocks

        return "".join(str(block) for block in pem_blocks(self.pem) if block.label == CERTIFICATE)

    @property
    def key(self) -> str:
        """The private key alone."""
        from kwire.net.pem import CERTIFICATE, pem_blocks

        return "".join(str(block) for block in pem_blocks(self.pem) if block.label != CERTIFICATE)

    def load(self, context: ssl.SSLContext) -> None:
        """Load it into a context. Raises ssl.SSLError, and OSError if no file can be written."""
        import tempfile

        # ssl loads a private key from a file only. mkstemp lets nobody but this user read it.
        handle, name = tempfile.mkstemp(prefix="kwire-", suffix=".pem")
        try:
            with os.fdopen(handle, "w", encoding="ascii", errors="replace") as file:
                file.write(self.pem)
            # Without any password OpenSSL would ask for one on the terminal.
            context.load_cert_chain(name, password=self.password or "")
        finally:
            os.unlink(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsStore:
    """A keystore or a truststore.

    name: `keystore` or `truststore`, as properties call it. path: its file; text: its PEM, for a
    store that stands in the properties themselves. is_pkcs12: False for PEM. password: of a PKCS12
    file. key_password: of an encrypted private key in PEM.
    """

    name: str
    path: Path | None = None
    text: str | None = field(default=None, repr=False)
    is_pkcs12: bool = False
    password: str | None = field(default=None, repr=False)
    key_password: str | None = field(default=None, repr=False)

    def authorities(self) -> str:
        """Return the trusted certificates as PEM. Raises BadTls."""
        if not self.is_pkcs12:
            return self._pem()
        store = self._pkcs12()
        from cryptography.hazmat.primitives.serialization import Encoding

        certificates = [store.cert] if store.cert else []
        certificates += store.additional_certs
        if not certificates:
            raise BadTls(f"{self} holds no certificate")
        return "".join(
            entry.certificate.public_bytes(Encoding.PEM).decode() for entry in certificates
        )

    def identity(self) -> TlsIdentity:
        """Return the private key and its chain. Raises BadTls."""
        if not self.is_pkcs12:
            if self.path is not None and self.key_password is None:
                warn_if_readable(self.path)
            return TlsIdentity(pem=self._pem(), password=self.key_password)
        store = self._pkcs12()
        import secrets

        from cryptography.hazmat.primitives.serialization import (
            BestAvailableEncryption,
            Encoding,
            PrivateFormat,
        )

        if store.key is None or store.cert is None:
            raise BadTls(f"{self} holds no private key with its certificate")
        # The key is never written to a disk as it is.
        password = secrets.token_hex(32)
        encryption = BestAvailableEncryption(password.encode())
        key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
        chain = [store.cert, *store.additional_certs]
        certificates = [entry.certificate.public_bytes(Encoding.PEM) for entry in chain]
        return TlsIdentity(pem=b"".join([key, *certificates]).decode(), password=password)

    def __str__(self) -> str:
        return f"ssl.{self.name}.location {self.path}" if self.path else f"ssl.{self.name}.*"

    def _pem(self) -> str:
        if self.text is not None:
            return self.text
        return self._bytes().decode("ascii", "replace")

    def _pkcs12(self) -> PKCS12KeyAndCertificates:
        try:
            from cryptography.exceptions import UnsupportedAlgorithm
            from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
        except ImportError as error:
            text = f"{self} is in PKCS12, which needs cryptography: {pip_line('security')}"
            raise BadTls(text) from error
        password = None if self.password is None else self.password.encode()
        try:
            return load_pkcs12(self._bytes(), password)
        except ValueError as error:
            if "password" in str(error).lower():
                advice = f"check ssl.{self.name}.password"
                raise BadTls(f"{self} does not open with its password: {advice}") from None
            raise BadTls(f"{self} holds no PKCS12 store that can be read") from None
        except UnsupportedAlgorithm as error:
            advice = "convert it with a newer keytool or openssl"
            raise BadTls(f"{self} is encrypted in a way that is obsolete: {advice}") from error

    def _bytes(self) -> bytes:
        assert self.path is not None, "a store is a file or a text"
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise BadTls(f"{self} cannot be read: {error.strerror}") from error
