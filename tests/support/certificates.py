"""Certificates for the tests of TLS, written as PEM files."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)


@dataclass(frozen=True, slots=True)
class Pem:
    """A certificate and its key, in one file each."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority of its own, whose files are in `folder`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._authority = trustme.CA()
        self._folder = folder
        self._name = name
        self.path = folder / f"{name}.pem"
        self._authority.cert_pem.write_to_path(str(self.path))

    def issue(self, *hosts: str) -> Pem:
        """A certificate for these hosts; its key in PKCS 8, as Kafka wants it."""
        issued = self._authority.issue_cert(*hosts)
        stem = f"{self._name}-{hosts[0]}"
        pem = Pem(self._folder / f"{stem}.pem", self._folder / f"{stem}.key")
        pem.certificate.write_bytes(b"".join(one.bytes() for one in issued.cert_chain_pems))
        key = load_pem_private_key(issued.private_key_pem.bytes(), None)
        pem.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return pem

    def server(self, *hosts: str, clients: Authority | None = None) -> ssl.SSLContext:
        """Return the context of a server with this certificate."""
        pem = self.issue(*hosts)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(pem.certificate, pem.key)
        if clients is not None:
            context.load_verify_locations(clients.path)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def client(self, pem: Pem | None = None) -> ssl.SSLContext:
        """Return the context of a client that trusts this authority, with its own certificate."""
        context = ssl.create_default_context(cafile=self.path)
        if pem is not None:
            context.load_cert_chain(pem.certificate, pem.key)
        return context
