"""SCRAM: credentials of the metadata, and delegation tokens (RFC 5802; Java: ScramSaslServer).

The client's side is in kwire/net/scram.py.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import new as new_hash
from hmac import compare_digest, digest
from typing import Protocol

from kwire.controller.authentication.exchanges import (
    Authenticated,
    AuthenticationFailed,
    LoginExchange,
    invalid_credentials,
)
from kwire.image.scram import ScramCredential
from kwire.net.scram_keys import LEAST_ITERATIONS

TOKEN_LIMIT = 8192
"""Bytes of the longest token of a client."""

NONCE_LENGTH = 32
"""Random bytes in a nonce of the server."""

_NAME = re.compile(r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+")
_NONCE = re.compile(r"[\x21-\x2b\x2d-\x7e]+")
_EXTENSION = re.compile(r"([A-Za-z]+)=([\x01-\x2b\x2d-\x7f]+)")
_TOKEN_EXTENSION = "tokenauth"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramLogin:
    """The credential of a name.

    credential: a made-up one, which no proof fits, if there is no such name. principal: None then.
    expires_at: of a delegation token, milliseconds since 1970.
    """

    credential: ScramCredential = field(repr=False)
    principal: str | None
    expires_at: int | None = None


class ScramLogins(Protocol):
    """Finds the credentials of users and of delegation tokens."""

    def user(self, mechanism: str, name: str) -> ScramLogin:
        """Return the login of a user."""
        ...

    def token(self, mechanism: str, id: str, now: int) -> ScramLogin:
        """Return the login of a delegation token. now: milliseconds since 1970."""
        ...


class ScramServerMechanism:
    """Proves that a client knows a password, and proves itself.

    name: SCRAM-SHA-256 or SCRAM-SHA-512. token_bytes: returns so many random bytes, for nonces.
    """

    def __init__(self, name: str, logins: ScramLogins, token_bytes: Callable[[int], bytes]) -> None:
        self._name = name
        self._hash = name.removeprefix("SCRAM-").replace("-", "").lower()
        self._logins = logins
        self._token_bytes = token_bytes

    def exchange(self, now: int) -> LoginExchange:
        """Authenticate by two tokens.

        1. The first names a user, or a delegation token with the extension `tokenauth=true`
           (KIP-48). It gets a salt and a number of iterations, even if there is no such user.
        2. The second proves the password for the channel and the nonce of both sides.
        3. The server proves that it knows the credential.
        """
        # 1.
        first = _ClientFirst.parse(self._name, (yield b""))
        if first.by_delegation_token:
            login = self._logins.token(self._name, first.username, now)
        else:
            login = self._logins.user(self._name, first.username)
        credential = login.credential
        if credential.iterations < LEAST_ITERATIONS:
            raise invalid_credentials(self._name)
        nonce = first.nonce + self._token_bytes(NONCE_LENGTH).hex()
        salt = b64encode(credential.salt).decode()
        challenge = f"r={nonce},s={salt},i={credential.iterations}"
        # 2.
        final = _ClientFinal.parse(self._name, (yield challenge.encode()))
        signed = ",".join((first.bare, challenge, final.without_proof)).encode()
        is_bound = final.channel == first.header and final.nonce == nonce
        if not self._is_proved(credential, signed, final.proof) or not is_bound:
            raise invalid_credentials(self._name)
        if login.principal is None:
            raise invalid_credentials(self._name)
        # 3.
        signature = digest(credential.server_key, signed, self._hash)
        return Authenticated(
            principal=login.principal,
            last=b"v=" + b64encode(signature),
            expires_at=login.expires_at,
            by_delegation_token=first.by_delegation_token,
        )

    def _is_proved(self, credential: ScramCredential, signed: bytes, proof: bytes) -> bool:
        signature = digest(credential.stored_key, signed, self._hash)
        if len(signature) != len(proof):
            return False
        key = bytes(a ^ b for a, b in zip(signature, proof, strict=True))
        return compare_digest(new_hash(self._hash, key).digest(), credential.stored_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClientFirst:
    """header: of GSS-API, which says that there is no channel binding. bare: what is signed."""

    header: bytes
    bare: str
    username: str
    nonce: str
    by_delegation_token: bool

    @classmethod
    def parse(cls, mechanism: str, token: bytes) -> _ClientFirst:
        """Read `n,[a=NAME],n=NAME,r=NONCE[,NAME=VALUE]...`. Raises AuthenticationFailed."""
        parts = token[:TOKEN_LIMIT].decode("utf-8", "replace").split(",")
        if len(token) > TOKEN_LIMIT or len(parts) < 4 or parts[0] != "n":
            raise _malformed(mechanism)
        acts_for = _value(mechanism, parts[1], "a", _NAME) if parts[1] else None
        name = _value(mechanism, parts[2], "n", _NAME)
        nonce = _value(mechanism, parts[3], "r", _NONCE)
        extensions = {}
        for part in parts[4:]:
            match = _EXTENSION.fullmatch(part)
            if match is None:
                raise _malformed(mechanism)
            extensions[match[1]] = match[2]
        username = name.replace("=2C", ",").replace("=3D", "=")
        if acts_for not in (None, username):
            raise AuthenticationFailed("A user may act for no other")
        return cls(
            header=f"n,{parts[1]},".encode(),
            bare=",".join(parts[2:]),
            username=username,
            nonce=nonce,
            by_delegation_token=extensions.get(_TOKEN_EXTENSION, "").lower() == "true",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClientFinal:
    channel: bytes
    nonce: str
    proof: bytes
    without_proof: str

    @classmethod
    def parse(cls, mechanism: str, token: bytes) -> _ClientFinal:
        """Read `c=BASE64,r=NONCE[,NAME=VALUE]...,p=BASE64`. Raises AuthenticationFailed."""
        text = token.decode("utf-8", "replace")
        without_proof, comma, last = text.rpartition(",")
        parts = without_proof.split(",")
        is_whole = len(parts) >= 2 and parts[0].startswith("c=") and last.startswith("p=")
        if len(token) > TOKEN_LIMIT or not comma or not is_whole:
            raise _malformed(mechanism)
        try:
            channel = b64decode(parts[0][2:], validate=True)
            proof = b64decode(last[2:], validate=True)
        except (Base64Error, ValueError):
            raise _malformed(mechanism) from None
        nonce = _value(mechanism, parts[1], "r", _NONCE)
        return cls(channel=channel, nonce=nonce, proof=proof, without_proof=without_proof)


def _value(mechanism: str, part: str, name: str, pattern: re.Pattern[str]) -> str:
    start, value = part[:2], part[2:]
    if start != f"{name}=" or not pattern.fullmatch(value):
        raise _malformed(mechanism)
    return value


def _malformed(mechanism: str) -> AuthenticationFailed:
    return AuthenticationFailed(f"A token is not what {mechanism} prescribes")
