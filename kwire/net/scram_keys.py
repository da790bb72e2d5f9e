"""The keys that a server keeps of a SCRAM password (RFC 5802, 3; Java: ScramFormatter)."""

from __future__ import annotations

from hashlib import new as new_hash
from hashlib import pbkdf2_hmac
from hmac import digest
from typing import NamedTuple

LEAST_ITERATIONS, MOST_ITERATIONS = 4096, 16384
"""The limits of controllers (org.apache.kafka.common.security.scram.internals.ScramMechanism)."""

HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
"""The names of the mechanisms' hashes in Python."""


class ScramKeys(NamedTuple):
    """stored_key verifies a client's proof; server_key proves the server."""

    stored_key: bytes
    server_key: bytes


def salted_password(mechanism: str, password: bytes, salt: bytes, iterations: int) -> bytes:
    """Return a password as clients send it to be stored: Kafka takes it without SASLprep."""
    return pbkdf2_hmac(HASHES[mechanism], password, salt, iterations)


def scram_keys(mechanism: str, salted: bytes) -> ScramKeys:
    """Return the keys of a salted password. mechanism: SCRAM-SHA-256 or SCRAM-SHA-512."""
    name = HASHES[mechanism]
    client_key = digest(salted, b"Client Key", name)
    return ScramKeys(new_hash(name, client_key).digest(), digest(salted, b"Server Key", name))
