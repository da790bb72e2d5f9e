"""Certificates of an authority that a test makes up, as values of server.properties."""

import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

CONTROLLERS = {"listener.security.protocol.map": "CONTROLLER:SSL,PLAINTEXT:PLAINTEXT"}


def stores(
    authority: trustme.CA, *names: str, password: str | None = None, common_name: str | None = None
) -> dict[str, str]:
    """A key, its certificate for hosts of those names and what it trusts (KIP-651).

    Each in one line, with \\n where a line of PEM ends. common_name: of the certificate's subject.
    """
    certificate = authority.issue_cert(*names, common_name=common_name)
    key = load_pem_private_key(certificate.private_key_pem.bytes(), None)
    locked: KeySerializationEncryption = NoEncryption()
    if password is not None:
        locked = BestAvailableEncryption(password.encode())
    pem = {
        "ssl.keystore.key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked),
        "ssl.keystore.certificate.chain": b"".join(
            one.bytes() for one in certificate.cert_chain_pems
        ),
        "ssl.truststore.certificates": authority.cert_pem.bytes(),
    }
    return {
        "ssl.keystore.type": "PEM",
        "ssl.truststore.type": "PEM",
        **{name: text.decode().replace("\n", "\\n") for name, text in pem.items()},
        **({"ssl.key.password": password} if password is not None else {}),
    }
